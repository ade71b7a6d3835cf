"""`dfnets filter`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from dfnets.cli.common import Force, check_outputs, console, say
from dfnets.cli.file_options import FileOptions, takes_files
from dfnets.cli.many import Distributed, filter_many
from dfnets.filters import FeedbackLoopedFilter, Filter, load


@takes_files
def filter_command(
    graph: Annotated[
        str, typer.Argument(help="Edge file (.csv, .tsv, .parquet, .graphml, .npz, ...) or dataset name.")
    ],
    signal: Annotated[
        Path,
        typer.Argument(help="Signals: a table with an id in each row (.csv, ...), or .npy for nodes 0 to n-1."),
    ],
    filter_file: Annotated[Path, typer.Option("--filter", help="A filter that `dfnets design --save` wrote.")],
    out: Annotated[
        Path | None,
        typer.Option(
            help="Where the result goes: .csv, .parquet, .npz (with ids), .npy. Default: SIGNAL.filtered.csv, or .npy."
        ),
    ] = None,
    tol: Annotated[float, typer.Option(help="norm(y - y*) <= tol norm(x) for every column.")] = 1e-6,
    method: Annotated[str, typer.Option(help="auto takes the one with the fewest products.")] = "auto",
    distributed: Distributed = False,
    force: Force = False,
    *,
    files: FileOptions,
) -> None:
    """Apply a filter to signals on a graph.

    A graph in a folder of `dfnets data save`, and signals in a .npy, may both be larger than memory.

    Examples: dfnets filter edges.csv signal.csv --filter f.json
    dfnets filter graph.npz signal.npy --filter f.json --out result.npy
    torchrun --nproc-per-node 2 -m dfnets filter graph.npz signal.npy --filter f.json --distributed
    """
    from dfnets.datasets.signals import WRITTEN, read_signal
    from dfnets.datasets.tables import kind_of, refuse_missing_files

    edges = Path(graph) if Path(graph).suffix and not Path(graph).is_dir() else None
    refuse_missing_files(edges, signal, filter_file)
    kind = kind_of(signal)
    plain = signal.with_suffix("") if signal.suffix == ".gz" else signal
    path = out or plain.with_suffix(f".filtered{kind if kind in WRITTEN else '.csv'}")
    if path.suffix not in WRITTEN:
        raise ValueError(f"--out {path}: it ends in {', '.join(WRITTEN[:-1])} or {WRITTEN[-1]}")
    check_outputs(path, force=force)
    f = load(filter_file)
    if distributed:
        filter_many(f, graph, signal, path, tol=tol, method=method, **files.arguments())
        return
    if edges is None and Path(graph).is_dir() and kind == path.suffix == ".npy":
        _in_blocks(f, Path(graph), signal, path, tol=tol, method=method)
        return
    read = read_signal(graph, signal, **files.arguments())
    read.check_output(path)
    with console.status("filtering"):
        shift = f.shift_of(read.graph)
        done = f.apply(shift, read.values, tol=tol, method=method, details=True)
    read.write(path, done.signal)
    say(read.understood)
    say(repr(f))
    say(f"{done.method}: {done.products} products, error at most {done.error:.2g} of the norm of each column")
    if isinstance(f, FeedbackLoopedFilter):
        console.print(f.certificate(shift, tol=tol).table())
    say(f"written: {path}")


def _in_blocks(f: Filter, folder: Path, signal: Path, path: Path, **options: Any) -> None:
    """Some columns at a time, from file to file."""
    from dfnets.graph import Graph
    from dfnets.out_of_core import apply_in_blocks

    graph = Graph.open(folder)
    if graph.node_ids is not None:
        raise ValueError(
            f"{signal} has no ids, and the nodes of {folder} have some: give a .csv with an id in each row"
        )
    with console.status("filtering"):
        apply_in_blocks(f, graph, signal, path, **options)
    say(repr(graph))
    say(repr(f))
    say(f"written: {path}")
