"""How long a design takes, against the same program through CVXPY in one run; and how close each method comes."""

from __future__ import annotations

import time
from collections.abc import Callable

import cvxpy
import numpy as np
from rich.console import Console
from rich.table import Table

from dfnets import FeedbackLoopedFilter, design, responses

ROUNDS = 30


def through_cvxpy(p: int = 5, q: int = 3, gamma: float = 0.9, samples: int = 200) -> float:
    """The paper's program at the samples, as its authors solve it."""
    mu = np.linspace(0, 2, samples) - 1
    wanted = (mu + 1 >= 0.5).astype(float)
    alpha, beta = mu[:, None] ** np.arange(1, p + 1), mu[:, None] ** np.arange(q + 1)
    psi, phi = cvxpy.Variable(p), cvxpy.Variable(q + 1)
    objective = cvxpy.norm(wanted + cvxpy.multiply(wanted, alpha @ psi) - beta @ phi)
    problem = cvxpy.Problem(cvxpy.Minimize(objective), [cvxpy.norm(alpha @ psi, "inf") <= gamma])
    return float(problem.solve(solver=cvxpy.CLARABEL))


def again(f: FeedbackLoopedFilter) -> FeedbackLoopedFilter:
    """The same filter with nothing remembered of it."""
    return FeedbackLoopedFilter(f.psi, f.phi, f.centre, f.interval, target=f.target, transition=f.transition)


def main() -> None:
    wanted = responses.high_pass(0.5)
    made = design(wanted)
    made.certificate()
    ways: dict[str, Callable[[], object]] = {
        "CVXPY (Clarabel), at the samples": through_cvxpy,
        "least-squares, at the samples": lambda: design(wanted, method="least-squares", constraint="samples"),
        "least-squares, on the interval": lambda: design(wanted, method="least-squares"),
        "refit": lambda: design(wanted, method="refit"),
        "iterative": lambda: design(wanted, method="iterative"),
        "iterative, cut 0.05": lambda: design(responses.high_pass(0.05), method="iterative"),
        "iterative, cut 1.95": lambda: design(responses.high_pass(1.95), method="iterative"),
        "minimax, centre free": lambda: design(wanted, method="minimax", centre="free"),
        "certificate of a new filter": lambda: again(made).certificate(),
    }
    times: dict[str, list[float]] = {name: [] for name in ways}
    for _ in range(ROUNDS):  # interleaved, so that a busy moment falls on all of them
        for name, way in ways.items():
            start = time.perf_counter()
            way()
            times[name].append(1e3 * (time.perf_counter() - start))
    base = float(np.median(times["CVXPY (Clarabel), at the samples"]))
    table = Table("design, p=5, q=3, gamma=.9", "median ms", "quartiles", "CVXPY takes")
    for name, values in times.items():
        low, middle, high = np.percentile(values, [25, 50, 75])
        table.add_row(name, f"{middle:.2f}", f"{low:.2f} - {high:.2f}", f"{base / middle:.1f} times as long")
    console = Console(width=110)
    console.print(table)
    console.print(errors())


def errors() -> Table:
    """The largest error further than 0.1 from a cut at 1, by method, centre and gamma."""
    gammas = (0.9, 0.99)
    table = Table("largest error outside 1 +- .1", *(f"gamma {gamma:g}" for gamma in gammas))
    for method, centre in (
        ("least-squares", "middle"),
        ("refit", "middle"),
        ("iterative", "middle"),
        ("minimax", "middle"),
        ("minimax", 0.0),
        ("minimax", "free"),
    ):
        filters = [
            design(responses.high_pass(1.0), 5, 3, gamma, method=method, centre=centre)  # type: ignore[arg-type]
            for gamma in gammas
        ]
        reached = [f.certificate().errors for f in filters]
        table.add_row(f"{method}, centre {centre}", *(f"{e.linf:.3f}" if e else "pole" for e in reached))
    return table


if __name__ == "__main__":
    main()
