"""Designing a feedback-looped filter: the paper's convex program, and three ways to do better.

With mu = frequency - centre, the filter is Q / (1 - P) for P = -sum_{j>=1} psi_j mu^j and Q = sum_j phi_j mu^j. All
work is done in a Chebyshev basis of the interval: 1 - P = 1 + sum_j a_j (T_j - T_j(centre)), j = 1 .. p, and
Q = sum_j b_j T_j.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
from numpy.polynomial.chebyshev import chebder, chebvander

from dfnets.filters import minimax
from dfnets.filters.bounds import EPS
from dfnets.filters.checks import check_choice, check_orders, checked_interval
from dfnets.filters.feedback import FeedbackLoopedFilter
from dfnets.filters.polynomials import Interval, from_unit, in_powers, to_unit, zeros_and_ends
from dfnets.filters.program import Program
from dfnets.responses import Function, Response, as_response

Method = Literal["least-squares", "refit", "iterative", "minimax"]
METHODS = ("least-squares", "refit", "iterative", "minimax")
# Where the iterative design stops at the latest; most settle in fewer.
MOST_REWEIGHTINGS, MOST_STEPS = 12, 20


def design(
    response: Response | Function,
    p: int = 5,
    q: int = 3,
    gamma: float | None = 0.9,
    *,
    method: Method | None = None,
    convention: Literal["consistent", "published"] = "consistent",
    centre: Literal["middle", "free"] | float = "middle",
    interval: Interval = (0.0, 2.0),
    constraint: Literal["interval", "samples"] = "interval",
    samples: int = 200,
    transition: float = 0.1,
) -> FeedbackLoopedFilter:
    """A feedback-looped filter whose response is close to the one that is wanted.

    Args:
        response: what is wanted, from :mod:`dfnets.responses` or any callable of the frequency.
        p, q: degrees of the feedback and the feedforward polynomial; p >= 1, q >= 0.
        gamma: the bound on |P|, 0 < gamma < 1: the contraction of the recursion. ``minimax`` also takes None, and then
            only keeps poles out of the interval.
        method: one of these; ``"iterative"`` unless the convention is ``"published"``, which is ``"least-squares"``:

            * ``"least-squares"``: the paper's, min |h (1 - P) - Q|, which is not the error of the filter;
            * ``"refit"``: the same P, then the best Q in the true error |h - Q / (1 - P)|;
            * ``"iterative"``: the true error in P and Q, by reweighting and then Gauss-Newton steps; never worse than
              the two before;
            * ``"minimax"``: the smallest possible largest error outside the transition band.
        convention: ``"consistent"`` designs where the filter will act. ``"published"`` is the authors' code: designed
            in powers of mu in [0, 2], P / mu bounded instead of P, then applied to L^ - I, where mu runs over [-1, 1].
            The result is unstable; it is here to reproduce their figures.
        centre: where P is zero. ``"middle"`` of the interval is scaled-normalization; ``"free"`` (minimax only) lets
            the design choose.
        interval: the frequencies that the filter must serve; [0, 2] serves every graph.
        constraint: |P| <= gamma on the whole ``"interval"``, or only at the ``"samples"`` (the paper).
        samples: how many evenly spaced frequencies carry the error (not of ``minimax``, which has its own grid).
        transition: half-width of the band about each jump of the response that a minimax design and the certificate
            leave out; 0.1 by default.

    >>> from dfnets import responses
    >>> design(responses.high_pass(0.5), p=5, q=3, gamma=0.9)
    FeedbackLoopedFilter(p=5, q=3, centre=1, interval=[0, 2], max|P|=0.9)
    """
    wanted = as_response(response)
    interval = _checked_interval(interval)
    if method is None:
        method = "least-squares" if convention == "published" else "iterative"
    check_orders(p, q, samples)
    check_choice("method", method, METHODS)
    check_choice("convention", convention, ("consistent", "published"))
    check_choice("constraint", constraint, ("interval", "samples"))
    bound = _checked_gamma(gamma, method)
    if not 0 <= transition < np.inf:
        raise ValueError(f"transition={transition:g} must be a finite half-width, not negative")

    def finished(psi: np.ndarray, phi: np.ndarray, centre: float, objective: float) -> FeedbackLoopedFilter:
        record = {"method": method, "convention": convention, "constraint": constraint, "gamma": gamma}
        record |= {"samples": samples, "objective": objective}
        if gamma is not None and (constraint == "interval" or method == "minimax") and convention == "consistent":
            psi = _within(gamma, psi, phi, centre, interval)
        return FeedbackLoopedFilter(psi, phi, centre, interval, target=wanted, transition=transition, provenance=record)

    if convention == "published":
        if method != "least-squares" or centre != "middle" or interval != (0.0, 2.0):
            raise ValueError(
                "convention='published' is the authors' code as it is: method='least-squares', centre='middle' and "
                f"interval=(0, 2), not {method!r}, {centre!r} and {interval!r}"
            )
        problem = Problem(wanted, p, q, bound, 0.0, interval, samples, "published")
        a, b = problem.least_squares()
        return finished(*problem.coefficients(a, b), 1.0, problem.linear_error(a, b))
    if method == "minimax":
        free = None if centre == "free" else _centre(centre, interval)
        about = sum(interval) / 2 if free is None else free
        near = Problem(wanted, p, q, 0.99 if gamma is None else gamma, about, interval, samples, "interval").start()
        return finished(*minimax.solve(wanted, p, q, gamma, free, interval, transition, near))
    c = _centre(centre, interval)
    problem = Problem(wanted, p, q, bound, c, interval, samples, constraint)
    a, b = problem.least_squares()
    if method == "least-squares":
        return finished(*problem.coefficients(a, b), c, problem.linear_error(a, b))
    a, b = (a, problem.refit(a)) if method == "refit" else problem.iterate(a, b)
    return finished(*problem.coefficients(a, b), c, problem.true_error(a, b))


@dataclass
class Problem:
    """One design in its Chebyshev basis: unknowns a (p,) of the denominator and b (q + 1,) of the numerator.

    ``constraint`` is where |P| <= gamma shall hold: ``"interval"``, ``"samples"``, or ``"published"``, which bounds
    sum_j psi_j mu^(j-1) at the samples as the authors' code does.
    """

    response: Response
    p: int
    q: int
    gamma: float
    centre: float
    interval: Interval
    samples: int
    constraint: str

    def __post_init__(self) -> None:
        self.frequencies = np.linspace(*self.interval, self.samples)
        self.wanted = self.response(self.frequencies)
        self.denominators = self._feedback_rows(self.frequencies)
        self.numerators = chebvander(to_unit(self.frequencies, self.interval), self.q)
        # A start for the exchange; what is violated beyond these rows joins them.
        nodes = np.cos(np.pi * np.arange(8 * self.p + 1) / (8 * self.p))
        self.binding = np.zeros((0, self.p))
        if self.constraint == "interval":
            self.bounded = self._feedback_rows(from_unit(nodes, self.interval))
        else:
            self.candidates = self.denominators
            if self.constraint == "published":
                to_psi = in_powers(self.p, self.interval, self.centre)[1:, 1:]
                self.candidates = np.vander(self.frequencies - self.centre, self.p, increasing=True) @ to_psi.T
            self.bounded = self.candidates[np.unique(np.rint((nodes + 1) / 2 * (self.samples - 1)).astype(int))]

    def _feedback_rows(self, frequencies: np.ndarray) -> np.ndarray:
        """(k, p): T_j(frequency) - T_j(centre), j = 1 .. p, so that -P = rows @ a."""
        at, centre = to_unit(frequencies, self.interval), to_unit(self.centre, self.interval)
        return (chebvander(at, self.p) - chebvander(centre, self.p))[:, 1:]

    def coefficients(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """psi (p,) and phi (q + 1,) of the powers of (frequency - centre)."""
        to_powers = in_powers(max(self.p, self.q), self.interval, self.centre)
        return a @ to_powers[1 : self.p + 1, 1 : self.p + 1], b @ to_powers[: self.q + 1, : self.q + 1]

    def start(self) -> tuple[np.ndarray, np.ndarray]:
        """1 - P and Q of the refit, as Chebyshev coefficients: where a minimax design may begin."""
        a, _ = self.least_squares()
        at_centre = chebvander(to_unit(self.centre, self.interval), self.p).ravel()[1:]
        return np.concatenate([[1 - at_centre @ a], a]), self.refit(a)

    def linear_error(self, a: np.ndarray, b: np.ndarray) -> float:
        """|h (1 - P) - Q|_2 over the samples: what the paper minimises."""
        return float(np.linalg.norm(self.wanted * (1 + self.denominators @ a) - self.numerators @ b))

    def residual(self, a: np.ndarray, b: np.ndarray) -> np.ndarray:
        return self.wanted - self.numerators @ b / (1 + self.denominators @ a)

    def true_error(self, a: np.ndarray, b: np.ndarray) -> float:
        """Root mean square of h - Q / (1 - P) over the samples: what a user sees."""
        return float(np.sqrt(np.mean(self.residual(a, b) ** 2)))

    def constrained(
        self, r: np.ndarray, m: np.ndarray, n: np.ndarray, slack: float = 1e-10
    ) -> tuple[np.ndarray, np.ndarray]:
        """min |r + m a - n b| with |P| <= gamma where the constraint says so, by exchange.

        Solve for the rows at hand, add every peak of |P| that breaks the bound, until none does by more than ``slack``.
        What is left is scaled away, so that the bound holds as stated. The peaks that bind are kept for the next
        program, which differs little from this one; all that were ever met would be thousands.
        """
        program = Program(r, m, n)
        bounded = np.vstack([self.bounded, self.binding])
        for round_ in range(25):
            a = program.bounded(bounded, self.gamma)
            rows = self._peaks(a)
            values = np.abs(rows @ a)
            # Where rounding keeps a peak above the bound, more rounds would only add copies of it.
            broken = rows[values > self.gamma * (1 + slack * 4.0 ** min(max(0, round_ - 4), 6))]
            if not len(broken):
                break
            bounded = np.vstack([bounded, broken])
        self.binding = rows[values > self.gamma * (1 - 1e-3)]
        a = a * min(1.0, self.gamma * (1 - 1e-15) / values.max(initial=1e-300))
        return a, program.free(a)

    def _peaks(self, a: np.ndarray) -> np.ndarray:
        """The rows at which the bounded quantity is extreme: zeros of P' and both ends, or the peaks at the samples."""
        if self.constraint == "interval":
            points = zeros_and_ends(chebder(np.concatenate([[0.0], a])))
            return self._feedback_rows(from_unit(points, self.interval))
        values = np.pad(np.abs(self.candidates @ a), 1)
        return self.candidates[(values[1:-1] >= values[:-2]) & (values[1:-1] >= values[2:])]

    def least_squares(self) -> tuple[np.ndarray, np.ndarray]:
        return self.constrained(self.wanted, self.wanted[:, None] * self.denominators, self.numerators)

    def refit(self, a: np.ndarray) -> np.ndarray:
        """The numerator that is best in the true error for this denominator: a plain least squares problem."""
        weighted = self.numerators / (1 + self.denominators @ a)[:, None]
        return np.linalg.lstsq(weighted, self.wanted, rcond=None)[0]

    def iterate(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        """Reweighting (Sanathanan and Koerner) from the least-squares solution, then Gauss-Newton on the true error.

        Reweighting by the last denominator can cycle or blow up, so the best iterate is kept; Gauss-Newton then
        descends from it. It starts from the refit as well: reweighting may leave its neighbourhood for a worse one.
        """
        refitted = (a, self.refit(a))
        seen = [(self.true_error(a, b), (a, b)), (self.true_error(*refitted), refitted)]
        for _ in range(MOST_REWEIGHTINGS):
            weight = 1 / (1 + self.denominators @ a)
            wanted = weight * self.wanted
            a, _ = self.constrained(
                wanted, wanted[:, None] * self.denominators, weight[:, None] * self.numerators, 1e-4
            )
            found = (a, self.refit(a))
            error = self.true_error(*found)
            settled = any(abs(error - before) <= 1e-4 * error for before, _ in seen)
            seen.append((error, found))
            if settled:
                break
        best = min(seen, key=lambda entry: entry[0])[1]
        ends = [self._gauss_newton(*start) for start in ((best,) if best is refitted else (best, refitted))]
        return min([best, *ends], key=lambda ab: self.true_error(*ab))

    def _gauss_newton(self, a: np.ndarray, b: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        error = self.true_error(a, b)
        for _ in range(MOST_STEPS):
            denominator = 1 + self.denominators @ a
            ratio = self.numerators @ b / denominator
            m = (ratio / denominator)[:, None] * self.denominators
            n = self.numerators / denominator[:, None]
            goal_a, goal_b = self.constrained(self.residual(a, b) - m @ a + n @ b, m, n, 1e-4)
            # Any point between two feasible ones is feasible, so a shorter step keeps the bound.
            for length in 0.5 ** np.arange(12):
                step_a, step_b = a + length * (goal_a - a), b + length * (goal_b - b)
                trial = self.true_error(step_a, step_b)
                if trial < error:
                    break
            else:
                return a, b
            gain = error - trial
            a, b, error = step_a, step_b, trial
            if gain <= 5e-5 * error:
                return a, b
        return a, b


def _within(gamma: float, psi: np.ndarray, phi: np.ndarray, centre: float, interval: Interval) -> np.ndarray:
    """psi shrunk by the hair that makes |P| <= gamma provable, for the coefficients as they are stored."""
    for shrink in (4 * EPS, 1e-12, 1e-10, 1e-8, 1e-6, 0.0):
        reached = FeedbackLoopedFilter(psi, phi, centre, interval).ranges(interval).contraction
        if reached <= gamma:
            break
        psi = psi * (gamma / reached * (1 - shrink))
    return psi


def _centre(centre: Any, interval: Interval) -> float:
    if centre == "middle":
        return (interval[0] + interval[1]) / 2
    if centre == "free":
        raise ValueError("centre='free' is possible with method='minimax' only; give a frequency or 'middle'")
    if isinstance(centre, str) or not 0 <= centre <= 2:
        raise ValueError(f"centre={centre!r}: it takes 'middle', 'free' or a frequency in [0, 2]")
    return float(centre)


def _checked_gamma(gamma: float | None, method: str) -> float:
    if gamma is None and method == "minimax":
        return math.nan
    if gamma is None:
        raise ValueError("gamma=None (no bound) is possible with method='minimax' only; give 0 < gamma < 1")
    if not 0 < gamma < 1:
        raise ValueError(f"gamma={gamma:g} must lie between 0 and 1: the recursion converges only if |P| <= gamma < 1")
    return float(gamma)


def _checked_interval(interval: Any) -> Interval:
    low, high = checked_interval(interval)
    if low == high:
        raise ValueError(f"interval={interval!r} is a single frequency: a design needs 0 <= low < high <= 2")
    return low, high
