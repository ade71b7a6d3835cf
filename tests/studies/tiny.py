"""A study of seconds: small models on a small graph, in processes that can be killed."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np

from dfnets.store import Run, Store
from dfnets.studies.planning import Group
from dfnets.studies.running import run, training

OPTIONS = {"per_class": 5, "validation_per_class": 5}
SMALL = {"units": (4, 6), "dropout": 0.5}


def write_data(folder: Path) -> None:
    """tiny.npz: three classes whose members mostly know each other."""
    rng = np.random.default_rng(0)
    labels = np.repeat(np.arange(3), 40)
    same = labels[:, None] == labels
    edges = np.triu(rng.random((120, 120)) < np.where(same, 0.1, 0.01), 1)
    edges |= edges.T
    words = rng.random((120, 30)) < np.where(np.arange(30) % 3 == labels[:, None], 0.2, 0.05)
    arrays = {}
    for name, matrix in (("adj", edges), ("feat", words)):
        arrays[f"{name}_indices"] = np.nonzero(matrix)[1]
        arrays[f"{name}_indptr"] = np.concatenate([[0], matrix.sum(axis=1).cumsum()])
    arrays["feat_data"] = np.ones(int(words.sum()), dtype=np.float32)
    np.savez(folder / "tiny.npz", num_nodes=120, labels=labels, feat_shape=np.array(words.shape), **arrays)


def groups() -> list[Group]:
    rates = (0.001, 0.002, 0.005, 0.01, 0.02, 0.05)
    return [
        Group("dfnet", "tiny", "random", OPTIONS, overrides={"learning_rate": rate, "epochs": 12, **SMALL}, seeds=3)
        for rate in rates
    ] + [Group("dfnet", "tiny", "random", OPTIONS, overrides={"loss_factor": 1e39, "epochs": 12, **SMALL}, seeds=2)]


def work(folder: str, store: str, log: str) -> None:
    """Runs the study; every training that ends is a line of the log."""
    import torch

    os.environ["DFNETS_DATA"] = folder
    torch.set_num_threads(1)
    train = training.train

    def counted(*arguments: object) -> list[Run]:
        done = train(*arguments)  # type: ignore[arg-type]
        with Path(log).open("a") as file:
            file.write("trained\n")
        return done

    training.train = counted  # type: ignore[assignment]
    run(groups(), store, workers=1, device="cpu")


def content(store: str | Path) -> dict[str, tuple[object, ...]]:
    """What must not depend on how often a study was interrupted."""
    return {
        each.key: (each.status, each.validation, each.final, each.oracle, each.validation_accuracy, each.epochs)
        for each in Store(store).runs()
    }
