"""The back end for a shift whose rows are shared out among processes: another back end, and what borders on them."""

# Numba gives meaning to the kernel: it infers the types when it is called.
# mypy: disable-error-code="no-untyped-def"

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np

from dfnets.compiled import njit
from dfnets.engine.backends import Backend
from dfnets.engine.operator import Operator

if TYPE_CHECKING:
    from dfnets.distributed.halo import HaloExchange


class RowBlocks:
    """Steps as ``backend`` does, on this process's rows: first with its own columns, then with those of the halo.

    While the own block is multiplied, the values of the bordering nodes are on their way.

    Args:
        backend: that multiplies.
        exchange: brings the halo; called at every product by all processes.
    """

    # The processes exchange rows at every product: no back end can take several in one call, or go without asking.
    walk = small_step = None

    def __init__(self, backend: Backend, exchange: HaloExchange) -> None:
        self._backend, self._exchange = backend, exchange

    def step(
        self, operator: Operator, weights: Any, x: Any, y: Any, z: Any, out: Any, u: Any, first: bool = False
    ) -> None:
        """As the back end's; all signals have this process's rows."""
        exchange = self._exchange
        sent = exchange.start(x)
        if not exchange.overlap:
            exchange.finish(sent)
        self._backend.step(operator, weights, x, y, z, out, u, first)
        halo = exchange.finish(sent)
        if len(exchange.border):
            addends = 0 if y is None else len(y)
            nothing = np.empty((0, 0), x.dtype)
            _add_halo(
                exchange.border,
                exchange.indptr,
                exchange.indices,
                exchange.values(x.dtype),
                weights[0],
                weights[2 + addends :],
                halo,
                nothing if out is None else out,
                nothing[None][:0] if u is None else u,
            )

    def columns_at_once(self, signal: Any) -> int:
        """All: every process must exchange the same rows in the same order."""
        return signal.shape[-1]

    def __getattr__(self, name: str) -> Any:
        # Everything but a product is the affair of each process alone.
        return getattr(self._backend, name)


@njit(nogil=True, cache=True)
def _add_halo(border, indptr, indices, values, scale, factors, halo, out, u):
    """v = scale B halo for each row of the border; out += v, and u_t += factors[t] v."""
    k = halo.shape[1]
    total = np.empty(k, halo.dtype)
    for b in range(len(border)):
        total[:] = 0
        for entry in range(indptr[b], indptr[b + 1]):
            value, j = values[entry], indices[entry]
            for c in range(k):
                total[c] += value * halo[j, c]
        i = border[b]
        for c in range(k):
            total[c] *= scale
        if out.size:
            for c in range(k):
                out[i, c] += total[c]
        for t in range(len(u)):
            for c in range(k):
                u[t, i, c] += factors[t] * total[c]
