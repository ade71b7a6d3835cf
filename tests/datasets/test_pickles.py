import os
import pickle
from collections import defaultdict

import numpy as np
import pytest
import scipy.sparse as sp

from dfnets.datasets.pickles import RefusedPickle, loads

from .conftest import python2_pickle


class Command:
    """Unpickled by the standard library, it runs a command."""

    def __init__(self, command):
        self.command = command

    def __reduce__(self):
        return os.system, (self.command,)


@pytest.mark.parametrize("protocol", range(pickle.HIGHEST_PROTOCOL + 1))
def test_a_crafted_pickle_does_not_run(tmp_path, protocol):
    trace = tmp_path / "ran"
    crafted = pickle.dumps({"x": [1, Command(f"touch '{trace}'")]}, protocol)
    with pytest.raises(RefusedPickle, match=r"ind\.cora\.x is refused: it asks for (posix|nt)\.system"):
        loads(crafted, "ind.cora.x")
    assert not trace.exists()
    # The same bytes do run where nothing stops them: the test is of the reader, not of a dud.
    pickle.loads(crafted)
    assert trace.exists()


@pytest.mark.parametrize(
    "crafted",
    [
        b"cbuiltins\neval\n(S'1+1'\ntR.",
        b"cbuiltins\ngetattr\n(cnumpy\nndarray\nS'tofile'\ntR.",
        b"cnumpy\nload\n(S'file'\ntR.",
        b"cscipy.sparse\nload_npz\n(S'file'\ntR.",
        b"(S'true'\nios\nsystem\n.",
        b"\x80\x04\x8c\x0anumpy.core\x8c\x13multiarray.fromfile\x93.",
    ],
    ids=["eval", "getattr", "numpy.load", "scipy.load_npz", "inst", "dotted"],
)
def test_nothing_but_the_allow_list(crafted):
    with pytest.raises(RefusedPickle, match="which no dataset needs"):
        loads(crafted, "file")


@pytest.mark.parametrize("dumps", [python2_pickle, pickle.dumps])
def test_what_planetoid_needs_is_read(dumps):
    np.testing.assert_array_equal(loads(dumps(np.arange(6).reshape(2, 3)), "y"), [[0, 1, 2], [3, 4, 5]])
    np.testing.assert_array_equal(loads(dumps(sp.csr_matrix(np.eye(3))), "x").toarray(), np.eye(3))
    neighbours = defaultdict(list, {0: [1], 1: [0, 0]})
    assert loads(dumps(neighbours), "graph") == neighbours


def test_python_2_strings_are_bytes():
    # {'a': array([1, 255], dtype=uint8)} as Python 2 wrote it: the array's bytes are a str.
    written = (
        b"\x80\x02}q\x00U\x01aq\x01cnumpy.core.multiarray\n_reconstruct\nq\x02cnumpy\nndarray\nq\x03K\x00\x85U\x01b\x87R"
        b"(K\x01K\x02\x85cnumpy\ndtype\nU\x02u1K\x00K\x01\x87R(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00tb"
        b"\x89U\x02\x01\xfftbs."
    )
    np.testing.assert_array_equal(loads(written, "file")["a"], np.array([1, 255], dtype=np.uint8))


def test_a_damaged_pickle_is_an_error():
    with pytest.raises((pickle.UnpicklingError, EOFError)):
        loads(pickle.dumps(np.arange(100))[:-20], "file")
