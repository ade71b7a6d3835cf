"""What kind of features a graph has, told without labels: it decides how they are scaled."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import scipy.sparse as sp

from dfnets.datasets.features import Scaling

# Words of a document are under a twentieth of the vocabulary; a description by many columns at once is well above.
MIN_DENSITY = 0.075
# From here on an entry that is zero says no more than another one.
MEASURED_DENSITY = 0.5
# Rows that tell the kind of features that are not read as a whole.
SAMPLE = 10_000


class FeatureKind(IntEnum):
    """``WORDS``: few entries of a row are not zero. ``PROFILE``: many are, all of them counts, shares or marks.
    ``MEASURED``: most are, with real values or signs, as measurements and embeddings have them.
    """

    WORDS = 1
    PROFILE = 2
    MEASURED = 3

    @property
    def scaling(self) -> Scaling:
        """How rows of such features are scaled: columns of different scale are standardised instead."""
        return "none" if self is FeatureKind.MEASURED else "unit"


def feature_kind(features: np.ndarray | sp.csr_array) -> FeatureKind:
    """The kind of (n, f) features.

    >>> feature_kind(np.eye(50)).name, feature_kind(np.ones((4, 4))).name, feature_kind(np.full((4, 4), -0.5)).name
    ('WORDS', 'PROFILE', 'MEASURED')
    """
    values = np.asarray(features.data if sp.issparse(features) else features)
    density = np.count_nonzero(values) / max(1, int(np.prod(features.shape)))
    if density < MIN_DENSITY:
        return FeatureKind.WORDS
    marks = bool(np.isin(values, (0, 1)).all())
    signed = bool((values < 0).any())
    return FeatureKind.MEASURED if signed or (density >= MEASURED_DENSITY and not marks) else FeatureKind.PROFILE


def sampled_kind(features: np.ndarray | sp.csr_array) -> FeatureKind:
    """The kind of features that may be larger than memory, from rows that are spread evenly over them.

    >>> sampled_kind(np.full((30_000, 2), -0.5)).name
    'MEASURED'
    """
    n = features.shape[0]
    return feature_kind(features[np.linspace(0, n - 1, min(n, SAMPLE)).astype(np.int64)])
