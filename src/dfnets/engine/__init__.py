"""The engine: out = scale L~ x + beta y + delta z in one pass, and chains of it, on what hardware there is.

Every filter and every layer here is made of one product with the shift. :func:`step` is that product with its additions
fused, :func:`horner` a polynomial of the shift applied to one or two signals as a single chain of such steps, and
:func:`clenshaw` a sum of Chebyshev polynomials, of one signal or of one signal for each response of a bank;
:func:`analysis` gives all responses of a bank to one signal. Chains have gradients for torch tensors. All take NumPy
arrays and torch tensors, and answer in kind.

Back ends: ``"cpu"`` (Numba), ``"cuda"`` (Triton) and ``"reference"`` (SciPy and plain torch: the oracle, and what is
used where the other two cannot run). The best one is chosen for each call, unless ``backend`` names one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from dfnets.engine import arrays
from dfnets.engine.backends import available
from dfnets.engine.row_order import ordering
from dfnets.shift import Shift

__all__ = ["analysis", "available", "clenshaw", "horner", "ordering", "step"]

Array = TypeVar("Array")


def step(
    shift: Shift,
    x: Array,
    *,
    scale: float = 1.0,
    y: Array | None = None,
    beta: float = 1.0,
    z: Array | None = None,
    delta: float = 1.0,
    out: Array | None = None,
    backend: str | None = None,
) -> Array:
    """out = scale L~ x + beta y + delta z, in one pass over the rows.

    Args:
        shift: L~, of n nodes.
        x, y, z: (n,) or (n, k), one shape and one dtype: float32 or float64, and for tensors also 16-bit floats, whose
            sums are float32. An array that is not C-contiguous is copied first.
        scale, beta, delta: numbers.
        out: where the result goes; may be y or z (row i of the result reads only row i of them), never x.
        backend: the name of a back end; None takes the best one that is there.

    Gradients flow through x, y and z of tensors; the additions are then separate.

    >>> from dfnets import Graph
    >>> shift = Shift(Graph(np.array([[0, 1], [1, 0]])), centre=0.0)
    >>> step(shift, np.array([1.0, -1.0]), y=np.ones(2), beta=3.0)
    array([4., 2.])
    """
    return _entry(x).step(shift, x, scale=scale, y=y, beta=beta, z=z, delta=delta, out=out, backend=backend)


def horner(
    shift: Shift,
    Z: Array,
    Y: Array | None,
    phi: Sequence[float] | Any,
    psi: Sequence[float] | Any | None,
    *,
    backend: str | None = None,
) -> Array:
    """sum_{j=0..q} phi_j L~^j Z - sum_{j=1..p} psi_j L~^j Y, as one chain of max(p, q) fused products.

    Args:
        shift: L~, of n nodes.
        Z, Y: (n,) or (n, k), one shape; of two dtypes the wider is used. Y may be None.
        phi: (q + 1,) numbers, phi_0 first.
        psi: (p,) numbers, psi_1 first; None or empty without Y.
        backend: the name of a back end; None takes the best one that is there.

    Of tensors, Z, Y, phi and psi have gradients of any order, and the call may stand inside ``torch.compile``. The
    backward pass is one chain of max(p, q) products as well, and holds no intermediate signal of the forward pass.

    >>> from dfnets import Graph
    >>> shift = Shift(Graph(np.array([[0, 1], [1, 0]])), centre=0.0)
    >>> x = np.array([1.0, -1.0])  # frequency 1: L~ x = x
    >>> horner(shift, x, x, phi=[1.0, 2.0, 3.0], psi=[4.0])
    array([ 2., -2.])
    """
    if Y is None or psi is None or len(psi) == 0:
        Y = psi = None
    if len(phi) == 0:
        raise ValueError("phi is empty: it holds at least phi_0 (0 where there is no such term)")
    return _entry(Z).horner(shift, Z, Y, phi, psi, backend=backend)


def clenshaw(
    shift: Shift,
    X: Array,
    coefficients: Sequence[float] | Any,
    *,
    interval: tuple[float, float] | None = None,
    backend: str | None = None,
) -> Array:
    """sum_j c_j T_j(S) X, or sum_k sum_j c_kj T_j(S) X_k: Chebyshev polynomials of the shift by Clenshaw's recurrence.

    S is the shift moved and scaled so that ``interval`` becomes [-1, 1]. There are as many products as the longest row
    of coefficients has terms after the first, however many signals are summed; scalings and additions are part of them.

    Args:
        shift: of n nodes; its centre does not matter.
        X: (n,) or (n, k), or (K, n, k): one signal for each response of a bank.
        coefficients: (m + 1,), or (K, m + 1) for a bank.
        interval: of frequencies; None takes the interval of the shift.
        backend: the name of a back end; None takes the best one that is there.

    Of tensors, X and coefficients have gradients of any order. Beside X and the result a chain holds one signal.

    >>> from dfnets import Graph
    >>> shift = Shift(Graph(np.array([[0, 1], [1, 0]])))
    >>> x = np.array([1.0, -1.0])  # frequency 1: S x = x on the interval [-1, 1]
    >>> clenshaw(shift, x, [1.0, 2.0, 3.0], interval=(-1.0, 1.0))
    array([ 6., -6.])
    """
    table = _table(coefficients, 2 if X.ndim == 3 else 1, "X", X)  # type: ignore[attr-defined]
    moved, scale = _mapped(shift, interval)
    return _entry(X).clenshaw(moved, scale, X, table, backend=backend)


def analysis(
    shift: Shift,
    x: Array,
    coefficients: Any,
    *,
    interval: tuple[float, float] | None = None,
    backend: str | None = None,
) -> Array:
    """sum_j c_kj T_j(S) x for each of K responses: the bank's answer to one signal, (K, n) or (K, n, k), by one chain.

    The arguments are those of :func:`clenshaw`, whose adjoint this is, with one signal x and (K, m + 1) coefficients.

    >>> from dfnets import Graph
    >>> shift = Shift(Graph(np.array([[0, 1], [1, 0]])))
    >>> analysis(shift, np.array([1.0, -1.0]), [[1.0, 2.0], [0.0, 1.0]], interval=(-1.0, 1.0))
    array([[ 3., -3.],
           [ 1., -1.]])
    """
    table = _table(coefficients, 2, "x", x)
    moved, scale = _mapped(shift, interval)
    return _entry(x).analysis(moved, scale, x, table, backend=backend)


def _table(coefficients: Any, ndim: int, name: str, signal: Any) -> Any:
    """Coefficients as a table with one row for each response; a tensor stays one, for its gradient."""
    table = coefficients if hasattr(coefficients, "requires_grad") else np.asarray(coefficients, dtype=np.float64)
    if table.ndim != ndim or 0 in table.shape or (signal.ndim == 3 and len(table) != len(signal)):
        raise ValueError(
            f"coefficients have shape {tuple(table.shape)}, {name} has {tuple(signal.shape)}: for one signal they are "
            "(m + 1,), for K responses (K, m + 1), with a signal each in clenshaw"
        )
    return table if ndim == 2 else table.reshape(1, -1)


def _mapped(shift: Shift, interval: tuple[float, float] | None) -> tuple[Shift, float]:
    """The shift seen from the middle of the interval, and what makes [-1, 1] of it."""
    low, high = shift.interval if interval is None else interval
    if not low <= high:
        raise ValueError(f"interval=({low:g}, {high:g}) is not one: the lower end comes first")
    return shift.recentred((low + high) / 2), 2 / (high - low) if high > low else 1.0


def _entry(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        return arrays
    if type(x).__module__.partition(".")[0] != "torch":
        raise TypeError(f"a signal is a NumPy array or a torch tensor, not {type(x).__name__}")
    from dfnets.engine import tensors  # not before the first tensor: torch takes long to load

    return tensors
