"""The engine: out = scale L~ x + beta y + delta z in one pass, and chains of it, on what hardware there is.

Every filter and every layer here is made of one product with the shift. :func:`step` is that product with its additions
fused, :func:`horner` a polynomial of the shift applied to one or two signals as a single chain of such steps, with
gradients for torch tensors. Both take NumPy arrays and torch tensors, and answer in kind.

Back ends: ``"cpu"`` (Numba), ``"cuda"`` (Triton) and ``"reference"`` (SciPy and plain torch: the oracle, and what is
used where the other two cannot run). The best one is chosen for each call, unless ``backend`` names one.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, TypeVar

import numpy as np

from dfnets.engine.backends import available
from dfnets.engine.ordering import ordering
from dfnets.shift import Shift

__all__ = ["available", "horner", "ordering", "step"]

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


def _entry(x: Any) -> Any:
    if isinstance(x, np.ndarray):
        from dfnets.engine import arrays

        return arrays
    if type(x).__module__.partition(".")[0] != "torch":
        raise TypeError(f"a signal is a NumPy array or a torch tensor, not {type(x).__name__}")
    from dfnets.engine import tensors

    return tensors
