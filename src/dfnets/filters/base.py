"""What every filter answers: its response, its action on a signal, a figure, a file."""

from __future__ import annotations

import json
import os
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar, Literal, Self, overload

import numpy as np

from dfnets import checksums, responses
from dfnets.atomic import replacing
from dfnets.filters.polynomials import Interval, expand
from dfnets.filters.products import Products
from dfnets.graph import Graph
from dfnets.responses import Response
from dfnets.shift import Shift

if TYPE_CHECKING:
    from matplotlib.figure import Figure

FORMAT = "dfnets filter, version 1"
SMALLEST_TOLERANCE = 1e-13


@dataclass(frozen=True)
class Cost:
    """What a method needs for a tolerance: its own iterations, and products with the shift in all."""

    iterations: int
    products: int


@dataclass(frozen=True)
class Applied:
    """A filtered signal and how it came about.

    Attributes:
        signal: same shape and dtype as the input.
        method: the one that was used.
        iterations, products: what it took, products counted for one pass over all columns.
        error: the certified bound on norm(y - y*) / norm(x) of each column, in exact arithmetic.
    """

    signal: np.ndarray
    method: str
    iterations: int
    products: int
    error: float


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
        self.transition = float(transition)

    def __init_subclass__(cls, **kwargs: Any) -> None:
        super().__init_subclass__(**kwargs)
        Filter.families[cls.kind] = cls

    @abstractmethod
    def response(self, frequency: Any) -> np.ndarray:
        """h at frequencies of L^."""

    @abstractmethod
    def parameters(self) -> dict[str, Any]:
        """The constructor's arguments beside interval, target and transition, as JSON can hold them."""

    def costs(self, tol: float, interval: Interval) -> Mapping[str, Cost | str]:
        """For each method what it needs for this tolerance on this interval, or why it cannot be used."""
        return {"chebyshev": self._expansion_cost(tol, interval)}

    def run(
        self, method: str, products: Products, x: np.ndarray, tol: float, iterations: int | None
    ) -> tuple[np.ndarray, int, float]:
        """The signal, the iterations and the error bound of one method; x is (n, k) and is not written to."""
        assert method == "chebyshev"
        coefficients = expand(self.response, products.shift.interval, tol)
        if iterations is not None:
            dropped = coefficients[iterations + 1 :]
            coefficients = coefficients[: iterations + 1]
            tol += float(np.abs(dropped).sum())
        y = products.clenshaw(coefficients, x, [np.empty_like(x), np.empty_like(x)])
        return y, len(coefficients) - 1, tol

    def rounding(self, method: str, cost: Cost, interval: Interval) -> float:  # noqa: ARG002
        """How many units of roundoff, relative to norm(x), a method may lose: products times the size of its terms."""
        grid = np.linspace(*interval, 201)
        return cost.products * max(1.0, float(np.abs(self.response(grid)).max()))

    def blocks(self, method: str) -> int:  # noqa: ARG002
        """In how many groups of columns a method goes about it: more than one where it needs many arrays."""
        return 1

    @overload
    def apply(
        self, graph: Graph | Shift, x: Any, *, tol: float = ..., method: str = ..., iterations: int | None = ...
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
        details: bool = False,
    ) -> np.ndarray | Applied:
        """h(L^) x, to a tolerance.

        Args:
            graph: the graph, or its :class:`Shift` when many signals come one after the other.
            x: (n,) or (n, k), float32 or float64. The work is done in float64 where float32 could not hold tol.
            tol: norm(y - y*) <= tol norm(x) for every column.
            method: ``"auto"`` takes the one with the fewest predicted products.
            iterations: a fixed number instead of the tolerance; the error that this leaves is in the details.
            details: return an :class:`Applied` with the method, its products and its error bound.
        """
        shift = self.shift_of(graph)
        signal = _checked_signal(x, shift.num_nodes)
        smallest = SMALLEST_TOLERANCE if signal.dtype == np.float64 else 1e-7
        if not smallest <= tol < 1:
            raise ValueError(
                f"tol={tol:g} must be at least {smallest:g}, what {signal.dtype} can hold, and less than 1"
            )
        if iterations is not None and (method == "auto" or iterations < 0):
            raise ValueError("iterations must not be negative, and needs a named method: each counts its own kind")
        chosen, cost = self._choose(method, tol, shift.interval)
        columns = signal if signal.ndim == 2 else signal[:, None]
        blocks, dtype = self.blocks(chosen), columns.dtype
        roundoff = self.rounding(chosen, cost, shift.interval) * float(np.finfo(np.float32).eps)
        if dtype == np.float32 and iterations is None and roundoff > tol / 2:
            # An eighth of the columns at a time: the float64 work arrays then take less room than one signal does.
            blocks, dtype = 8, np.dtype(np.float64)
        done = self._run_in_blocks(chosen, shift, columns, tol, iterations, blocks, dtype)
        y = done.signal if signal.ndim == 2 else done.signal[:, 0]
        return Applied(y, done.method, done.iterations, done.products, done.error) if details else y

    def _run_in_blocks(
        self,
        method: str,
        shift: Shift,
        columns: np.ndarray,
        tol: float,
        iterations: int | None,
        blocks: int,
        dtype: np.dtype,
    ) -> Applied:
        width = max(1, -(-columns.shape[1] // blocks))
        if width >= columns.shape[1] and dtype == columns.dtype:
            products = Products(shift)
            y, done, bound = self.run(method, products, columns, tol, iterations)
            return Applied(y, method, done, products.count, bound)
        y = np.empty_like(columns)
        most, count, error = 0, 0, 0.0
        for start in range(0, columns.shape[1], width):
            products = Products(shift)
            block = np.ascontiguousarray(columns[:, start : start + width], dtype=dtype)
            y[:, start : start + width], done, bound = self.run(method, products, block, tol, iterations)
            most, count, error = max(most, done), max(count, products.count), max(error, bound)
        return Applied(y, method, most, count, error)

    def _choose(self, method: str, tol: float, interval: Interval) -> tuple[str, Cost]:
        costs = self.costs(tol, interval)
        possible = {name: cost for name, cost in costs.items() if isinstance(cost, Cost)}
        if method == "auto":
            if not possible:
                raise ValueError(f"{self!r} cannot be applied: " + "; ".join(f"{m}: {why}" for m, why in costs.items()))
            # A direct method factorises instead of multiplying; its products do not tell what it costs.
            method = min(possible.keys() - self.direct, key=lambda name: possible[name].products)
        if method not in costs:
            raise ValueError(f"method={method!r} is not one of 'auto', {', '.join(map(repr, costs))}")
        if method not in possible:
            raise ValueError(f"{self!r} cannot be applied by {method}: {costs[method]}")
        return method, possible[method]

    def _expansion_cost(self, tol: float, interval: Interval) -> Cost | str:
        try:
            degree = len(expand(self.response, interval, tol)) - 1
        except ValueError as error:
            return str(error)
        return Cost(degree, degree)

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
        if self.target is not None and self.target.name not in responses.MAKERS:
            raise ValueError(
                f"the target {self.target.name!r} is a Python function, which a file cannot hold: set target=None"
            )
        content: dict[str, Any] = {
            "format": FORMAT,
            "kind": self.kind,
            "interval": list(self.interval),
            "target": None if self.target is None else [self.target.name, dict(self.target.parameters)],
            "transition": self.transition,
            "parameters": self.parameters(),
        }
        content["sha256"] = checksums.of_json(content)
        with replacing(path) as temporary:
            temporary.write_text(json.dumps(content, indent=2))

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Self:
        """The filter that :meth:`save` wrote; ``Filter.load`` takes any family."""
        try:
            content = json.loads(Path(path).read_text())
        except (json.JSONDecodeError, UnicodeDecodeError) as error:
            raise ValueError(f"{path} is not a filter file, or it is cut off: {error}") from None
        if not isinstance(content, dict) or content.get("format") != FORMAT:
            raise ValueError(f"{path} is not a filter file: it lacks the mark {FORMAT!r}")
        if content.pop("sha256", None) != checksums.of_json(content):
            raise ValueError(f"{path} was changed after it was saved: its checksum differs; save the filter again")
        family = Filter.families.get(content["kind"])
        if family is None or not issubclass(family, cls):
            raise ValueError(f"{path} holds a {content['kind']!r} filter, not a {cls.kind!r} one")
        target = content["target"] and responses.make(*content["target"])
        return family.from_parameters(
            content["parameters"], interval=tuple(content["interval"]), target=target, transition=content["transition"]
        )

    @classmethod
    def from_parameters(cls, parameters: dict[str, Any], **common: Any) -> Self:
        """The inverse of :meth:`parameters`."""
        return cls(**parameters, **common)


def _checked_signal(x: Any, n: int) -> np.ndarray:
    signal = np.asarray(x)
    if signal.ndim not in (1, 2) or signal.shape[0] != n:
        raise ValueError(f"x has shape {signal.shape}, but the graph has {n} nodes; it must be ({n},) or ({n}, k)")
    if signal.dtype.kind not in "fiub":
        raise ValueError(f"x has entries of type {signal.dtype}; signals are real numbers")
    if signal.dtype not in (np.float32, np.float64):
        signal = signal.astype(np.float64)
    if not np.isfinite(signal).all():
        raise ValueError("x has entries that are not finite: fill or drop them before filtering")
    return np.ascontiguousarray(signal)


def checked_vector(values: Any, name: str, least: int, *, kind: type = float) -> np.ndarray:
    """A finite vector of at least ``least`` entries, or an error that names it."""
    array: np.ndarray = np.array(values, dtype=kind)
    if array.ndim != 1 or len(array) < least or not np.isfinite(array).all():
        raise ValueError(f"{name} must be a vector of at least {least} finite numbers, not {values!r}")
    array.flags.writeable = False
    return array


def checked_interval(interval: Any) -> Interval:
    """(low, high) with 0 <= low <= high <= 2."""
    low, high = (float(end) for end in interval)
    if not 0 <= low <= high <= 2:
        raise ValueError(f"interval={interval!r}: frequencies of L^ lie in [0, 2], so 0 <= low <= high <= 2")
    return low, high
