"""`dfnets studio`."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import numpy as np
import typer

from dfnets.cli.common import say

if TYPE_CHECKING:
    from dfnets.studio.scenes import Scene


def studio_command(
    edges: Annotated[Path | None, typer.Option(help="Your graph: an edge file (.csv, .tsv, .parquet, .npz).")] = None,
    signal: Annotated[
        Path | None, typer.Option(help="Your signal: one row per node with its id and a number, or .npy.")
    ] = None,
    coordinates: Annotated[
        Path | None, typer.Option(help="Where to draw the nodes: one row per node with its id, x and y.")
    ] = None,
    port: Annotated[int, typer.Option(help="The port on 127.0.0.1; 0 takes a free one.")] = 0,
    browser: Annotated[bool, typer.Option(help="Open the page in the browser.")] = True,
) -> None:
    """Design a filter in the browser: drag its response, see what it does to a signal on a graph.

    The page is served on this machine only, and its address holds a random token. Only the files that are named here
    are read. Example: dfnets studio --edges roads.csv --signal traffic.csv
    """
    try:
        import starlette  # noqa: F401
        import uvicorn  # noqa: F401
    except ImportError:
        raise ValueError("the studio needs Starlette and uvicorn: pip install 'dfnets[studio]'") from None
    from dfnets.studio.scenes import SCENES
    from dfnets.studio.server import serve

    scenes = dict(SCENES)
    if edges is not None:
        scene = _own_scene(edges, signal, coordinates)
        scenes = {"own": lambda: scene, **scenes}
    elif signal is not None or coordinates is not None:
        raise ValueError("--signal and --coordinates belong to a graph: give its --edges too")

    def ready(address: str) -> None:
        say(f"studio: {address}")
        say("Press Ctrl+C to stop it.")
        sys.stdout.flush()
        if browser:
            import webbrowser

            webbrowser.open(address)

    serve(scenes, port, ready)


def _own_scene(edges: Path, signal: Path | None, coordinates: Path | None) -> Scene:
    from dfnets import plots
    from dfnets.datasets import files
    from dfnets.studio.scenes import own

    graph = files.read_graph(edges, signal)
    if coordinates is not None:
        places = _placed(edges, coordinates, graph.node_ids)
    else:
        places = plots.layout(graph) if graph.coordinates is None else graph.coordinates
    if signal is None:
        return own(graph, places, places[:, 0])
    values = graph.features
    assert values is not None
    column = values[:, [0]]
    return own(graph, places, np.asarray(column.todense() if hasattr(column, "todense") else column, float).ravel())


def _placed(edges: Path, coordinates: Path, node_ids: np.ndarray | None) -> np.ndarray:
    """The coordinates in the order of the nodes of the graph."""
    from dfnets.datasets import files

    graph = files.read_graph(edges, coordinates)
    places = np.asarray(graph.features, float)
    if places.shape[1] < 2:
        raise ValueError(f"{coordinates} has {places.shape[1]} column of numbers; a place has two, x and y")
    if node_ids is None or graph.node_ids is None:
        return places
    row = {node: k for k, node in enumerate(graph.node_ids)}
    return places[[row[node] for node in node_ids]]
