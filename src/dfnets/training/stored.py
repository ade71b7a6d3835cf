"""config.json of a model folder: what it may hold, and the refusal of anything else."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, FiniteFloat, NonNegativeInt, PositiveFloat, PositiveInt, ValidationError

from dfnets import checksums

FORMAT = "dfnets model, version 1"
CONFIG, WEIGHTS = "config.json", "model.safetensors"


class StoredPreparation(BaseModel, strict=True):
    structural: bool
    mean: list[FiniteFloat] | None = None
    scale: list[PositiveFloat | None] | None = None


class Stored(BaseModel, strict=True):
    """What config.json holds; anything else than this is no model of ours."""

    model: str
    config: dict[str, Any]
    features: NonNegativeInt
    nodes: NonNegativeInt
    classes: list[str]
    replicas: PositiveInt
    about: dict[str, Any]
    feature_names: list[str] | None = None
    encoder: list[dict[str, Any]] | None = None
    preparation: StoredPreparation | None = None
    temperature: PositiveFloat = 1.0
    class_offsets: list[FiniteFloat] | None = None
    sha256: dict[Literal["model.safetensors", "filter.json"], str]


def read_config(path: Path) -> Stored:
    """What a config.json holds; refused when it is missing, cut off, changed, or of something else."""
    if not path.is_file():
        raise ValueError(f"{path.parent} is not a model folder: it has no {path.name}{_left_behind(path.parent)}")
    try:
        content = json.loads(path.read_text())
    except (json.JSONDecodeError, UnicodeDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is cut off or no JSON: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} is not of a model folder: it lacks the mark {FORMAT!r}")
    claimed = content["sha256"].pop(CONFIG, None) if isinstance(content.get("sha256"), dict) else None
    if claimed != checksums.of_json(content):
        raise ValueError(f"{path} was changed after it was saved: its checksum differs; save the model again")
    try:
        stored = Stored(**content)
    except (ValidationError, TypeError) as error:
        raise ValueError(f"{path} does not describe a model: {error}") from None
    if WEIGHTS not in stored.sha256:
        raise ValueError(f"{path} does not describe a model: it names no {WEIGHTS}")
    if stored.class_offsets is not None and len(stored.class_offsets) != len(stored.classes):
        counts = f"{len(stored.class_offsets)} class_offsets for {len(stored.classes)} classes"
        raise ValueError(f"{path} does not describe a model: it has {counts}")
    return stored


def _left_behind(folder: Path) -> str:
    """Where a writer that was killed between two renames has left the model, for a message."""
    old = [str(path) for path in folder.absolute().parent.glob(f".{folder.stem[:40]}.*.old")]
    return f"; a model that was there before is in {old[0]}" if old else ""
