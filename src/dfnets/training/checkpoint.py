"""Checkpoints: one file that holds a training as it stands, and from which it goes on bit for bit."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save
from torch import Tensor

from dfnets import checksums
from dfnets.atomic import check_file, replacing
from dfnets.inputs import regular_file
from dfnets.training.history import History
from dfnets.training.loop import Trainer

FORMAT = "dfnets checkpoint, version 2"
# What of a trainer is a small array, besides weights, optimiser, streams and history.
ARRAYS = ("running", "best_accuracy", "best_loss", "best_epoch")


class Checkpoint:
    """A training's file: restored from when it is there, written every so often.

    Args:
        path: of the file.
        identity: what the training depends on (data, splits, hyper-parameters, epochs, seeds); a file of another is
            refused.
        every: seconds between two writes; 0 writes after every epoch.
    """

    def __init__(self, path: str | os.PathLike[str], identity: Mapping[str, Any], *, every: float = 30.0) -> None:
        self.path, self.identity, self.every = Path(path), _plain(identity), every
        if self.path.is_dir():
            raise ValueError(f"checkpoint={str(path)!r} is a folder; give the name of a file")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        check_file(self.path, force=True)
        self._written = time.monotonic()

    def restore(self, trainer: Trainer) -> bool:
        """Puts the trainer where the file left off; False when there is no file."""
        if not self.path.exists():
            return False
        tensors, state = self._read()
        try:
            self._apply(trainer, tensors, state)
        except (KeyError, TypeError, ValueError, IndexError, RuntimeError) as error:
            raise ValueError(f"{self.path} does not fit this training ({error}): remove it") from None
        return True

    def _apply(self, trainer: Trainer, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
        part = lambda name: _under(name, tensors)  # noqa: E731
        _check_shapes(trainer, tensors, state)
        trainer.model.load_state_dict(part("model"))
        slots = trainer.optimiser.state_dict()
        slots["state"] = {int(index): part(f"adam.{index}") for index in state["adam"]}
        trainer.optimiser.load_state_dict(slots)
        for r, stream in enumerate(trainer.streams):
            stream.set_state(tensors[f"stream.{r}"])
        trainer.epoch = state["epoch"]
        trainer.history = History.from_arrays({name: value.numpy() for name, value in part("history").items()})
        device = trainer.device
        trainer.best = {name: value.to(device) for name, value in part("best").items()}
        trainer.final = {name: value.to(device) for name, value in part("final").items()}
        for name in ARRAYS:
            setattr(trainer, name, tensors[f"array.{name}"].numpy())

    def maybe_write(self, trainer: Trainer) -> None:
        """Writes when it is time, and at the end."""
        if trainer.done or time.monotonic() - self._written >= self.every:
            self.write(trainer)

    def write(self, trainer: Trainer) -> None:
        """Writes the training as it stands, as a whole: a file that was there stays until the new one is complete."""
        slots: dict[int, dict[str, Tensor]] = trainer.optimiser.state_dict()["state"]
        tensors: dict[str, Tensor] = {}
        tensors |= _named("model", trainer.model.state_dict())
        tensors |= _named("best", trainer.best) | _named("final", trainer.final)
        for index, slot in slots.items():
            tensors |= _named(f"adam.{index}", slot)
        tensors |= {f"stream.{r}": stream.get_state() for r, stream in enumerate(trainer.streams)}
        tensors |= {f"history.{name}": torch.as_tensor(value) for name, value in trainer.history.arrays().items()}
        tensors |= {f"array.{name}": torch.as_tensor(np.array(getattr(trainer, name))) for name in ARRAYS}
        tensors = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        state = json.dumps({"identity": self.identity, "epoch": trainer.epoch, "adam": sorted(slots)})
        about = {"format": FORMAT, "state": state, "sha256": _checksum(tensors, state)}
        with replacing(self.path) as temporary:
            temporary.write_bytes(save(tensors, about))
        self._written = time.monotonic()

    def _read(self) -> tuple[dict[str, Tensor], dict[str, Any]]:
        regular_file(self.path)
        try:
            with safe_open(self.path, "pt") as file:
                about = file.metadata() or {}
                tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118
        except SafetensorError as error:
            raise ValueError(f"{self.path} is not a checkpoint, or it is damaged ({error}): remove it") from None
        if about.get("format") != FORMAT:
            raise ValueError(f"{self.path} is not a checkpoint: it lacks the mark {FORMAT!r}")
        if about.get("sha256") != _checksum(tensors, about.get("state", "")):
            raise ValueError(f"{self.path} is damaged: its checksum differs; remove it, and train again")
        state = json.loads(about["state"])
        for key, value in self.identity.items():
            if state["identity"].get(key) != value:
                raise ValueError(
                    f"{self.path} is the checkpoint of another training: its {key} is {state['identity'].get(key)!r}, "
                    f"here it is {value!r}; give the same arguments, or another file"
                )
        return tensors, state


def _check_shapes(trainer: Trainer, tensors: Mapping[str, Tensor], state: Mapping[str, Any]) -> None:
    """What would not be noticed when it is put into the trainer, but later."""
    if type(state["epoch"]) is not int or state["epoch"] < 0:
        raise ValueError(f"its epoch is {state['epoch']!r}")
    epochs, table = tensors["history.epochs"], tensors["history.table"]
    if epochs.ndim != 1 or table.shape != (len(epochs), *trainer.history.arrays()["table"].shape[1:]):
        raise ValueError("its history has another shape")
    for name in ARRAYS:
        if tensors[f"array.{name}"].shape != np.shape(getattr(trainer, name)):
            raise ValueError(f"{name} has another shape")
    known = trainer.model.state_dict()
    for kind in ("best", "final"):
        for name, value in _under(kind, tensors).items():
            if name not in known or value.shape != known[name].shape:
                raise ValueError(f"{kind} weights {name!r} have another shape")


def _checksum(tensors: Mapping[str, Tensor], state: str) -> str:
    """Of all that a checkpoint holds: one bit that flips on a disk would change the training without a trace."""

    def parts() -> Iterator[bytes | memoryview]:
        yield state.encode()
        for name in sorted(tensors):
            tensor = tensors[name]
            yield f"\n{name} {tensor.dtype} {list(tensor.shape)}\n".encode()
            # An empty tensor, such as a history before its first row, has strides that cannot be seen as bytes.
            if tensor.numel():
                yield tensor.reshape(-1).view(torch.uint8).numpy().data

    return checksums.of_parts(parts())


def _plain(identity: Mapping[str, Any]) -> dict[str, Any]:
    """As JSON gives it back, so that two can be compared."""
    return json.loads(json.dumps(identity))


def _named(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    return {f"{prefix}.{name}": tensor for name, tensor in tensors.items()}


def _under(prefix: str, tensors: Mapping[str, Tensor]) -> dict[str, Tensor]:
    start = f"{prefix}."
    return {name.removeprefix(start): tensor for name, tensor in tensors.items() if name.startswith(start)}
