"""Filters under random trials: every tolerance against dense eigendecomposition, every certificate in exact arithmetic.

``python -m fuzz.filters --applications 20000 --designs 5000 --seed 0`` prints a table; status 1 if a bound was broken.
"""

from __future__ import annotations

import argparse
import sys
import time
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import numpy as np

import dfnets
from dfnets import Graph, Shift, responses
from dfnets.filters import Cost, Filter
from fuzz.harness import LONGEST, Report

APPLICATIONS, DESIGNS = 20_000, 5_000


@dataclass
class Spectrum:
    """A graph with its shift and its eigenvectors: the oracle."""

    name: str
    shift: Shift
    values: np.ndarray
    vectors: np.ndarray

    @classmethod
    def of(cls, name: str, graph: Graph) -> Spectrum:
        values, vectors = np.linalg.eigh(Shift(graph, centre=0.0).tocsr().toarray())
        return cls(name, Shift(graph), np.clip(values, 0, 2), vectors)


def graphs(rng: np.random.Generator, count: int) -> list[Spectrum]:
    """Single nodes, no edges, stars, paths, cliques, random graphs with weights from 1e-6 to 1e6, isolated nodes."""
    made = [
        Spectrum.of("one node", Graph(np.zeros((1, 1)))),
        Spectrum.of("no edges", Graph(np.zeros((5, 5)))),
        Spectrum.of("pair", Graph(np.array([[0, 1.0], [1, 0]]))),
        Spectrum.of("loop", Graph(np.array([[3.0, 1.0], [1, 0]]))),
        Spectrum.of("star", Graph.from_edges(np.zeros(399, dtype=int), np.arange(1, 400))),
        Spectrum.of("clique", Graph(np.ones((40, 40)) - np.eye(40))),
        Spectrum.of("path", dfnets.builders.path(60)),
        Spectrum.of("ring", dfnets.builders.ring(64)),
    ]
    while len(made) < count:
        n = int(rng.integers(2, 60))
        joined = np.triu(rng.random((n, n)) < rng.uniform(0.02, 0.6), 1)
        weights = joined * 10.0 ** rng.uniform(-1, 1, (n, n)) ** rng.choice([1, 3])
        if rng.random() < 0.3:
            weights[:, 0] = weights[0] = 0
        made.append(Spectrum.of(f"random-{len(made)}", Graph(weights + weights.T)))
    return made


def wanted(rng: np.random.Generator) -> responses.Response:
    """A response of any kind, narrow ones among them."""
    kind = rng.integers(6)
    cut = float(rng.uniform(0, 2))
    if kind == 0:
        return responses.low_pass(cut)
    if kind == 1:
        return responses.high_pass(cut)
    if kind == 2:
        low = float(rng.uniform(0, 1.9))
        return responses.band_pass(low, float(rng.uniform(low + 1e-3, 2)))
    if kind == 3:
        return responses.heat(float(10 ** rng.uniform(-2, 5)))
    if kind == 4:
        return responses.pagerank(float(10 ** rng.uniform(-6, 0)))
    at = np.sort(rng.choice(np.linspace(0, 2, 21), 4, replace=False))
    return responses.interpolated(at, rng.uniform(-1, 2, 4))


def random_design(rng: np.random.Generator) -> dfnets.FeedbackLoopedFilter:
    """Any response, order, gamma up to 1 - 1e-8, centre, interval and method."""
    low = float(rng.choice([0.0, rng.uniform(0, 1.8)]))
    interval = (low, 2.0) if rng.random() < 0.6 else (low, min(2.0, low + float(10 ** rng.uniform(-4, 0))))
    method = str(rng.choice(["least-squares", "refit", "iterative"], p=[0.4, 0.4, 0.2]))
    gamma = float(rng.choice([rng.uniform(0.05, 0.99), 1 - 10 ** rng.uniform(-8, -1)]))
    centre: Any = "middle" if rng.random() < 0.6 else float(rng.uniform(0, 2))
    p, q = int(rng.integers(1, 9)), int(rng.integers(0, 9))
    return dfnets.design(wanted(rng), p, q, gamma, method=method, centre=centre, interval=interval)  # type: ignore[arg-type]


