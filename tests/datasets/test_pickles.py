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


def array_pickle(code: bytes, state: bytes, content: bytes, shape: bytes = b"K\x01\x85") -> bytes:
    """An array as Python 2 wrote it: its data type by name and state, its shape and its bytes."""
    dtype = b"cnumpy\ndtype\n" + b"U" + bytes([len(code)]) + code + b"K\x00K\x01\x87R" + state + b"b"
    empty = b"cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R"
    return b"\x80\x02" + empty + b"(K\x01" + shape + dtype + b"\x89U" + bytes([len(content)]) + content + b"tb."


PLAIN = b"(K\x03U\x01<NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK\x00t"
OBJECTS = b"(K\x03U\x01|NNNJ\xff\xff\xff\xffJ\xff\xff\xff\xffK?t"


def test_bytes_never_become_pointers():
    """With Python's own reader and an allow-list of these names, this file makes the process follow its bytes."""
    np.testing.assert_array_equal(loads(array_pickle(b"i8", PLAIN, b"\x07" + bytes(7)), "x"), [7])
    pointer = b"AAAAAAAA"
    for crafted in (
        array_pickle(b"O8", OBJECTS, pointer),
        array_pickle(b"i8", OBJECTS, pointer),  # the flags of objects set on numbers
        array_pickle(b"V8", PLAIN, pointer),
        array_pickle(b"M8", PLAIN, pointer),
    ):
        with pytest.raises(RefusedPickle, match=r"x is refused: it (calls dtype|describes an array of something else)"):
            loads(crafted, "x")


@pytest.mark.parametrize(
    "crafted",
    [
        array_pickle(b"i8", PLAIN, b"7654321"),  # a byte too few
        array_pickle(b"i8", PLAIN, bytes(8), shape=b"K\x02\x85"),
        array_pickle(b"i8", PLAIN, bytes(8), shape=b"J\xff\xff\xff\xff\x85"),
        b"\x80\x02cnumpy\ndtype\n.",  # a class, not a value
        b"\x80\x02cnumpy.core.multiarray\n_reconstruct\ncnumpy\nndarray\nK\x00\x85U\x01b\x87R.",  # never built
        b"\x80\x02](K\x01K\x02",  # no end
        b"\x80\x02a.",
        b"\x80\x02]}b.",  # the state of a list
        b"\x80\x02}]K\x01s.",  # a list as a key
        b"\x80\x02h\x05.",  # what was never put into the memo
        b"\x80\x02(\x85.",
    ],
)
def test_nonsense_is_refused(crafted):
    with pytest.raises(RefusedPickle, match="x is refused"):
        loads(crafted, "x")


def test_random_damage_never_escapes():
    """Single bytes changed anywhere: the same value, another value of the same kinds, or a refusal."""
    rng = np.random.default_rng(0)
    whole = python2_pickle(sp.csr_matrix(np.eye(4)))
    for _ in range(2000):
        damaged = bytearray(whole)
        damaged[rng.integers(len(damaged))] = rng.integers(256)
        try:
            value = loads(bytes(damaged), "x")
        except RefusedPickle:
            continue
        assert isinstance(value, sp.csr_array | np.ndarray | dict | list | tuple | int | float | str | bytes | None)
        if isinstance(value, sp.csr_array):
            value.check_format(full_check=True)
