import numpy as np
import pytest

from dfnets.datasets import planetoid
from dfnets.datasets.pickles import RefusedPickle

from .conftest import planetoid_files, python2_pickle


@pytest.mark.parametrize(("name", "classes"), [("cora", 7), ("citeseer", 6)])
def test_the_published_arrays_come_out(shared, name, classes):
    """Citeseer's test nodes have gaps; repeated neighbours and self-loops must go."""
    published = shared(name)
    files = planetoid_files(published, name, classes)
    arrays = planetoid.citation_network(files.__getitem__, name)
    for key, array in arrays.items():
        np.testing.assert_array_equal(array, published[key], err_msg=key)
        assert array.dtype == published[key].dtype


def test_nell(shared, nell_files):
    published = shared("nell")
    arrays = planetoid.nell(nell_files.__getitem__)
    assert len(arrays["val_known"]) == 0
    np.testing.assert_array_equal(arrays["labels"], np.where(published["label_source"] == 1, published["labels"], -1))
    for key in arrays.keys() - {"val_known", "labels"}:
        np.testing.assert_array_equal(arrays[key], published[key], err_msg=key)


def test_an_edge_in_one_list_only_is_an_edge():
    arrays = planetoid.adjacency_arrays(np.array([0, 0, 2, 2]), np.array([1, 1, 2, 0]), 3)
    assert arrays["adj_indptr"].tolist() == [0, 2, 3, 4]
    assert arrays["adj_indices"].tolist() == [1, 2, 0, 0]


def test_a_file_of_another_kind_is_refused(cora_files):
    class Evil:
        def __reduce__(self):
            return print, ("ran",)

    files = cora_files | {"ind.cora.graph": python2_pickle(Evil())}
    with pytest.raises(RefusedPickle, match=r"ind\.cora\.graph is refused"):
        planetoid.citation_network(files.__getitem__, "cora")
