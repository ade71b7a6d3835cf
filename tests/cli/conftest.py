"""A wide terminal, so that no line of a table is folded."""

from __future__ import annotations

import pytest

from dfnets.cli.common import console


@pytest.fixture(autouse=True)
def wide(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(console, "_width", 300)
