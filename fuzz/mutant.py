"""What a mutant is."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Mutant:
    """One change of the source that a test must notice.

    Attributes:
        name: what is wrong then.
        file: under src/dfnets.
        before, after: the text to replace, which occurs exactly once, and what replaces it.
        tests: what pytest is given.
    """

    name: str
    file: str
    before: str
    after: str
    tests: str
