"""`dfnets partition`."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from dfnets.cli.common import say


def partition_command(
    graph: Annotated[Path, typer.Argument(help="Edges (.csv, .tsv, .parquet, .graphml) or arrays (.npz).")],
    folder: Annotated[Path, typer.Argument(help="A new folder; it gets one file per part.")],
    parts: Annotated[int, typer.Option(help="How many parts: one per process that will work on them.")] = 2,
    method: Annotated[
        str, typer.Option(help="metis (needs pymetis), streaming, or auto: metis where it is installed.")
    ] = "auto",
) -> None:
    """Divide a graph among processes, so that each of them reads and holds its own part only.

    Example: dfnets partition edges.csv parts/ --parts 4
    """
    import numpy as np

    from dfnets.datasets.files import read_graph
    from dfnets.distributed import partition, write_partition

    whole = read_graph(graph)
    numbers = partition(whole, parts, method=method)  # type: ignore[arg-type]
    written = write_partition(whole, numbers, folder)
    rows, columns = whole.adjacency.nonzero()
    between = int((numbers[rows] != numbers[columns]).sum() // 2)
    sizes = ", ".join(f"{count:,}" for count in np.bincount(numbers, minlength=parts))
    say(f"{written.parts} parts of {sizes} nodes; {between:,} of {whole.num_edges:,} edges run between parts")
    say(f"partition: {folder}")
