"""What ``--distributed`` means: the same commands by the processes that torchrun started."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import numpy as np
import typer

from dfnets.cli.common import console, say
from dfnets.filters import Filter
from dfnets.graph import Graph

if TYPE_CHECKING:
    from dfnets.distributed import PartitionFolder

Distributed = Annotated[
    bool,
    typer.Option(
        "--distributed",
        help="By many processes: torchrun --nproc-per-node 2 -m dfnets ... A folder of `dfnets partition` in place of "
        "the graph is worked on part by part; else columns or networks are shared out.",
    ),
]


@dataclass(frozen=True)
class Ways:
    """How networks are trained: by one process or by many, and whether this is the one that writes results."""

    fit: Callable[..., Any]
    train: Callable[..., Any]
    writes: bool
    partition: PartitionFolder | None = None


@contextmanager
def joined(distributed: bool, dataset: str | None = None) -> Iterator[Ways]:
    """The ways to train; with ``distributed``, of all processes together, of which one speaks and writes."""
    if not distributed:
        from dfnets import training

        if dataset is not None and is_partition(Path(dataset)):
            raise typer.BadParameter(f"{dataset} is a partition: add --distributed, and start with torchrun")
        yield Ways(training.fit, training.train, True)
        return
    from dfnets import distributed as many

    with processes_of_torchrun() as rank:
        ways = Ways(many.fit_replicas, many.train_folds, rank == 0)
        if dataset is not None and is_partition(Path(dataset)):
            folder = many.PartitionFolder(dataset)
            ways = Ways(partial(_fit_parts, folder), many.train_folds, rank == 0, folder)
        yield ways


@contextmanager
def processes_of_torchrun() -> Iterator[int]:
    """This process's number, where torchrun has started several; all but number 0 are silent."""
    from dfnets import distributed as many

    try:
        group = many.processes()
        with group as (rank, _):
            quiet, console.quiet = console.quiet, rank > 0
            try:
                yield rank
            finally:
                console.quiet = quiet
    except many.NotDistributedError as error:
        raise typer.BadParameter(f"--distributed: {error}") from None


def is_partition(folder: Path) -> bool:
    """Whether it is a folder that ``dfnets partition`` wrote."""
    return (folder / "partition.json").is_file()


def _fit_parts(folder: PartitionFolder, model: str, graph: Graph, **options: Any) -> Any:  # noqa: ARG001
    """``fit`` for a graph of which each process has a part."""
    from dfnets.distributed import fit_row_blocks

    if options.pop("mini_batch", False):
        raise typer.BadParameter("--mini-batch is for one process: leave out --distributed, or --mini-batch")
    if options.pop("device", None) not in (None, "cpu"):
        raise typer.BadParameter("--device: parts of a graph are trained on CPUs")
    return fit_row_blocks(model, folder, **options)


def filter_many(f: Filter, graph: str, signal: Path, path: Path, *, tol: float, method: str, **files: Any) -> None:
    """``dfnets filter --distributed``: row blocks for a partition, columns for any other graph."""
    from dfnets import distributed as many

    with processes_of_torchrun() as rank:
        if is_partition(Path(graph)):
            _filter_parts(f, Path(graph), signal, path, tol=tol, method=method)
        else:
            from dfnets.datasets.signals import read_signal

            read = read_signal(graph, signal, **files)
            read.check_output(path)
            columns = read.values.reshape(len(read.values), -1)
            done = many.apply_columns(f, f.shift_of(read.graph), columns, tol=tol, method=method)
            if rank == 0:
                read.write(path, done.reshape(read.values.shape))
            say(read.understood)
            say(f"{columns.shape[1]} columns, shared out among the processes")
        say(repr(f))
        say(f"written: {path}")


def _filter_parts(f: Filter, folder: Path, signal: Path, path: Path, *, tol: float, method: str) -> None:
    from dfnets import distributed as many
    from dfnets.distributed.files import write_rows

    if signal.suffix != ".npy" or path.suffix != ".npy":
        raise typer.BadParameter("a partition takes signals in a .npy, row i for node i, and writes a .npy")
    shift = many.RowBlockShift(folder)
    if shift.folder.about["has_ids"]:
        raise ValueError(f"{signal} has no ids, and the nodes of {folder} have some: partition a graph without ids")
    values = np.load(signal, mmap_mode="r", allow_pickle=False)
    if values.ndim not in (1, 2) or len(values) != shift.total_nodes or values.dtype.kind != "f":
        raise ValueError(
            f"{signal} has shape {values.shape} and type {values.dtype}; signals are floating-point numbers, "
            f"({shift.total_nodes},) or ({shift.total_nodes}, k)"
        )
    done = f.apply(shift, np.ascontiguousarray(values[shift.nodes]), tol=tol, method=method, details=True)
    write_rows(path, shift, done.signal)
    say(f"{done.method}: {done.products} products, error at most {done.error:.2g} of the norm of each column")
