"""`dfnets filter`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dfnets.cli.common import Force, check_outputs, console, say
from dfnets.cli.file_options import FileOptions, takes_files
from dfnets.filters import FeedbackLoopedFilter, load


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
    force: Force = False,
    *,
    files: FileOptions,
) -> None:
    """Apply a filter to signals on a graph.

    Examples: dfnets filter edges.csv signal.csv --filter f.json
    dfnets filter graph.npz signal.npy --filter f.json --out result.npy
    """
    from dfnets.datasets.signals import WRITTEN, read_signal
    from dfnets.datasets.tables import kind_of, refuse_missing_files

    edges = Path(graph) if Path(graph).suffix else None
    refuse_missing_files(edges, signal, filter_file)
    kind = kind_of(signal)
    plain = signal.with_suffix("") if signal.suffix == ".gz" else signal
    path = out or plain.with_suffix(f".filtered{kind if kind in WRITTEN else '.csv'}")
    if path.suffix not in WRITTEN:
        raise ValueError(f"--out {path}: it ends in {', '.join(WRITTEN[:-1])} or {WRITTEN[-1]}")
    check_outputs(path, force=force)
    f = load(filter_file)
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
