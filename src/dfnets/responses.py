"""What is wanted of a filter: a gain for each frequency of L^ in [0, 2].

Every response is a callable on arrays of frequencies. Those made here also know where they jump, which lets a design
leave a transition band out and a certificate speak of ripple; they know how fast their Chebyshev coefficients fall,
which is what an error bound is made of; and they can be pickled, compared and written to a file.
"""

from __future__ import annotations

import itertools
import math
import pickle
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

if TYPE_CHECKING:
    from dfnets.filters.expansion import Tail

Function = Callable[[np.ndarray], Any]
Interval = tuple[float, float]


@dataclass(frozen=True, repr=False, eq=False)
class Response:
    """A wanted gain h(frequency).

    Two responses are equal when they have the same name and parameters; those made by :func:`custom`, when they hold
    the same function.

    Attributes:
        name: the function of this module that made it, or ``"custom"``.
        parameters: that function's arguments.
        function: the gain itself, on arrays of frequencies.
        jumps: the frequencies at which the gain jumps, in increasing order; between them it is 1 or 0 if ``ideal``.
        ideal: whether the gain is a perfect step, so that pass band and stop band mean something.
        tails: from an interval to a bound on the tail of the Chebyshev series there; None where nothing is known.
    """

    name: str
    parameters: Mapping[str, Any]
    function: Function
    jumps: tuple[float, ...] = ()
    ideal: bool = False
    tails: Callable[[Interval], Tail] | None = field(default=None)

    def __call__(self, frequency: Any) -> np.ndarray:
        """The gain at frequencies of L^, as float64; refused where it is not a finite real number."""
        frequency = np.asarray(frequency, dtype=np.float64)
        gain = np.broadcast_to(np.asarray(self.function(frequency)), frequency.shape)
        if np.iscomplexobj(gain) or not np.isfinite(gain).all():
            where = frequency if np.iscomplexobj(gain) else frequency[~np.isfinite(gain)]
            at = np.ravel(where)[0]
            raise ValueError(f"response {self.name!r} is not a finite real number at frequency {at:g}")
        return gain.astype(np.float64)

    def __repr__(self) -> str:
        parts = (f"{key}={_short(value)}" for key, value in self.parameters.items())
        return f"{self.name}({', '.join(parts)})"

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Response):
            return NotImplemented
        alike = self.name == other.name and dict(self.parameters) == dict(other.parameters)
        return alike and (self.name in MAKERS or self.function == other.function)

    def __hash__(self) -> int:
        return hash((self.name, tuple(self.parameters.items())))

    def __getstate__(self) -> dict[str, Any]:
        if "<" in getattr(self.function, "__qualname__", ""):
            raise pickle.PicklingError(
                f"the response {self.name!r} holds a function that has no name to find it by when it is read back: "
                "define it at the top of a module, or take responses.interpolated"
            )
        return dict(self.__dict__)

    def bands(self, interval: Interval, transition: float) -> list[Interval]:
        """The parts of the interval that are further than ``transition`` from every jump."""
        low, high = interval
        edges = [low]
        for jump in self.jumps:
            edges += [min(max(jump - transition, low), high), max(min(jump + transition, high), low)]
        edges.append(high)
        pairs = list(zip(edges[0::2], edges[1::2], strict=True))
        return [pair for pair in pairs if pair[0] < pair[1]] or ([interval] if low == high else [])

    def tail(self, interval: Interval) -> Tail | None:
        """A bound on what follows the n-th Chebyshev coefficient on the interval; None where nothing is known."""
        return None if self.tails is None else self.tails(interval)


def high_pass(cut: float) -> Response:
    """1 for frequencies from ``cut`` on, 0 below: the paper's ideal filter with cut-off frequency.

    >>> high_pass(0.5)([0.4, 0.5, 1.0])
    array([0., 1., 1.])
    """
    cut = _in_range(cut, "cut")
    return _ideal("high_pass", {"cut": cut}, partial(_within, low=cut, high=math.inf), (cut,))


