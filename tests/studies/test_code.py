"""The version of the code: what changes it, and what does not."""

from __future__ import annotations

from pathlib import Path

import pytest

from dfnets.studies import code
from dfnets.studies.plan import Group


@pytest.fixture
def package(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    (tmp_path / "a.py").write_text(
        '"""Doc."""\n\nfrom dfnets import b\n\n\ndef f():\n    """Doc."""\n    return b.g()\n'
    )
    (tmp_path / "b.py").write_text("def g():\n    # why\n    from dfnets.c import h\n    return h()\n")
    (tmp_path / "c.py").write_text("def h():\n    return 1\n")
    (tmp_path / "d.py").write_text("import dfnets.a\n")
    monkeypatch.setattr(code, "ROOT", tmp_path)
    return tmp_path


def version() -> str:
    return code.version.__wrapped__(("dfnets.a",))


@pytest.mark.parametrize(
    "file, old, new, counts",
    [
        ("c.py", "return 1", "return 2", True),
        ("a.py", "return b.g()", "return -b.g()", True),
        ("a.py", "Doc.", "More words.", False),
        ("b.py", "# why", "# because", False),
        ("b.py", "    # why\n", "\n\n", False),
        ("d.py", "import dfnets.a", "import os", False),
    ],
)
def test_only_code_that_is_imported_counts(package: Path, file: str, old: str, new: str, counts: bool) -> None:
    before = version()
    (package / file).write_text((package / file).read_text().replace(old, new))
    assert (version() != before) == counts


def test_models_have_versions_of_their_own() -> None:
    assert code.of_model("dfnet") == code.of_model("dfnet-att")
    found = code._closure(["dfnets.training.fit", "dfnets.models.dfnet"])
    assert {"dfnets.engine.cpu", "dfnets.filters.design", "dfnets.nn.conv", "dfnets.datasets.splits"} <= found
    assert not any(name.startswith(("dfnets.report", "dfnets.cli", "dfnets.studies")) for name in found)
    assert Group("a filter", "cora", measure="stability").code != code.of_model("dfnet")
