import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from sklearn.preprocessing import normalize

from dfnets.datasets.features import normalise

# In thousandths: scikit-learn takes a norm below 1e-15 for zero, and we do not.
matrices = hnp.arrays(
    np.float64,
    hnp.array_shapes(min_dims=2, max_dims=2, max_side=6),
    elements=st.integers(-(10**6), 10**6).map(lambda value: value / 1000),
)


@settings(deadline=None, max_examples=40)
@given(matrices, st.sampled_from([("row", "l1"), ("unit", "l2")]))
def test_against_scikit_learn(features, how):
    expected = normalize(features, norm=how[1])
    np.testing.assert_allclose(normalise(features, how[0]), expected, rtol=1e-12, atol=1e-300)
    sparse = normalise(sp.csr_array(features), how[0])
    assert isinstance(sparse, sp.csr_array)
    np.testing.assert_allclose(sparse.toarray(), expected, rtol=1e-12, atol=1e-300)


@pytest.mark.parametrize("how", ["row", "unit"])
@pytest.mark.parametrize("kind", [np.asarray, sp.csr_array])
def test_zero_rows_stay_and_single_precision_is_kept(how, kind):
    features = np.array([[0, 0], [3e-30, 4e-30]], dtype=np.float32)
    scaled = normalise(kind(features), how)
    assert scaled.dtype == np.float32
    dense = scaled.toarray() if sp.issparse(scaled) else scaled
    assert not dense[0].any()
    # The squares of these are zero in single precision.
    np.testing.assert_allclose(dense[1], [3 / 7, 4 / 7] if how == "row" else [0.6, 0.8], rtol=1e-6)


def test_none_is_the_same_object_and_others_are_refused():
    features = np.ones((2, 2))
    assert normalise(features, "none") is features
    np.testing.assert_array_equal(normalise(np.ones((1, 2), dtype=int), "row"), [[0.5, 0.5]])
    with pytest.raises(ValueError, match="how='max' is not one of 'row', 'unit', 'none'"):
        normalise(features, "max")
