"""The hyper-parameters that were found for each dataset, on validation nodes, by :func:`dfnets.search.search`."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any


def tuned(model: str) -> Mapping[str, Mapping[str, Any]]:
    """What was found for a model: by dataset, the settings that differ from those of its ``Config``.

    >>> tuned("no such model")
    {}
    """
    return _found().get(model, {})


@cache
def _found() -> dict[str, dict[str, dict[str, Any]]]:
    return json.loads(Path(__file__).with_name("tuned.json").read_text())
