"""Graphs that change: snapshots or a stream of edge changes, filters that follow them, and forecasts.

The coefficients of a filter do not belong to a graph. Designed once for an interval of frequencies that holds those of
every snapshot ([0, 2] holds those of every graph), a filter keeps its certificate while edges come and go.
"""

from __future__ import annotations

from dfnets.temporal.changing_shift import ChangingShift
from dfnets.temporal.following import Followed, change_bound, follow
from dfnets.temporal.forecast import GraphForecaster
from dfnets.temporal.graph import Changes, TemporalGraph
from dfnets.temporal.joint import GraphTimeFilter

__all__ = [
    "Changes",
    "ChangingShift",
    "Followed",
    "GraphForecaster",
    "GraphTimeFilter",
    "TemporalGraph",
    "change_bound",
    "follow",
]
