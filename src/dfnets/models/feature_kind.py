"""What kind of features a graph has, told without labels: it decides how they are scaled."""

from __future__ import annotations

from enum import IntEnum

import numpy as np
import scipy.sparse as sp

# Words of a document are under a twentieth of the vocabulary; a description by many columns at once is well above.
MIN_DENSITY = 0.075
# From here on an entry that is zero says no more than another one.
MEASURED_DENSITY = 0.5


class FeatureKind(IntEnum):
    """``WORDS``: few entries of a row are not zero. ``PROFILE``: many are, all of them counts, shares or marks.
    ``MEASURED``: most are, with real values or signs, as measurements and embeddings have them.
    """

    WORDS = 1
    PROFILE = 2
    MEASURED = 3


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
