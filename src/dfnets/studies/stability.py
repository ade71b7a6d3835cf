"""The paper's theory, measured: contraction, iterations against the bound, spectra of the four graphs under P."""

from __future__ import annotations

from typing import Any

from dfnets.studies import published
from dfnets.studies.measures.stability import TOLERANCES
from dfnets.studies.plan import PAPER_DATASETS, Group, Study
from dfnets.studies.results import Results
from dfnets.studies.shown import Figure, Panel, Part, Series, Table, Text

GAMMAS = (0.5, 0.7, 0.9, 0.95, 0.99)
# The filters: the paper's high-pass, as its text and as its code have it, and the low-pass that its graphs ask for.
FILTERS: dict[str, dict[str, Any]] = {
    "high-pass": {"response": "high-pass", "cut": 0.5},
    "low-pass": {"response": "low-pass", "cut": 0.5},
    "high-pass, the authors' code": {"response": "high-pass", "cut": 0.5, "convention": "published"},
}
PUBLISHED = "high-pass, the authors' code"


def group(filter: str, dataset: str, gamma: float) -> Group:
    """A filter on a graph, measured."""
    settings = {**FILTERS[filter], "gamma": gamma}
    return Group(f"{filter} filter", dataset, "one signal", overrides=settings, seeds=1, measure="stability")


def cases(quick: bool) -> list[tuple[str, str, float]]:
    graphs = PAPER_DATASETS[:2] if quick else PAPER_DATASETS
    return [(f, d, g) for d in graphs for f in FILTERS for g in (GAMMAS if f != PUBLISHED else (0.9,))]


def plan(quick: bool) -> list[Group]:
    return [group(*case) for case in cases(quick)]


def measured(results: Results, case: tuple[str, str, float]) -> dict[str, Any] | None:
    """What was measured of a case, if it was."""
    done = results.of(group(*case)).done
    return dict(done[0].measures) if done else None


def show(results: Results) -> list[Part]:
    rows, products = [], []
    spectra: dict[str, dict[tuple[str, float], dict[str, Any]]] = {}
    for case in cases(results.quick):
        m = measured(results, case)
        if m is None:
            note = results.of(group(*case)).note
            rows.append([*case, *[None] * 11, note])
            products.append([*case, None, None, None, note])
            continue
        pairs = [
            number for bound, needed in zip(m["bound"], m["iterations"], strict=True) for number in (bound, needed)
        ]
        rows.append([*case, m["universal"], m["contraction"], m["radius"], m["error"], m["rms"], *pairs, ""])
        products.append([*case, m["recursion"], m["cheapest"], m["method"], ""])
        spectra.setdefault(case[1], {})[case[0], case[2]] = m
    tolerances = [name for tol in TOLERANCES for name in (f"bound, {tol:g}", f"needed, {tol:g}")]
    columns = ["filter", "graph", "gamma", "max|P| on [0, 2]", "max|P| on the graph", "on its spectrum"]
    columns += ["largest error", "rms error", *tolerances, "note"]
    return [
        Text(
            f"Filters with p = 5 and q = 3 that were designed once for [0, 2] and are applied to every graph. Bound: "
            f"the iterations that the certificate predicts on the graph's interval; needed: those that a random signal "
            f"took to come within {', '.join(f'{tol:g}' for tol in TOLERANCES)} of its limit, relative to the "
            f"signal. A gap there means that the loop diverges. Errors are against the wanted response, ±0.1 about its "
            f"jump left out."
        ),
        Table("stability", "Contraction, and iterations against the bound", columns, rows),
        _spectra(spectra),
        Table(
            "stability-products",
            "Products for a tolerance of 1e-6",
            ["filter", "graph", "gamma", "recursion", "cheapest", "by", "note"],
            products,
            "Predicted products with the shift: by the recursion, and by the cheapest of recursion, conjugate "
            "gradients and the Chebyshev expansion of the same response.",
        ),
        _graphs(results),
    ]


def _spectra(spectra: dict[str, dict[tuple[str, float], dict[str, Any]]]) -> Figure:
    panels = []
    for dataset, found in spectra.items():
        some = next(iter(found.values()))
        series = [Series("share of the spectrum", some["frequencies"], some["spectrum"], kind="bar")]
        series += [
            Series(f"P, {filter}", m["frequencies"], [max(-2.0, min(2.0, value)) for value in m["feedback"]])
            for (filter, gamma), m in found.items()
            if gamma == 0.9
        ]
        panels.append(Panel(dataset, series, x="frequency of L^", y="P, cut at ±2"))
    return Figure("spectra", "Where the spectra lie, and P there (gamma 0.9)", panels)


def _graphs(results: Results) -> Table:
    rows = []
    for row in published.table("datasets"):
        m = measured(results, ("high-pass", row["dataset"], 0.9))
        ours = (
            [None] * 7
            if m is None
            else [m[k] for k in ("nodes", "edges", "classes", "features", "ritz", "lmax", "proved")]
        )
        printed = [int(row[name]) for name in ("nodes", "edges", "classes", "features")]
        rows.append([row["dataset"], *printed, *ours, "" if m else "not run"])
    columns = ["graph", *(f"paper: {name}" for name in ("nodes", "edges", "classes", "features"))]
    columns += ["nodes", "edges", "classes", "features", "largest Ritz value", "certified", "proved", "note"]
    note = "The frequencies of L^: the largest Ritz value seen, a bound that holds with probability 1 - 1e-10, and the "
    note += "proved bound 2 - 2 / d_max. `dfnets data list` says why counts differ from the paper's."
    return Table("datasets", "The graphs (table 2 of the paper)", columns, rows, note)


STUDY = Study("stability", "Convergence and stability (section 3.4 of the paper)", plan, show, "Cora and Citeseer only")
