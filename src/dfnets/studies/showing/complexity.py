"""The paper's table of complexities, measured: products, time and memory of each filter, with fitted exponents."""

from __future__ import annotations

from dfnets.studies.analysing.measurements import PLACES, cost_exponent
from dfnets.studies.analysing.results import Results
from dfnets.studies.planning import paper_tables
from dfnets.studies.planning.complexity import EDGES, FILTERS, NODES
from dfnets.studies.running.measures.complexity import JACOBI, PARALLEL, P, Q
from dfnets.studies.showing.document import Figure, Panel, Part, Series, Table

COLUMNS = ["filter", "time / edges", "time / nodes", "time / size", "time / order", "products / order"]
COLUMNS += ["memory / size", "memory / order", "paper: time", "paper: memory"]
NOTE = (
    "Exponent e of x^e, by least squares on logarithms, with its 95 % interval. Random graphs about "
    f"{NODES} nodes and {EDGES} edges, one signal in double precision; size: nodes and edges grow together. The order "
    f"is the degree k, the Lanczos steps, the powers of the Cayley transform ({JACOBI} Jacobi iterations each), or the "
    f"iterations t (p = {P}, q = {Q}; {PARALLEL} parallel recursions). In the paper's table m is the number of edges, "
    "but for Lanczos it writes m for the number of steps."
)


def show(results: Results) -> list[Part]:
    """Fitted exponents beside the paper's, and the measurements behind them."""
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
            found = cost_exponent(results, filter, sweep, measure)
            row.append("not run" if found is None else f"{found.mean:.2f} [{found.low:.2f}, {found.high:.2f}]")
        printed = next(row for row in paper_tables.table("complexity") if row["filter"] == FILTERS[filter])
        exponents.append([*row, printed["time"], printed["memory"]])
        for sweep, places in results.plan.complexity.sweeps().items():
            for point in places:
                sample = results.of(results.plan.complexity.group(filter, point))
                numbers: list[object] = [None] * 4
                if sample.done:
                    m = sample.done[0].measures
                    numbers = [m["products"], 1e3 * m["seconds"], m["working"] / 2**20, m["held"] / 2**20]
                points.append([filter, sweep, *point, *numbers, sample.note])
    return [
        Table("complexity", "Fitted exponents", COLUMNS, exponents, NOTE),
        Figure(
            "complexity",
            "Time of one application",
            [_panel(results, sweep) for sweep in results.plan.complexity.sweeps()],
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
    place = PLACES[sweep]
    series = []
    for filter in FILTERS:
        points = [
            (point[place], 1e3 * run.measures["seconds"])
            for point in results.plan.complexity.sweeps()[sweep]
            for run in results.of(results.plan.complexity.group(filter, point)).done
        ]
        if points:
            series.append(Series(filter, [x for x, _ in points], [y for _, y in points]))
    return Panel(f"against {sweep}", series, x=sweep, y="ms", log=True)