def low_pass(cut: float) -> Response:
    """1 for frequencies below ``cut``, 0 from there on: 1 - high_pass."""
    cut = _in_range(cut, "cut")
    return _ideal("low_pass", {"cut": cut}, partial(_within, low=-math.inf, high=cut), (cut,))


def band_pass(low: float, high: float) -> Response:
    """1 for low <= frequency < high, 0 elsewhere."""
    low, high = _in_range(low, "low"), _in_range(high, "high")
    if not low < high:
        raise ValueError(f"low={low:g} must be less than high={high:g}")
    return _ideal("band_pass", {"low": low, "high": high}, partial(_within, low=low, high=high), (low, high))


def heat(time: float) -> Response:
    """exp(-time frequency): what is left of a signal after it has diffused for that time."""
    time = _number(time, "time")
    if not 0 <= time < np.inf:
        raise ValueError(f"time={time:g} must be finite and not negative")
    return Response("heat", {"time": time}, partial(_heat, time=time), tails=partial(_heat_tail, time=time))


def pagerank(restart: float) -> Response:
    """a / (a + (1 - a) frequency): personalised PageRank with restart probability a, a I (I - (1 - a)(I - L^))^-1.

    It is a feedback-looped filter of order one.
    """
    restart = _number(restart, "restart")
    if not 0 < restart <= 1:
        raise ValueError(f"restart={restart:g} must be a probability above 0, at most 1")
    tails = partial(_pagerank_tail, restart=restart)
    return Response("pagerank", {"restart": restart}, partial(_pagerank, restart=restart), tails=tails)


def interpolated(frequencies: Sequence[float], gains: Sequence[float]) -> Response:
    """Straight lines between the points (frequency, gain), level before the first and after the last.

    This is how a response that was drawn by hand is written down; unlike :func:`custom` it can be saved to a file.

    Args:
        frequencies: at least two, increasing, in [0, 2].
        gains: one finite number per frequency.

    >>> interpolated([0.5, 1.5], [1, 0])([0, 1, 2])
    array([1. , 0.5, 0. ])
    """
    at = tuple(_in_range(value, "frequencies") for value in _sequence(frequencies, "frequencies"))
    gain = tuple(_number(value, "gains") for value in _sequence(gains, "gains"))
    if len(at) != len(gain) or len(at) < 2:
        raise ValueError(f"frequencies and gains have lengths {len(at)} and {len(gain)}: give two or more of each")
    if any(b <= a for a, b in itertools.pairwise(at)):
        raise ValueError(f"frequencies={list(at)} must increase from one to the next")
    if not np.isfinite(gain).all():
        raise ValueError(f"gains={list(gain)} must be finite numbers")
    tails = partial(_lines_tail, xp=at, fp=gain)
    lines = partial(np.interp, xp=at, fp=gain)
    return Response("interpolated", {"frequencies": at, "gains": gain}, lines, tails=tails)


def custom(function: Function, name: str = "custom") -> Response:
    """Any callable on arrays of frequencies as a response.

    It cannot be written to a file, and nothing can be proved of how it behaves between samples.
    """
    return Response(name, {}, function)


def cut_off(eta: float, lmax: float = 2.0) -> float:
    """The paper's cut-off technique as a frequency of L^.

    The paper cuts at lambda_cut = max(L~) / 2 - eta, where L~ = L^ - (lmax / 2) I and so max(L~) = lmax / 2. As a
    frequency of L^ that is lmax / 2 + lmax / 4 - eta.

    >>> cut_off(eta=0.25)
    1.25
    """
    if not 0 <= eta <= 1:
        raise ValueError(f"eta={eta:g} must be in [0, 1]")
    return 0.75 * _in_range(lmax, "lmax") - eta


MAKERS: Mapping[str, Callable[..., Response]] = {
    maker.__name__: maker for maker in (high_pass, low_pass, band_pass, heat, pagerank, interpolated)
}


