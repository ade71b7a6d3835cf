"""What several commands share: reading a graph, speaking to a person."""

from __future__ import annotations

from pathlib import Path

from rich.console import Console

from dfnets.graph import Graph

console = Console()


def read_graph(source: str) -> Graph:
    """A graph from a file of edges, or a dataset by name."""
    from dfnets import datasets

    if Path(source).exists():
        return datasets.files.read_graph(edges=source)
    return datasets.load(source)
