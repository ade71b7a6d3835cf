"""The paper's theory, measured: contraction, iterations against the bound, spectra of the four graphs under P."""

from __future__ import annotations

from typing import Any

from dfnets.studies.analysing.measurements import stability_of
from dfnets.studies.analysing.results import Results
from dfnets.studies.planning import paper_tables
from dfnets.studies.running.measures.stability import TOLERANCES
from dfnets.studies.showing.document import Figure, Panel, Part, Series, Table, Text


def show(results: Results) -> list[Part]:
    """Contraction, iterations against their bound, spectra, products, and the graphs themselves."""
    rows, products = [], []
    spectra: dict[str, dict[tuple[str, float], dict[str, Any]]] = {}
    for case in results.plan.stability.cases():
        m = stability_of(results, case)
        if m is None:
            note = results.of(results.plan.stability.group(*case)).note
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
    for row in paper_tables.table("datasets"):
        m = stability_of(results, ("high-pass", row["dataset"], 0.9))
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
