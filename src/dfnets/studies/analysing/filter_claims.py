"""What decides the paper's claims about filters: stability, frequencies, convergence, cost."""

from __future__ import annotations

import itertools
from collections.abc import Callable
from typing import Any

from dfnets.studies.analysing.measurements import cost_exponent, stability_of
from dfnets.studies.analysing.results import Results
from dfnets.studies.analysing.verdicts import HOLDS, MISSING, REFUTED, UNDECIDED, Finding, all_of
from dfnets.studies.planning import stability
from dfnets.studies.planning.group import PAPER_DATASETS
from dfnets.studies.running.measures.complexity import P, Q

LINEAR = (0.8, 1.2)
# An exponent whose interval is wider than this to either side says nothing.
CLEAR = 0.5


def consistent(results: Results) -> list[tuple[stability.Case, dict[str, Any] | None]]:
    """What was measured of every filter whose |P| is bounded where it acts; None where it was not."""
    cases = [case for case in stability.cases() if case[0] != stability.AUTHORS_CODE]
    return [(case, stability_of(results, case)) for case in cases]


def converges(results: Results) -> Finding:
    """Whether the iterations that were needed are within those that the certificate predicts."""
    verdicts: list[bool | None] = []
    most = 0.0
    for _, m in consistent(results):
        if m is None:
            verdicts.append(None)
            continue
        pairs = list(zip(m["bound"], m["iterations"], strict=True))
        kept = all(bound is not None and needed is not None and needed <= bound for bound, needed in pairs)
        verdicts.append(kept)
        most = max([most, *(needed / bound for bound, needed in pairs if bound and needed)])
    kept_count = sum(verdict is True for verdict in verdicts)
    text = (
        f"within the bound for {kept_count} of {len(verdicts)} filters and graphs; at most {most:.0%} of it was needed"
    )
    return Finding(all_of(verdicts), text)


def on_each_graph(
    title: str, kind: str, holds: Callable[[dict[str, Any]], bool], describe: Callable[[dict[str, Any]], str]
) -> Callable[[Results], Finding]:
    """Whether something holds of the filter of a kind, designed with gamma = 0.9, on every dataset of the paper.

    Args:
        title: comes before the descriptions of the graphs.
        holds, describe: of what :mod:`dfnets.studies.running.measures.stability` measured on a graph.
    """

    def check(results: Results) -> Finding:
        """Measures the claim on every graph."""
        found = {dataset: stability_of(results, (kind, dataset, 0.9)) for dataset in PAPER_DATASETS}
        words = [f"{dataset}: {'not run' if m is None else describe(m)}" for dataset, m in found.items()]
        return Finding(all_of([None if m is None else holds(m) for m in found.values()]), title + "; ".join(words))

    return check


code_is_stable = on_each_graph(
    "max|P| of the authors' filter: ",
    stability.AUTHORS_CODE,
    lambda m: m["contraction"] < 1,
    lambda m: f"{m['contraction']:.3g}",
)
frequencies = on_each_graph(
    "L~ = L^ - (lmax / 2) I: ",
    "high-pass",
    lambda m: -m["lmax"] / 2 >= 0,
    lambda m: f"from {-m['lmax'] / 2:.3f} to {m['lmax'] / 2:.3f}",
)
radius = on_each_graph(
    "",
    "high-pass",
    lambda m: m["lmax"] / 2 < m["ritz"],
    lambda m: f"{m['lmax'] / 2:.3f} instead of {m['ritz']:.3f}",
)
fast = on_each_graph(
    "products for 1e-6 at gamma 0.9: ",
    "high-pass",
    lambda m: m["recursion"] <= m["cheapest"],
    lambda m: f"{m['recursion']} against {m['cheapest']} by {m['method']}",
)


def universal(results: Results) -> Finding:
    """Whether |P| stays within gamma on every graph, although the design knew none of them."""
    verdicts = [None if m is None else m["contraction"] <= case[2] + 1e-6 for case, m in consistent(results)]
    return Finding(
        all_of(verdicts), f"|P| <= gamma on {sum(v is True for v in verdicts)} of {len(verdicts)} filters and graphs"
    )


def gamma(name: str, claim: str, sign: int) -> Callable[[Results], Finding]:
    """Whether a measurement grows (or falls) from each gamma to the next, for the paper's high-pass on every graph."""

    def check(results: Results) -> Finding:
        verdicts: list[bool | None] = []
        words = []
        for dataset in PAPER_DATASETS:
            found = [stability_of(results, ("high-pass", dataset, gamma)) for gamma in stability.GAMMAS]
            if any(m is None for m in found):
                verdicts.append(None)
                words.append(f"{dataset}: not run")
                continue
            values = [m["bound"][-1] if name == "bound" else m[name] for m in found if m is not None]
            verdicts.append(all(sign * (b - a) > 0 for a, b in itertools.pairwise(values)))
            words.append(f"{dataset}: {', '.join(f'{value:.3g}' for value in values)}")
        gammas = ", ".join(f"{gamma:g}" for gamma in stability.GAMMAS)
        return Finding(all_of(verdicts), f"{claim} at gamma {gammas}: " + "; ".join(words))

    return check


def linear(measure: str) -> Callable[[Results], Finding]:
    """Whether a cost of the feedback-looped filter grows in proportion to the size of the graph."""

    def check(results: Results) -> Finding:
        found = cost_exponent(results, "feedback-looped", "nodes and edges", measure)
        if found is None:
            return Finding(MISSING, "not run")
        if found.high < LINEAR[0] or found.low > LINEAR[1]:
            verdict = REFUTED
        else:
            clear = LINEAR[0] <= found.mean <= LINEAR[1] and found.high - found.mean <= CLEAR
            verdict = HOLDS if clear else UNDECIDED
        text = f"exponent {found.mean:.2f} [{found.low:.2f}, {found.high:.2f}], {found.count} sizes"
        return Finding(verdict, text)

    return check


def products(results: Results) -> Finding:
    """Whether t iterations take t p + q products with the shift."""
    found = []
    plan = results.plan.complexity
    for point in plan.points():
        for run in results.of(plan.group("feedback-looped", point)).done:
            found.append((run.measures["products"], point[2] * P + Q))
    if not found:
        return Finding(MISSING, "not run")
    equal = sum(counted == said for counted, said in found)
    return Finding(HOLDS if equal == len(found) else REFUTED, f"as many as counted in {equal} of {len(found)} cases")
