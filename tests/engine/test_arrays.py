"""NumPy arrays at the door: what is refused, and in which words."""

from __future__ import annotations

import numpy as np
import pytest
from conftest import path

from dfnets import Graph, Shift, engine

SHIFT = Shift(path())
X = np.arange(6.0).reshape(3, 2)


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({"x": X.astype(int)}, "x is of type int64"),
        ({"x": X.astype(np.float16)}, "x is of type float16"),
        ({"x": X, "y": X.astype(np.float32)}, "y is of type float32"),
        ({"x": X, "y": [1.0, 2.0, 3.0]}, "y is of type list"),
        ({"x": X[:2]}, r"x has shape \(2, 2\); the graph has 3 nodes"),
        ({"x": X, "z": X[:, :1]}, r"z has shape \(3, 1\)"),
        ({"x": X[None]}, r"x has shape \(1, 3, 2\)"),
        ({"x": X, "out": X}, "out shares memory with x"),
        ({"x": X, "backend": "cuda"}, "backend='cuda' cannot run on 'cpu' here"),
        ({"x": X, "backend": "abacus"}, "backend='abacus'"),
    ],
)
def test_what_step_refuses(arguments, message):
    with pytest.raises(ValueError, match=message):
        engine.step(SHIFT, **arguments)


def test_what_is_no_array():
    with pytest.raises(TypeError, match="NumPy array or a torch tensor, not list"):
        engine.step(SHIFT, [1.0, 2.0, 3.0])


def test_horner_refuses_signals_of_two_shapes_and_no_coefficients():
    with pytest.raises(ValueError, match="Y has shape"):
        engine.horner(SHIFT, X, X[:, 0], [1.0], [1.0])
    with pytest.raises(ValueError, match="phi is empty"):
        engine.horner(SHIFT, X, X, [], [1.0])


def test_horner_takes_the_wider_of_two_dtypes_and_no_feedback_at_all():
    L = SHIFT.tocsr().toarray()
    result = engine.horner(SHIFT, X.astype(np.float32), X, [1.0, 2.0], [0.5])
    assert result.dtype == np.float64
    np.testing.assert_allclose(result, X + 1.5 * L @ X)
    for Y, psi in ((None, None), (X, None), (X, []), (None, [1.0])):
        np.testing.assert_allclose(engine.horner(SHIFT, X, Y, [1.0, 2.0], psi), X + 2 * L @ X)


def test_an_empty_signal_has_an_empty_result():
    assert engine.step(SHIFT, X[:, :0]).shape == (3, 0)
    assert engine.horner(SHIFT, X[:, :0], X[:, :0], [1.0, 2.0], [0.5]).shape == (3, 0)


def test_the_input_is_left_alone():
    before = X.copy()
    engine.horner(SHIFT, X, X, [1.0, 2.0, 3.0], [0.5, 0.1])
    np.testing.assert_array_equal(X, before)


def test_step_never_writes_into_what_is_read_only(tmp_path):
    """A read-only memory map would crash the process, and bytes, which never change, would change."""
    frozen = X.tobytes()
    (tmp_path / "x").write_bytes(frozen)
    mapped = np.memmap(tmp_path / "x", dtype=X.dtype, mode="r", shape=X.shape)
    for out in (mapped, np.frombuffer(frozen).reshape(X.shape), np.broadcast_to(np.zeros(2), X.shape)):
        with pytest.raises(ValueError, match="out is read-only: pass an array that may be written"):
            engine.step(SHIFT, X.copy(), out=out)
    assert frozen == X.tobytes()


def test_a_later_call_of_the_same_kind_is_checked_as_the_first_one_was():
    """What is remembered of a first call must hold for nothing but calls like it."""
    shift, rng = Shift(Graph(np.ones((5, 5)) - np.eye(5))), np.random.default_rng(0)
    x, y = rng.standard_normal((2, 5))
    dense = shift.tocsr().toarray()
    for _ in range(2):
        np.testing.assert_allclose(engine.step(shift, x, y=y), dense @ x + y, atol=1e-15)
    np.testing.assert_allclose(engine.step(shift, x, scale=2.0, y=y, beta=-3.0), 2 * dense @ x - 3 * y, atol=1e-14)
    np.testing.assert_allclose(engine.step(shift.recentred(0.0), x), dense @ x + shift.centre * x, atol=1e-15)
    strided = np.repeat(x, 2)[::2]
    np.testing.assert_array_equal(engine.step(shift, strided), engine.step(shift, x))
    for wrong in (y[:4], y.astype(np.float32), list(y)):
        with pytest.raises(ValueError, match="y "):
            engine.step(shift, x, y=wrong)