def random_filter(rng: np.random.Generator) -> Filter:
    """A filter of any family for every graph."""
    kind = rng.integers(7)
    if kind <= 1:
        gamma = float(rng.choice([rng.uniform(0.05, 0.99), 1 - 10 ** rng.uniform(-7, -1)]))
        method = str(rng.choice(["least-squares", "refit"]))
        orders = int(rng.integers(1, 7)), int(rng.integers(0, 7))
        return dfnets.design(wanted(rng), *orders, gamma, method=method)  # type: ignore[arg-type]
    if kind == 2:
        coefficients = rng.standard_normal(int(rng.integers(1, 5))) * 10.0 ** rng.uniform(-2, 1)
        return dfnets.FeedbackLoopedFilter(coefficients, rng.standard_normal(3) * 10 ** rng.uniform(-2, 4))
    if kind == 3:
        return dfnets.LanczosFilter(wanted(rng), steps=int(rng.integers(1, 30)) if rng.random() < 0.3 else None)
    if kind == 4:
        theta = rng.standard_normal(int(rng.integers(1, 5))) + 1j * rng.standard_normal()
        theta[0] = theta[0].real
        return dfnets.CayleyFilter(theta, zoom=float(10 ** rng.uniform(-2, 3)))
    if kind == 5:
        count = int(rng.integers(1, 4))
        poles = (1 + 10 ** rng.uniform(-5, 1, count)) * np.exp(1j * rng.choice([0, np.pi, rng.uniform(0, 6)], count))
        return dfnets.ArmaFilter(rng.standard_normal(count) * np.abs(poles), poles)
    return dfnets.ChebyshevFilter(rng.standard_normal(int(rng.integers(1, 80))) * 10 ** rng.uniform(-2, 3))


def signal(rng: np.random.Generator, spectrum: Spectrum) -> np.ndarray:
    """Noise, an eigenvector (the smoothest one often), a constant or a spike; one column or three, either precision."""
    n = spectrum.shift.num_nodes
    columns = [rng.standard_normal(n), spectrum.vectors[:, 0], spectrum.vectors[:, -1], np.ones(n), np.eye(1, n)[0]]
    picked = [columns[i] * 10.0 ** rng.uniform(-6, 6) for i in rng.integers(0, 5, int(rng.choice([1, 3])))]
    x = np.stack(picked, axis=1)
    x = x[:, 0] if x.shape[1] == 1 else x
    return x.astype(np.float32) if rng.random() < 0.4 else x


def application(rng: np.random.Generator, f: Filter, spectrum: Spectrum, report: Report) -> None:
    """One call of apply: it keeps its bound, or it refuses in words."""
    x = signal(rng, spectrum)
    least = -7 if x.dtype == np.float32 else -12
    tol = float(10 ** rng.uniform(least, -1))
    costs = f.costs(tol, spectrum.shift.interval)
    method = str(rng.choice(["auto", *[name for name, cost in costs.items() if isinstance(cost, Cost)]]))
    started = time.process_time()
    try:
        done = f.apply(spectrum.shift, x, tol=tol, method=method, max_products=5_000, details=True)
    except ValueError:
        report.refused += 1
        return
    finally:
        if time.process_time() - started > LONGEST:
            report.failures.append(f"{f!r} on {spectrum.name} by {method} at {tol:.2g} took over {LONGEST:g} s")
    error, unsure = _error(f, spectrum, x, done.signal)
    fixed = isinstance(f, dfnets.LanczosFilter) and f.steps is not None
    # Written so that a bound that is no number is broken.
    if not (error <= done.error + unsure and (fixed or done.error <= tol * (1 + 1e-9))):
        report.failures.append(
            f"{f!r} on {spectrum.name} by {done.method}, {x.dtype}: tol {tol:.3g}, claimed {done.error:.3g}, "
            f"true {error:.3g} (known to {unsure:.2g})"
        )


def _error(f: Filter, spectrum: Spectrum, x: np.ndarray, y: np.ndarray) -> tuple[float, float]:
    """The true error relative to norm(x), and how far the eigendecomposition can be trusted."""
    n = spectrum.shift.num_nodes
    columns, result = (np.asarray(part, dtype=np.float64).reshape(n, -1) for part in (x, y))
    gains = f.response(spectrum.values)
    # An eigenvalue is off by a few units; a steep response makes that more.
    near = [f.response(np.clip(spectrum.values + step, 0, 2)) for step in (-1e-14, 1e-14)]
    slope = max(float(np.abs(other - gains).max()) for other in near)
    expected = spectrum.vectors @ (gains[:, None] * (spectrum.vectors.T @ columns))
    sizes = np.linalg.norm(columns, axis=0)
    errors = np.linalg.norm(result - expected, axis=0) / np.where(sizes > 0, sizes, 1)
    return float(errors.max()), 2 * slope + 2e-15 * n**0.5 * float(np.abs(gains).max()) * 8


