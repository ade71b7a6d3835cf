"""The back ends, and which of them is used where."""

from __future__ import annotations

import functools
import importlib
import importlib.util
from typing import Any, NamedTuple, Protocol, cast
from weakref import WeakValueDictionary

from dfnets.engine.operator import Operator
from dfnets.shift import Shift


class Backend(Protocol):
    """What a back end is: a module with these functions, on the arrays of its device (NumPy's on the CPU).

    Signals are (n, k), C-contiguous, of one dtype, and y and u stacks of them, (S, n, k) and (T, n, k); None where
    absent. Everything is written in place. A back end may also have ``walk``, which takes all steps of a chain in one
    call, and ``small_step``, which prepares steps that are short beside their checks: see :mod:`dfnets.engine.cpu`.
    """

    def step(
        self, operator: Operator, weights: Any, x: Any, y: Any, z: Any, out: Any, u: Any, first: bool = False
    ) -> None:
        """total = w[0] L~ x + w[1] z + sum_s w[2 + s] y_s; out = total; u_t += w[2 + S + t] total, in one pass.

        Where ``first`` is set, u_t = w[2 + S + t] total + w[2 + S + T + t] x instead. ``weights`` are on the device;
        one that is 0 may leave its signal unread. ``out`` may be z or one of y, never x; None: the total is not stored.
        """

    def combine(self, weights: Any, y: Any, z: Any, out: Any) -> None:
        """out = sum_s w[2 + s] y_s + w[1] z."""

    def inner(self, x: Any, y: Any) -> Any:
        """The sum of x * y over all entries, summed in double precision."""

    def columns_at_once(self, signal: Any) -> int:
        """How many columns of such a signal a chain should take through all its products together."""

    def empty(self, like: Any, *shape: int) -> Any:
        """An array beside ``like`` and of its dtype, not filled."""

    def zeros(self, like: Any, *shape: int) -> Any:
        """Zeros beside ``like``, in the dtype that weights have for it."""

    def variant(self, operator: Operator, k: int, itemsize: int) -> str:
        """In words, which of its ways it takes for signals of k columns; for a benchmark."""


class _Entry(NamedTuple):
    module: str
    needs: str | None
    devices: frozenset[str] | None


# In order of preference. A new back end is a line here; the contract test in tests/engine runs over this table.
_TABLE = {
    "cpu": _Entry("dfnets.engine.cpu", "numba", frozenset({"cpu"})),
    "cuda": _Entry("dfnets.engine.cuda", "triton", frozenset({"cuda"})),
    "reference": _Entry("dfnets.engine.reference", None, None),
}


@functools.cache
def available(device: str = "cpu") -> tuple[str, ...]:
    """The names of the back ends that can run on a device type, the preferred one first."""
    return tuple(
        name
        for name, entry in _TABLE.items()
        if (entry.devices is None or device in entry.devices)
        and (entry.needs is None or importlib.util.find_spec(entry.needs) is not None)
    )


def get(name: str | None, device: str) -> Backend:
    """The back end of that name, or the preferred one for None; a name of :func:`named` is one, too."""
    if name is None or not name.startswith(_MANY):
        return _module(name, device)
    if device != "cpu":
        raise ValueError(f"signals are on {device!r}: a shift on many processes takes those of the CPU")
    from dfnets.engine.row_blocks import RowBlocks

    key, _, inner = name.partition("/")
    return cast(Backend, RowBlocks(_module(inner or None, device), _EXCHANGES[key]))


@functools.cache
def _module(name: str | None, device: str) -> Backend:
    usable = available(device)
    if name is not None and name not in usable:
        raise ValueError(f"backend={name!r} cannot run on {device!r} here; it can be one of {', '.join(usable)}")
    return cast(Backend, importlib.import_module(_TABLE[name or usable[0]].module))


# What brings the halo of each shift on many processes, by a name that torch's operators can take.
_EXCHANGES: WeakValueDictionary[str, Any] = WeakValueDictionary()
_MANY = "row blocks "


def named(shift: Shift, name: str | None) -> str | None:
    """The name by which :func:`get` finds the back end of a shift: one over many processes where the shift is."""
    if shift.exchange is None:
        return name
    key = f"{_MANY}{id(shift.exchange)}"
    _EXCHANGES[key] = shift.exchange
    return f"{key}/{name or ''}"


def of(shift: Shift, name: str | None) -> Backend:
    """The back end for NumPy signals of a shift: that of the CPU."""
    return get(named(shift, name), "cpu")
