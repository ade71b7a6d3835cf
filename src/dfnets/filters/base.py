"""What every filter answers: its response, its action on a signal, a figure, a file."""

from __future__ import annotations

import os
from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np

from dfnets.filters import file, plan, rounding
from dfnets.filters.bounds import EPS
from dfnets.filters.checks import checked_interval, checked_number, checked_signal
from dfnets.filters.expansion import Expansion, Tail, expand
from dfnets.filters.plan import MOST_PRODUCTS, SMALLEST_TOLERANCE, Applied, Cost
from dfnets.filters.polynomials import Interval
from dfnets.filters.products import Products
from dfnets.graph import Graph
from dfnets.responses import Response
from dfnets.shift import Shift

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Filter(ABC):
    """A function of the shift: y = h(L^) x.

    A family says what its response is and in which ways it can be applied. One way every family has: the Chebyshev
    expansion of its response on the graph's own interval, cut where the tail is below the tolerance.

    Attributes:
        interval: the frequencies that the filter serves. A graph whose interval is not inside it is refused.
        target: the response that was wanted, where there was one, and ``transition`` the half-width of the band about
            its jumps that does not count.
    """

    kind: ClassVar[str]
    direct: ClassVar[frozenset[str]] = frozenset()
    families: ClassVar[dict[str, type[Filter]]] = {}

    def __init__(self, interval: Interval, target: Response | None, transition: float) -> None:
        self.interval = checked_interval(interval)
        self.target = target
        self.transition = checked_number(transition, "transition", least=0.0)
        self._memory: dict[Any, Any] = {}

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Filter.families[cls.kind] = cls

    @abstractmethod
    def response(self, frequency: Any) -> np.ndarray:
        """h at frequencies of L^."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments beside interval, target and transition, as JSON can hold them."""

    def tail(self, interval: Interval) -> Tail | None:  # noqa: ARG002
        """A bound on the Chebyshev coefficients of h on an interval, from the n-th on; None where nothing is known."""
        return None

    def noise(self, interval: Interval) -> float:  # noqa: ARG002
        """A bound on the rounding error of a value of :meth:`response` on an interval."""
        return 8 * EPS

    def expansion(self, tol: float, interval: Interval) -> Expansion:
        """The Chebyshev expansion of h on an interval, as short as the tolerance allows, with its error."""
        return self._remembered(
            ("expansion", tol, interval),
            lambda: expand(self.response, interval, tol, self.tail(interval), self.noise(interval)),
        )

    def gain(self, interval: Interval) -> float:
        """A bound on |h| on an interval."""
        found = self.expansion(1e-3, interval)
        return float(np.abs(found.coefficients).sum()) + found.error

    def costs(self, tol: float, interval: Interval) -> Mapping[str, Cost | str]:
        """For each method what it needs for this tolerance on this interval, or why it cannot be used."""
        return {"chebyshev": self._expansion_cost(tol, interval)}

    def rounding(self, method: str, shift: Shift, tol: float) -> float:
        """How much a method may lose to rounding on a graph, in units of roundoff and relative to norm(x)."""
        assert method == "chebyshev"
        return rounding.of_clenshaw(shift, self.expansion(tol, shift.interval).coefficients, shift.interval)

    def run(
        self, method: str, products: Products, x: np.ndarray, tol: float, iterations: int | None
    ) -> tuple[np.ndarray, int, float]:
        """The signal, the iterations and the error bound of one method; x is (n, k) and is not written to."""
        assert method == "chebyshev"
        found = self.expansion(tol, products.shift.interval)
        coefficients, error = found.coefficients, found.error
        if iterations is not None:
            error += float(np.abs(coefficients[iterations + 1 :]).sum())
            coefficients = coefficients[: iterations + 1]
        return products.clenshaw(coefficients, x), len(coefficients) - 1, error

    def blocks(self, method: str) -> int:  # noqa: ARG002
        """In how many groups of columns a method goes about it: more than one where it needs many arrays."""
        return 1

    @overload
    def apply(
        self,
        graph: Graph | Shift,
        x: Any,
        *,
        tol: float = ...,
        method: str = ...,
        iterations: int | None = ...,
        max_products: int = ...,
        progress: Callable[[int, int], None] | None = ...,
    ) -> np.ndarray: ...
    @overload
    def apply(
        self,
        graph: Graph | Shift,
        x: Any,
        *,
        tol: float = ...,
        method: str = ...,
        iterations: int | None = ...,
        max_products: int = ...,
        progress: Callable[[int, int], None] | None = ...,
        details: Literal[True],
    ) -> Applied: ...
    def apply(
        self,
        graph: Graph | Shift,
        x: Any,
        *,
        tol: float = 1e-6,
        method: str = "auto",
        iterations: int | None = None,
        max_products: int = MOST_PRODUCTS,
        progress: Callable[[int, int], None] | None = None,
        details: bool = False,
    ) -> np.ndarray | Applied:
        """h(L^) x, to a tolerance.

        Args:
            graph: the graph, or its :class:`Shift` when many signals come one after the other.
            x: (n,) or (n, k), float32 or float64. The work is done in float64 where float32 could not hold tol.
            tol: norm(y - y*) <= tol norm(x) for every column, in floating point. A tolerance that rounding would break
                is refused, with the smallest that can be held.
            method: ``"auto"`` takes the one with the fewest predicted products.
            iterations: a fixed number instead of the tolerance; the error that this leaves is in the details.
            max_products: refuse work that is predicted to take more products with the shift than this.
            progress: called with the products done and the products predicted, now and then.
            details: return an :class:`Applied` with the method, its products and its error bound.
        """
        shift = self.shift_of(graph)
        signal = checked_signal(x, shift.num_nodes)
        smallest = SMALLEST_TOLERANCE if signal.dtype == np.float64 else 1e-7
        if not smallest <= tol < 1:
            raise ValueError(
                f"tol={tol:g} must be at least {smallest:g}, what {signal.dtype} can hold, and less than 1"
            )
        if iterations is not None and (method == "auto" or iterations < 0):
            raise ValueError("iterations must not be negative, and needs a named method: each counts its own kind")
        columns = signal if signal.ndim == 2 else signal[:, None]
        done = plan.carry_out(self, shift, columns, tol, method, iterations, max_products, progress)
        y = done.signal if signal.ndim == 2 else done.signal[:, 0]
        return replace(done, signal=y) if details else y

    def smallest_tolerance(self, graph: Graph | Shift, dtype: Any = np.float64) -> float:
        """The smallest ``tol`` that :meth:`apply` can hold on a graph for signals of a dtype, whatever the method."""
        shift = self.shift_of(graph)
        tol = SMALLEST_TOLERANCE if np.dtype(dtype) == np.float64 else 1e-7
        while tol < 1:
            try:
                plan.chosen(self, "auto", shift, np.dtype(dtype), tol)
            except ValueError:
                tol *= 1.5
            else:
                return tol
        raise ValueError(f"{self!r} cannot be applied to this graph to any tolerance below 1")

    def _expansion_cost(self, tol: float, interval: Interval) -> Cost | str:
        try:
            degree = len(self.expansion(tol, interval).coefficients) - 1
        except ValueError as error:
            return str(error)
        return Cost(degree, degree)

    def _remembered(self, key: Any, compute: Callable[[], Any]) -> Any:
        """What was computed before for this key; a handful is kept."""
        if key not in self._memory:
            while len(self._memory) >= 24:
                del self._memory[next(iter(self._memory))]
            self._memory[key] = compute()
        return self._memory[key]

    def shift_of(self, graph: Graph | Shift) -> Shift:
        """The shift of a graph, refused unless its interval is inside the filter's.

        The proved interval is tried first; where it is too wide, the narrower one by Lanczos.
        """
        shift = graph if isinstance(graph, Shift) else Shift(graph)
        if not self._serves(shift) and not isinstance(graph, Shift):
            shift = Shift(graph, lmax="lanczos")
        if not self._serves(shift):
            raise ValueError(
                f"the filter serves frequencies in [{self.interval[0]:g}, {self.interval[1]:g}], but the graph's lie "
                f"in [0, {shift.interval[1]:.6g}] ({shift.certainty}): design it for that interval, or for (0, 2)"
            )
        return shift

    def _serves(self, shift: Shift) -> bool:
        slack = 1e-12
        return self.interval[0] <= shift.interval[0] + slack and shift.interval[1] <= self.interval[1] + slack

    def plot(self, path: str | os.PathLike[str] | None = None, *, graph: Graph | Shift | None = None) -> Figure:
        """A figure of the response (with the spectral density of ``graph`` under it), saved to ``path`` when given."""
        from dfnets import plots

        return plots.filter_figure(self, path, graph=graph)

    def save(self, path: str | os.PathLike[str]) -> None:
        """Write the filter as JSON, with a checksum; an existing file is replaced whole or not at all."""
        file.write(self, path)

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The filter that :meth:`save` wrote; ``Filter.load`` takes any family."""
        found = file.read(path, Filter.families)
        if not isinstance(found, cls):
            raise ValueError(f"{path} holds a {found.kind!r} filter, not a {cls.kind!r} one")
        return found

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], **common: Any) -> Self:
        """The inverse of :meth:`parameters`."""
        return cls(**parameters, **common)

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Filter):
            return NotImplemented
        mine, others = ((f.kind, f.interval, f.target, f.transition, f.__getstate__()) for f in (self, other))
        return mine[:4] == others[:4] and _alike(mine[4], others[4])

    def __hash__(self) -> int:
        return hash((self.kind, self.interval, self.target, self.transition))

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_memory"}

    def __setstate__(self, state: dict[str, Any]) -> None:
        self.__dict__.update(state, _memory={})

    def _repr_html_(self) -> str:
        from dfnets.filters.show import filter_html

        return filter_html(self)


def _alike(mine: dict[str, Any], others: dict[str, Any]) -> bool:
    return mine.keys() == others.keys() and all(np.array_equal(mine[name], others[name]) for name in mine)
