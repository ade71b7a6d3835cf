"""Feedback-looped graph filters: design them, certify them, apply them to large sparse graphs, learn with them."""

from dfnets.graph import Graph
from dfnets.shift import Shift

__all__ = ["Graph", "Shift"]
