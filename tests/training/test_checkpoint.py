"""A training that is killed goes on where it was, to the last bit."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch

from dfnets import Graph
from dfnets.datasets.splits import Split
from dfnets.training import fit

SMALL: dict[str, Any] = {"units": (4, 6), "dropout": 0.5, "learning_rate": 0.01}

# It kills itself in the middle of writing its 41st checkpoint: at the same moment on every machine.
SCRIPT = """
import numpy as np, os, scipy.sparse as sp, signal, sys
from dfnets import Graph
from dfnets.datasets.splits import Split
from dfnets.training import fit
from dfnets.training.checkpoint import Checkpoint

write, written = Checkpoint.write, []

def killed(self, trainer):
    write(self, trainer)
    written.append(trainer.epoch)
    if len(written) == 40:
        os.fsync = lambda _: os.kill(os.getpid(), signal.SIGKILL)

Checkpoint.write = killed
graph_file, checkpoint, EPOCHS = *sys.argv[1:3], int(sys.argv[3])
with np.load(graph_file) as a:
    graph = Graph(a["adjacency"], features=sp.csr_array(a["features"]), labels=a["labels"], name="blocks")
    split = Split(a["train"], a["validation"], a["test"], "mine")
fit("dfnet", graph, protocol=split, replicas=2, epochs=EPOCHS, units=(4, 6), dropout=0.5, learning_rate=0.01,
    patience=None, checkpoint=checkpoint, checkpoint_every=0, progress=False, device="cpu")
"""


def test_kill_and_resume_gives_the_same_weights(graph: Graph, split: Split, tmp_path: Path) -> None:
    import numpy as np

    graph = graph.with_(label_names=None)
    data, file = tmp_path / "graph.npz", tmp_path / "run.ckpt"
    parts = {"train": split.train, "validation": split.validation, "test": split.test}
    features = graph.features.toarray()  # type: ignore[union-attr]
    np.savez(data, adjacency=graph.adjacency.toarray(), features=features, labels=graph.labels, **parts)
    epochs = 150
    done = subprocess.run([sys.executable, "-c", SCRIPT, str(data), str(file), str(epochs)], check=False)
    assert done.returncode == -signal.SIGKILL
    reached = _epoch(file)
    common = {"protocol": split, "replicas": 2, "progress": False, "device": "cpu", "patience": None, **SMALL}
    resumed = fit("dfnet", graph, epochs=epochs, checkpoint=file, **common)
    straight = fit("dfnet", graph, epochs=epochs, **common)
    assert reached == 40
    for rule in ("final", "validation"):
        one, other = resumed._trainer.weights(rule), straight._trainer.weights(rule)
        assert all(torch.equal(one[key], other[key]) for key in one)
    assert np.array_equal(resumed.history.frame(), straight.history.frame(), equal_nan=True)


def _epoch(file: Path) -> int:
    import json

    from safetensors import safe_open

    with safe_open(file, "pt") as opened:
        return json.loads(opened.metadata()["state"])["epoch"]


def test_a_finished_training_is_not_repeated(graph: Graph, split: Split, tmp_path: Path) -> None:
    common = {"protocol": split, "replicas": 2, "epochs": 6, "patience": 3, "progress": False, "device": "cpu", **SMALL}
    file = tmp_path / "deep" / "run.ckpt"
    first = fit("dfnet", graph, checkpoint=file, **common)
    written = file.stat().st_mtime_ns
    again = fit("dfnet", graph, checkpoint=file, **common)
    assert file.stat().st_mtime_ns == written
    assert repr(again) == repr(first)
    assert [path.name for path in file.parent.iterdir()] == ["run.ckpt"]


def test_the_checkpoint_of_another_training_is_refused(graph: Graph, split: Split, tmp_path: Path) -> None:
    common = {"protocol": split, "replicas": 1, "epochs": 2, "progress": False, "checkpoint": tmp_path / "run", **SMALL}
    fit("dfnet", graph, **common)
    with pytest.raises(ValueError, match=r"checkpoint of another training: its seeds is \[0\], here it is \[1\]"):
        fit("dfnet", graph, seed=1, **common)
    with pytest.raises(ValueError, match=r"checkpoint of another training: its epochs is 2, here it is 1;"):
        fit("dfnet", graph, **{**common, "epochs": 1})
    with pytest.raises(ValueError, match=r"checkpoint of another training: its dropout is 0\.5, here it is 0\.1"):
        fit("dfnet", graph, **{**common, "dropout": 0.1})


def test_damaged_files_and_folders_are_refused(graph: Graph, split: Split, tmp_path: Path) -> None:
    common = {"protocol": split, "replicas": 1, "epochs": 2, "progress": False, **SMALL}
    file = tmp_path / "run.ckpt"
    fit("dfnet", graph, checkpoint=file, **common)
    file.write_bytes(file.read_bytes()[:-100])
    with pytest.raises(ValueError, match=r"run\.ckpt is not a checkpoint, or it is damaged"):
        fit("dfnet", graph, checkpoint=file, **common)
    file.unlink()
    fit("dfnet", graph, checkpoint=file, **common)
    whole = file.read_bytes()
    for at in range(len(whole) // 4, len(whole), len(whole) // 5):
        file.write_bytes(whole[:at] + bytes([whole[at] ^ 4]) + whole[at + 1 :])
        with pytest.raises(ValueError, match=r"run\.ckpt is (damaged: its checksum|not a checkpoint, or it)"):
            fit("dfnet", graph, checkpoint=file, **common)
    with pytest.raises(ValueError, match="is a folder; give the name of a file"):
        fit("dfnet", graph, checkpoint=tmp_path, **common)


def test_a_checkpoint_before_the_first_look_at_the_scores(graph: Graph, split: Split, tmp_path: Path) -> None:
    """Its history is empty then."""
    common = {"protocol": split, "replicas": 1, "progress": False, "device": "cpu", "every": 3, "epochs": 4, **SMALL}

    class Stop(Exception):
        pass

    def stop(trainer: Any) -> None:
        if trainer.epoch == 2:
            raise Stop

    file = tmp_path / "run.ckpt"
    with pytest.raises(Stop):
        fit("dfnet", graph, checkpoint=file, checkpoint_every=0, after_epoch=stop, **common)
    resumed, straight = fit("dfnet", graph, checkpoint=file, **common), fit("dfnet", graph, **common)
    for name, tensor in straight.trained("final").weights.items():
        assert torch.equal(resumed.trained("final").weights[name], tensor)
