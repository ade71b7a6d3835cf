"""What each process of a test runs under torchrun: ``share_program.py FOLDER``; commands, and networks shared out."""

from __future__ import annotations

import os
import sys
from pathlib import Path

import numpy as np

from dfnets import Graph
from dfnets.cli import app
from dfnets.distributed import fit_replicas, processes, train_folds


def command(*arguments: str) -> None:
    app([*arguments], standalone_mode=False)


def main() -> None:
    folder = Path(sys.argv[1])
    graph = Graph.open(folder / "graph")
    with processes() as (rank, _):
        settings = {"protocol": "random", "epochs": 6, "patience": 2, "device": "cpu"}
        fitted = fit_replicas("gcn", graph, replicas=3, checkpoint=folder / "run.ckpt", **settings)
        folds = train_folds(graph, model="gcn", effort="quick", epochs=4, device="cpu", progress=False)
        if rank == 0:
            fitted.save(folder / "fitted")
            table = fitted.history.arrays()["table"]
            np.savez(folder / "fitted.npz", table=table, predictions=fitted.predict().per_replica)
            np.savez(
                folder / "folds.npz", probabilities=folds.predictions.probabilities, accuracy=folds.assessment.accuracy
            )
    signal, options = str(folder / "x.npy"), ["--filter", str(folder / "filter.json"), "--tol", "1e-8", "--distributed"]
    for source, out in ((folder / "graph", "columns.npy"), (folder / "parts", "rows.npy")):
        command("filter", str(source), signal, "--out", str(folder / out), *options)
    small = ["--epochs", "3", "--model", "gcn", "--distributed", "--protocol", "random", "--per-class", "4"]
    small += ["--validation-per-class", "4"]
    command("train", "--dataset", str(folder / "parts"), "--out", str(folder / "on-parts"), *small)
    command("train", "--dataset", str(folder / "graph"), "--out", str(folder / "shared"), "--replicas", "2", *small)


if __name__ == "__main__":
    main()
    # Seldom, a thread of torch aborts the interpreter when it ends, and all work is done by then.
    sys.stdout.flush()
    os._exit(0)