def make(name: str, parameters: Mapping[str, Any]) -> Response:
    """The response that ``name(**parameters)`` of this module gives; for files and command lines."""
    maker = MAKERS.get(name.replace("-", "_")) if isinstance(name, str) else None
    if maker is None:
        raise ValueError(f"response {name!r} is not one of {', '.join(sorted(MAKERS))}")
    if not isinstance(parameters, Mapping):
        raise ValueError(f"response {name!r} has parameters {parameters!r}: they must be names and values")
    try:
        return maker(**parameters)
    except TypeError as error:
        raise ValueError(f"response {name!r} does not take {dict(parameters)}: {error}") from None


def as_response(response: Response | Function) -> Response:
    """A response as it is, or a callable of the frequency as a custom one."""
    if isinstance(response, Response):
        return response
    if callable(response):
        return custom(response, getattr(response, "__name__", "custom"))
    raise TypeError(f"response={response!r} is neither a Response nor a callable of the frequency")


def _ideal(name: str, parameters: dict[str, float], step: Function, jumps: tuple[float, ...]) -> Response:
    return Response(name, parameters, step, jumps, ideal=True, tails=partial(_step_tail, jumps=jumps))


def _within(frequency: np.ndarray, *, low: float, high: float) -> np.ndarray:
    return (frequency >= low) & (frequency < high)


def _heat(frequency: np.ndarray, *, time: float) -> np.ndarray:
    return np.exp(-time * frequency)


def _pagerank(frequency: np.ndarray, *, restart: float) -> np.ndarray:
    return restart / (restart + (1 - restart) * frequency)


def _step_tail(interval: Interval, *, jumps: tuple[float, ...]) -> Tail:
    from dfnets.filters.expansion import polynomial_tail

    inside = any(interval[0] < jump <= interval[1] for jump in jumps)
    return (lambda _: math.inf) if inside else polynomial_tail(0)


def _heat_tail(interval: Interval, *, time: float) -> Tail:
    """|exp(-t z)| is largest where the real part is least: half (rho + 1 / rho - 2) / 2 to the left of the interval."""
    from dfnets.filters.expansion import ellipse_tail

    rho = 1 + np.geomspace(1e-7, 1e4, 400)
    half = (interval[1] - interval[0]) / 2
    return ellipse_tail(rho, time * (half * (rho - 1) ** 2 / rho / 2 - interval[0]))


def _pagerank_tail(interval: Interval, *, restart: float) -> Tail:
    from dfnets.filters.expansion import poles_tail, polynomial_tail

    if restart == 1 or interval[0] == interval[1]:
        return polynomial_tail(0)
    half = (interval[1] - interval[0]) / 2
    ratio = restart / (1 - restart)
    return poles_tail(np.array([ratio / half]), np.array([-1 - (interval[0] + ratio) / half], dtype=complex))


def _lines_tail(interval: Interval, *, xp: tuple[float, ...], fp: tuple[float, ...]) -> Tail:
    """The slope changes by V in all, seen from [-1, 1], so |c_k| <= 2 V / (pi k (k - 1)) (Trefethen, theorem 7.1)."""
    slopes = np.concatenate([[0.0], np.diff(fp) / np.diff(xp), [0.0]])
    half = (interval[1] - interval[0]) / 2
    kinks = np.abs(np.diff(slopes))[(np.array(xp) > interval[0]) & (np.array(xp) < interval[1])]
    variation = half * float(kinks.sum())
    return lambda n: 2 * variation / (math.pi * (n - 1)) if n > 1 else math.inf


def _short(value: Any) -> str:
    return f"{len(value)} values" if isinstance(value, tuple) else f"{value:g}"


def _number(value: Any, name: str) -> float:
    if isinstance(value, str | bool) or not np.isscalar(value) or np.iscomplexobj(value):
        raise ValueError(f"{name}={value!r} must be a number")
    return float(value)  # type: ignore[arg-type]


def _sequence(values: Any, name: str) -> Sequence[Any]:
    if isinstance(values, str) or not np.iterable(values):
        raise ValueError(f"{name}={values!r} must be a list of numbers")
    return list(values)


def _in_range(value: Any, name: str) -> float:
    number = _number(value, name)
    if not 0 <= number <= 2:
        raise ValueError(f"{name}={number:g} is not a frequency of L^: it must be in [0, 2]")
    return number