def certificate(rng: np.random.Generator, report: Report) -> None:
    """One design: its certificate holds at the worst points of a grid, evaluated in exact rational arithmetic."""
    started = time.process_time()
    try:
        f = random_design(rng)
    except ValueError:
        report.refused += 1
        return
    found = f.certificate()
    if time.process_time() - started > LONGEST:
        report.failures.append(f"{f!r} took over {LONGEST:g} s")
    grid = np.unique(np.clip(_grid(f.interval), *f.interval))
    feedback, gains = f.feedback(grid), f.response(grid)
    target = f.target
    assert target is not None
    off = np.abs(gains - target(grid))
    outside = np.zeros(len(grid), dtype=bool)
    for low, high in target.bands(f.interval, f.transition):
        outside |= (grid > low) & (grid < high)
    worst = [np.argmax(feedback), np.argmin(feedback), np.argmax(np.abs(gains)), np.argmax(np.where(outside, off, -1))]
    broken = [] if f.certificate().contraction <= f.provenance["gamma"] else ["|P| is not within gamma"]
    for i in worst:
        top, bottom = _exact(f, float(grid[i]))
        if not found.denominator[0] <= bottom <= found.denominator[1] or abs(1 - bottom) > found.contraction:
            broken.append(f"1 - P = {float(bottom)!r} at {grid[i]!r}")
        if bottom and abs(top / bottom) > found.gain:
            broken.append(f"gain {float(top / bottom)!r} at {grid[i]!r}")
        wrong = abs(top / bottom - Fraction(float(target(grid[i])))) if bottom else Fraction(0)
        if found.errors is not None and found.errors.proved and outside[i] and wrong > found.errors.linf + 1e-15:
            broken.append(f"error {float(wrong)!r} at {grid[i]!r}, certified {found.errors.linf!r}")
    if broken:
        report.failures.append(f"psi={f.psi.tolist()} phi={f.phi.tolist()} centre={f.centre!r}: {'; '.join(broken)}")


def _grid(interval: tuple[float, float]) -> np.ndarray:
    low, high = interval
    return (low + high) / 2 + (high - low) / 2 * np.cos(np.linspace(0, np.pi, 3001))


def _exact(f: dfnets.FeedbackLoopedFilter, frequency: float) -> tuple[Fraction, Fraction]:
    """Q and 1 - P at a frequency, without rounding."""
    mu = Fraction(frequency) - Fraction(f.centre)

    def horner(coefficients: np.ndarray) -> Fraction:
        total = Fraction(0)
        for c in reversed(coefficients.tolist()):
            total = total * mu + Fraction(c)
        return total

    return horner(f.phi), horner(np.concatenate([[1.0], f.psi]))


def run_applications(seed: int, count: int) -> Report:
    """Applications of one filter in 20 trials, each on another graph."""
    rng = np.random.default_rng(seed)
    report, started = Report("filters applied", trials=count), time.monotonic()
    pool = graphs(rng, 8 if count < 1000 else 40)
    f: Filter | None = None
    for trial in range(count):
        if f is None or trial % 20 == 0:
            f = random_filter(rng)
        application(rng, f, pool[int(rng.integers(len(pool)))], report)
    report.seconds = time.monotonic() - started
    return report


def run_designs(seed: int, count: int) -> Report:
    """Designs with certificates."""
    rng = np.random.default_rng(seed + 1)
    report, started = Report("designs with certificates", trials=count), time.monotonic()
    for _ in range(count):
        certificate(rng, report)
    report.seconds = time.monotonic() - started
    return report


def run(seed: int, scale: float) -> Iterator[Report]:
    """Both parts, at a share of the full number of trials."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        yield run_applications(seed, max(1, round(APPLICATIONS * scale)))
        yield run_designs(seed, max(1, round(DESIGNS * scale)))


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m fuzz.filters", description=__doc__)
    parser.add_argument("--applications", type=int, default=APPLICATIONS)
    parser.add_argument("--designs", type=int, default=DESIGNS)
    parser.add_argument("--seed", type=int, default=0)
    options = parser.parse_args()
    reports = [run_applications(options.seed, options.applications), run_designs(options.seed, options.designs)]
    for report in reports:
        print(report.line())
        for failure in report.failures[:20]:
            print(f"    {failure}")
    sys.exit(1 if any(report.failures for report in reports) else 0)


if __name__ == "__main__":
    main()
