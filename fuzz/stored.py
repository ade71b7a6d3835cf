"""Mutated files of our own: filters, model folders, checkpoints, and the databases of searches and runs."""

from __future__ import annotations

import json
import random
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp

from dfnets import Graph, checksums, design, responses
from dfnets.datasets import splits
from dfnets.filters import load as load_filter
from fuzz.format import COUNT, FEW, Format
from fuzz.harness import forked
from fuzz.mutate import damaged, replaced


def formats(folder: Path) -> Iterator[Format]:
    """All of them; ``folder`` is for what has to be made first."""
    yield from _filters()
    yield from _models(folder)
    yield from _databases(folder)


def _filters() -> Iterator[Format]:
    f = design(responses.low_pass(0.5), 3, 2, 0.8, method="refit")
    with tempfile.TemporaryDirectory() as place:
        f.save(Path(place) / "f.json")
        content = (Path(place) / "f.json").read_bytes()

    def make(rng: random.Random) -> dict[str, bytes]:
        return {"f.json": damaged(content, rng) if rng.random() < 0.2 else sealed(content, rng)}

    def read(at: Path) -> None:
        loaded = load_filter(at / "f.json")
        loaded.response(np.linspace(*loaded.interval, 5))
        loaded.apply(Graph(np.array([[0.0, 1], [1, 0]])), np.ones(2), tol=1e-3)

    yield Format("filter .json", {"f.json": content}, make, read)


def sealed(content: bytes, rng: random.Random) -> bytes:
    """A JSON file with a changed entry, and the checksum that belongs to it: of a writer who knows the format."""
    tree = json.loads(content)
    sums = tree.pop("sha256")
    changed = replaced(tree, rng)
    if not isinstance(changed, dict):
        changed = {**tree, "format": changed}
    if isinstance(sums, dict):
        changed["sha256"] = {name: value for name, value in sums.items() if name != "config.json"}
        changed["sha256"]["config.json"] = checksums.of_json(changed)
    else:
        changed["sha256"] = checksums.of_json(changed)
    return json.dumps(changed).encode()


def small_graph() -> Graph:
    """Three towns of ten people, with features and labels: trained in a second."""
    rng = np.random.default_rng(0)
    town = np.repeat(np.arange(3), 10)
    joined = np.triu(rng.random((30, 30)) < np.where(town[:, None] == town, 0.4, 0.05), 1)
    words = sp.csr_array((rng.random((30, 6)) < 0.3).astype(np.float64))
    return Graph((joined + joined.T).astype(float), features=words, labels=town, name="towns")


def small_split(graph: Graph) -> Any:
    return splits.make(graph, "random", draws=1, seed=0, per_class=3, validation_per_class=2)


def in_a_child(prepare: Callable[[], None]) -> None:
    """This process must not compute with threads: its children would wait for threads that they do not have."""
    done = forked(prepare)
    if done.status:
        raise RuntimeError(f"the preparation failed: {done.err}")


def trained(graph: Graph, split: Any, **options: Any) -> Any:
    """A small model after three epochs."""
    from dfnets.training import fit

    return fit("dfnet", graph, protocol=split, **SMALL, **options)


SMALL: dict[str, Any] = {"replicas": 2, "epochs": 3, "units": (3,), "progress": False, "device": "cpu"}


def _models(folder: Path) -> Iterator[Format]:
    from dfnets.training import fit, load

    graph = small_graph()
    arguments = {"protocol": small_split(graph), **SMALL}

    def prepare() -> None:
        trained(graph, arguments["protocol"], checkpoint=folder / "run.ckpt").save(folder / "model")

    in_a_child(prepare)
    parts = {path.name: path.read_bytes() for path in (folder / "model").iterdir()}
    checkpoint = (folder / "run.ckpt").read_bytes()

    def make(rng: random.Random) -> dict[str, bytes]:
        name = rng.choice(list(parts))
        if rng.random() < 0.2:
            return {**parts, name: damaged(parts[name], rng)}
        if name == "config.json":
            return {**parts, name: sealed(parts[name], rng)}
        changed = sealed(parts[name], rng) if name == "filter.json" else damaged(parts[name], rng)
        config = json.loads(parts["config.json"])
        config["sha256"][name] = checksums.of_bytes(changed)
        del config["sha256"]["config.json"]
        config["sha256"]["config.json"] = checksums.of_json(config)
        return {**parts, name: changed, "config.json": json.dumps(config).encode()}

    yield Format("model folder", parts, make, lambda at: load(at).predict(graph, device="cpu"))
    yield Format(
        "checkpoint",
        {"run.ckpt": checkpoint},
        lambda rng: {"run.ckpt": damaged(checkpoint, rng) if rng.random() < 0.5 else _tensors(checkpoint, rng)},
        lambda at: fit("dfnet", graph, checkpoint=at / "run.ckpt", **arguments),
    )


def _tensors(content: bytes, rng: random.Random) -> bytes:
    """A checkpoint with a tensor or a field of its state changed, and a checksum that fits."""
    import torch
    from safetensors.torch import load, save

    from dfnets.training.checkpoint import FORMAT, _checksum

    length = int.from_bytes(content[:8], "little")
    state = json.loads(json.loads(content[8 : 8 + length])["__metadata__"]["state"])
    tensors = load(content)
    name = rng.choice(list(tensors))
    match rng.randrange(4):
        case 0:
            del tensors[name]
        case 1:
            tensors[name] = torch.zeros(rng.choice([(), (0,), (3,), (2, 2)]))
        case 2:
            tensors[name] = tensors[name].reshape(-1)[:1].clone()
        case _:
            identity = state.pop("identity")
            state = replaced(state, rng)
            state = {**state, "identity": identity} if isinstance(state, dict) else {"identity": identity}
    text = json.dumps(state)
    return save(tensors, {"format": FORMAT, "state": text, "sha256": _checksum(tensors, text)})


def _databases(folder: Path) -> Iterator[Format]:
    from dfnets.search import search
    from dfnets.store import Run, Store

    with Store(folder / "s.db") as store:
        store.add([Run("c", "cora", "d", "p", "s", "gcn", "{}", seed) for seed in range(20)])
    stored = (folder / "s.db").read_bytes()

    def read_store(at: Path) -> None:
        with Store(at / "s.db") as opened:
            for run in opened.runs():
                repr(run)

    yield Format(
        "store .db", {"s.db": stored}, lambda rng: {"s.db": damaged(stored, rng)}, read_store, count=COUNT // 2
    )
    graph = small_graph()
    options: dict[str, Any] = {"trials": 1, "space": {"dropout": (0.1, 0.5)}, "protocol": small_split(graph)}
    options |= {name: value for name, value in SMALL.items() if name != "progress"}
    in_a_child(lambda: search("dfnet", graph, folder / "search.db", **options) and None)
    searched = (folder / "search.db").read_bytes()
    yield Format(
        "search .db",
        {"search.db": searched},
        lambda rng: {"search.db": damaged(searched, rng)},
        lambda at: search("dfnet", graph, at / "search.db", **options),
        count=FEW,
    )
