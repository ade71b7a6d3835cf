"""The back end for a shift whose rows are shared out among processes: another back end, after fetching what borders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from dfnets.engine.backends import Backend
from dfnets.engine.operator import Operator


class RowBlocks:
    """Steps as ``backend`` does, on this process's rows, with the rows of bordering nodes behind those of its own.

    Args:
        backend: that multiplies.
        exchange: (own, k) to (own + bordering, k), called at every product by all processes.
    """

    # The processes exchange rows at every product: no back end can take several in one call, or go without asking.
    walk = small_step = None

    def __init__(self, backend: Backend, exchange: Callable[[Any], Any]) -> None:
        self._backend, self._exchange = backend, exchange

    def step(
        self, operator: Operator, weights: Any, x: Any, y: Any, z: Any, out: Any, u: Any, first: bool = False
    ) -> None:
        """As the back end's, with x completed by the bordering rows; all other signals have this process's rows."""
        self._backend.step(operator, weights, self._exchange(x), y, z, out, u, first)

    def columns_at_once(self, signal: Any) -> int:
        """All: every process must exchange the same rows in the same order."""
        return signal.shape[-1]

    def __getattr__(self, name: str) -> Any:
        # Everything but a product is the affair of each process alone.
        return getattr(self._backend, name)
