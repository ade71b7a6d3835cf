from __future__ import annotations

import numpy as np
import pytest
import scipy.sparse as sp

from dfnets.models.feature_kind import FeatureKind, feature_kind, sampled_kind


def marks(share: float) -> np.ndarray:
    """(100, 100) of which a share is 1."""
    values = np.zeros(10_000)
    values[: round(share * 10_000)] = 1.0
    return np.random.default_rng(0).permutation(values).reshape(100, 100)


@pytest.mark.parametrize(
    ("features", "kind"),
    [
        (marks(0.07), FeatureKind.WORDS),
        (marks(0.08), FeatureKind.PROFILE),
        (marks(0.9), FeatureKind.PROFILE),
        (0.3 * marks(0.45), FeatureKind.PROFILE),
        (0.3 * marks(0.55), FeatureKind.MEASURED),
        (-marks(0.2), FeatureKind.MEASURED),
        (-marks(0.05), FeatureKind.WORDS),
        (np.zeros((3, 4)), FeatureKind.WORDS),
    ],
)
def test_kinds_of_dense_and_sparse_features(features: np.ndarray, kind: FeatureKind) -> None:
    assert feature_kind(features) is kind
    assert feature_kind(sp.csr_array(features)) is kind


def test_the_kind_of_many_rows_is_that_of_a_few() -> None:
    rows = np.tile(marks(0.08), (300, 1))
    assert sampled_kind(rows) is sampled_kind(sp.csr_array(rows)) is FeatureKind.PROFILE
    assert [kind.scaling for kind in FeatureKind] == ["unit", "unit", "none"]
