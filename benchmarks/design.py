"""How long a design takes, against the same program through CVXPY, side by side in one run."""

from __future__ import annotations

import time
from collections.abc import Callable

import cvxpy
import numpy as np
from rich.console import Console
from rich.table import Table

from dfnets import design, responses

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


def main() -> None:
    wanted = responses.high_pass(0.5)
    ways: dict[str, Callable[[], object]] = {
        "CVXPY (Clarabel), at the samples": through_cvxpy,
        "least-squares, at the samples": lambda: design(wanted, constraint="samples"),
        "least-squares, on the interval": lambda: design(wanted),
        "refit": lambda: design(wanted, method="refit"),
        "iterative": lambda: design(wanted, method="iterative"),
        "minimax, centre free": lambda: design(wanted, method="minimax", centre="free"),
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
    Console(width=110).print(table)


if __name__ == "__main__":
    main()
