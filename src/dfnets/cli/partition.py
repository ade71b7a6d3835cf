"""`dfnets partition`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dfnets.cli.common import say
from dfnets.cli.file_options import FileOptions, takes_files


@takes_files
def partition_command(
    graph: Annotated[
        str, typer.Argument(help="Edges (.csv, .tsv, .parquet, .graphml), arrays (.npz), or a dataset by name.")
    ],
    folder: Annotated[Path, typer.Argument(help="A new folder; it gets one file per part.")],
    parts: Annotated[int, typer.Option(help="How many parts: one per process that will work on them.")] = 2,
    features: Annotated[Path | None, typer.Option(help="Features of the nodes of a file of edges.")] = None,
    labels: Annotated[Path | None, typer.Option(help="Labels of the nodes of a file of edges.")] = None,
    method: Annotated[
        str, typer.Option(help="metis (needs pymetis), streaming, or auto: metis where it is installed.")
    ] = "auto",
    *,
    files: FileOptions,
) -> None:
    """Divide a graph among processes, so that each of them reads and holds its own part only.

    Examples: dfnets partition edges.csv parts/ --parts 4 --features x.csv --labels y.csv
    torchrun --nproc-per-node 4 -m dfnets train --distributed --dataset parts/
    """
    import numpy as np

    from dfnets import datasets
    from dfnets.distributed import partition, write_partition

    place = Path(graph)
    if place.is_file() and place.suffix != ".npz":
        whole = files.read(place, features, labels).graph
    elif features is not None or labels is not None:
        raise typer.BadParameter("--features and --labels belong to a file of edges; a dataset has its own")
    else:
        whole = datasets.load(graph)
    numbers = partition(whole, parts, method=method)  # type: ignore[arg-type]
    written = write_partition(whole, numbers, folder)
    rows, columns = whole.adjacency.nonzero()
    between = int((numbers[rows] != numbers[columns]).sum() // 2)
    sizes = ", ".join(f"{count:,}" for count in np.bincount(numbers, minlength=parts))
    say(f"{written.parts} parts of {sizes} nodes; {between:,} of {whole.num_edges:,} edges run between parts")
    say(f"partition: {folder}")
