"""What a format is to the trials."""

from __future__ import annotations

import random
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

COUNT = 2000
"""Mutated files of each format, where reading one takes milliseconds."""
FEW = 200
"""Of the formats that are databases or hold a whole training."""

Make = Callable[[random.Random], dict[str, bytes]]
Read = Callable[[Path], object]


@dataclass(frozen=True)
class Format:
    """A format: whole files by name, how mutated ones are made, and what reads the folder that they are put into."""

    name: str
    whole: dict[str, bytes]
    make: Make
    read: Read
    count: int = COUNT
