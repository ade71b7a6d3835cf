"""Measurements that are no accuracies, as claims and tables ask for them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from dfnets.studies.analysing import statistics
from dfnets.studies.analysing.results import Results
from dfnets.studies.planning.stability import Case

# The place of what a sweep varies in a point (nodes, edges, order).
PLACES = {"edges": 1, "nodes": 0, "nodes and edges": 1, "order": 2}


def stability_of(results: Results, case: Case) -> dict[str, Any] | None:
    """What was measured of a filter on a graph; None if it was not."""
    done = results.of(results.plan.stability.group(*case)).done
    return dict(done[0].measures) if done else None


def cost_exponent(results: Results, filter: str, sweep: str, measure: str) -> statistics.Estimate | None:
    """The fitted exponent of a cost in what a sweep varies; None where points are missing."""
    plan, x, y = results.plan.complexity, [], []
    for point in plan.sweeps()[sweep]:
        for run in results.of(plan.group(filter, point)).done:
            x.append(float(point[PLACES[sweep]]))
            y.append(cost(run.measures, measure))
    return statistics.slope(x, y) if len(x) >= 3 else None


def cost(measures: Mapping[str, Any], name: str) -> float:
    """A cost of one application; ``memory`` is all that is held: the operator, and the arrays made on the way."""
    return float(measures["working"] + measures["held"] if name == "memory" else measures[name])
