"""The paper's table of complexities, measured: products, time and memory of each filter, with fitted exponents."""

from __future__ import annotations

from dfnets.studies import published, statistics
from dfnets.studies.measures.complexity import FILTERS, JACOBI, PARALLEL, P, Q
from dfnets.studies.plan import Group, Study
from dfnets.studies.results import Results
from dfnets.studies.shown import Figure, Panel, Part, Series, Table

# Large enough that the work, and not the calls around it, takes the time.
NODES, EDGES, ORDER = 200_000, 1_600_000, 8
# What is varied, and the (nodes, edges, order) of each point.
SWEEPS: dict[str, list[tuple[int, int, int]]] = {
    "edges": [(NODES, m, ORDER) for m in (400_000, 800_000, 1_600_000, 3_200_000, 6_400_000)],
    "nodes": [(n, EDGES, ORDER) for n in (50_000, 100_000, 200_000, 400_000, 800_000)],
    "nodes and edges": [(m // 8, m, ORDER) for m in (400_000, 800_000, 1_600_000, 3_200_000, 6_400_000)],
    "order": [(NODES, EDGES, k) for k in (2, 4, 8, 16, 32)],
}
PAPER = {
    "chebyshev": "Chebyshev",
    "lanczos": "Lanczos",
    "cayley": "Cayley",
    "arma-1": "ARMA1",
    "arma-parallel": "d parallel ARMA1",
    "feedback-looped": "Feedback-looped",
}


def group(filter: str, point: tuple[int, int, int]) -> Group:
    """One application of a filter, measured."""
    nodes, edges, order = point
    settings = {"filter": filter, "nodes": nodes, "edges": edges, "order": order}
    return Group(f"{filter} filter", "random graph", "one signal", overrides=settings, seeds=1, measure="complexity")


def sweeps(quick: bool) -> dict[str, list[tuple[int, int, int]]]:
    return {name: points[::2] for name, points in SWEEPS.items()} if quick else SWEEPS


def plan(quick: bool) -> list[Group]:
    points = dict.fromkeys(point for sweep in sweeps(quick).values() for point in sweep)
    return [group(filter, point) for filter in FILTERS for point in points]


def exponent(results: Results, filter: str, sweep: str, measure: str) -> statistics.Estimate | None:
    """The fitted exponent of a measurement in what a sweep varies; None where points are missing."""
    place = 2 if sweep == "order" else 0 if sweep == "nodes" else 1
    x, y = [], []
    for point in sweeps(results.quick)[sweep]:
        for run in results.of(group(filter, point)).done:
            x.append(float(point[place]))
            y.append(float(value(run.measures, measure)))
    return statistics.slope(x, y) if len(x) >= 3 else None


def value(measures: object, name: str) -> float:
    """A measurement; ``memory`` is all that is held: the operator, and what is made on the way."""
    assert isinstance(measures, dict)
    return measures["working"] + measures["held"] if name == "memory" else measures[name]


def show(results: Results) -> list[Part]:
    exponents, points = [], []
    for filter in FILTERS:
        row: list[object] = [filter]
        for sweep, measure in (
            ("edges", "seconds"),
            ("nodes", "seconds"),
            ("nodes and edges", "seconds"),
            ("order", "seconds"),
            ("order", "products"),
            ("nodes and edges", "memory"),
            ("order", "memory"),
        ):
            found = exponent(results, filter, sweep, measure)
            row.append("not run" if found is None else f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]")
        printed = next(row for row in published.table("complexity") if row["filter"] == PAPER[filter])
        exponents.append([*row, printed["time"], printed["memory"]])
        for sweep, places in sweeps(results.quick).items():
            for point in places:
                sample = results.of(group(filter, point))
                numbers: list[object] = [None] * 4
                if sample.done:
                    m = sample.done[0].measures
                    numbers = [m["products"], 1e3 * m["seconds"], m["working"] / 2**20, m["held"] / 2**20]
                points.append([filter, sweep, *point, *numbers, sample.note])
    columns = ["filter", "time / edges", "time / nodes", "time / size", "time / order", "products / order"]
    columns += ["memory / size", "memory / order", "paper: time", "paper: memory"]
    note = (
        f"Exponent e of x^e, by least squares on logarithms, with its 95 % interval. Random graphs about {NODES} nodes "
    )
    note += f"and {EDGES} edges, one signal in double precision; size: nodes and edges grow together. The order is the "
    note += (
        f"degree k, the Lanczos steps, the powers of the Cayley transform ({JACOBI} Jacobi iterations each), or the "
    )
    note += f"iterations t (p = {P}, q = {Q}; {PARALLEL} parallel recursions). In the paper's table m is the number of "
    note += "edges, but for Lanczos it writes m for the number of steps."
    return [
        Table("complexity", "Fitted exponents", columns, exponents, note),
        Figure(
            "complexity",
            "Time of one application",
            [_panel(results, sweep) for sweep in sweeps(results.quick)],
            "The fastest of 5 applications.",
        ),
        Table(
            "complexity-points",
            "What was measured",
            ["filter", "varied", "nodes", "edges", "order", "products", "ms", "working MiB", "operator MiB", "note"],
            points,
            "Working: arrays that are made on the way, at their peak; operator: the shift itself.",
        ),
    ]


def _panel(results: Results, sweep: str) -> Panel:
    place = 2 if sweep == "order" else 0 if sweep == "nodes" else 1
    series = []
    for filter in FILTERS:
        there = [
            (point[place], 1e3 * run.measures["seconds"])
            for point in sweeps(results.quick)[sweep]
            for run in results.of(group(filter, point)).done
        ]
        if there:
            series.append(Series(filter, [x for x, _ in there], [y for _, y in there]))
    return Panel(f"against {sweep}", series, x=sweep, y="ms", log=True)


STUDY = Study(
    "complexity", "Complexity of filters (table 1 of the paper)", plan, show, "3 of the 5 points of each sweep"
)
