"""Filters in files: JSON with a checksum, read back field by field, refused in one line when something is off."""

from __future__ import annotations

import json
import os
from pathlib import Path
from typing import TYPE_CHECKING, Any

from dfnets import checksums, responses
from dfnets.atomic import replacing

if TYPE_CHECKING:
    from dfnets.filters.base import Filter

FORMAT = "dfnets filter, version 1"
# A filter of 20,000 coefficients takes half a megabyte; what is larger is something else.
MOST_BYTES = 4 * 2**20
FIELDS = {"format", "kind", "interval", "target", "transition", "parameters"}


def write(f: Filter, path: str | os.PathLike[str]) -> None:
    """Write a filter as JSON, with a checksum; an existing file is replaced whole or not at all."""
    if f.target is not None and f.target.name not in responses.MAKERS:
        raise ValueError(
            f"the target {f.target.name!r} is a Python function, which a file cannot hold: set target=None"
        )
    content: dict[str, Any] = {
        "format": FORMAT,
        "kind": f.kind,
        "interval": list(f.interval),
        "target": None if f.target is None else [f.target.name, dict(f.target.parameters)],
        "transition": f.transition,
        "parameters": f.parameters(),
    }
    content["sha256"] = checksums.of_json(content)
    with replacing(path) as temporary:
        temporary.write_text(json.dumps(content, indent=2))


def read(path: str | os.PathLike[str], families: dict[str, type[Filter]]) -> Filter:
    """The filter of a file, of whichever family it is.

    Raises:
        ValueError: one line that names the file and what is wrong with it.
    """
    content = _content(Path(path))
    try:
        family = families.get(content["kind"]) if isinstance(content["kind"], str) else None
        if family is None:
            raise ValueError(f"kind={content['kind']!r} is not one of {', '.join(sorted(families))}")
        target = content["target"]
        if target is not None:
            if not isinstance(target, list) or len(target) != 2:
                raise ValueError(f"target={target!r} must be a name and its parameters, or null")
            target = responses.make(*target)
        if not isinstance(content["parameters"], dict):
            raise ValueError("parameters must be names and values")
        common = {"interval": content["interval"], "target": target, "transition": content["transition"]}
        return family.from_parameters(content["parameters"], **common)
    except KeyError as error:
        raise ValueError(f"{path} is not a whole filter file: it lacks {error}") from None
    except (TypeError, ValueError, OverflowError) as error:
        raise ValueError(f"{path} is not a filter that can be used: {error}") from None


def _content(path: Path) -> dict[str, Any]:
    """The fields of a file that is whole, without its checksum."""
    if path.exists() and not path.is_file():
        raise ValueError(f"{path} is not a filter file: it is not a regular file")
    with path.open("rb") as file:
        raw = file.read(MOST_BYTES + 1)
    if len(raw) > MOST_BYTES:
        raise ValueError(f"{path} is larger than {MOST_BYTES >> 20} MiB, which no filter is")
    try:
        content = json.loads(raw, parse_constant=_no_constant)
    except (ValueError, RecursionError) as error:
        raise ValueError(f"{path} is not a filter file, or it is cut off: {error}") from None
    if not isinstance(content, dict) or content.get("format") != FORMAT:
        raise ValueError(f"{path} is not a filter file: it lacks the mark {FORMAT!r}")
    if content.pop("sha256", None) != checksums.of_json(content):
        raise ValueError(f"{path} was changed after it was saved: its checksum differs; save the filter again")
    missing = FIELDS - content.keys()
    if missing:
        raise ValueError(f"{path} is not a whole filter file: it lacks {', '.join(sorted(missing))}")
    return content


def _no_constant(name: str) -> None:
    raise ValueError(f"{name} is not a number that a filter can have")
