"""The version of the code: raised by hand, for one model, one measurement, or everything that is trained."""

from __future__ import annotations

import pytest

from dfnets import models
from dfnets.studies.planning import Group
from dfnets.studies.running import code_version
from dfnets.studies.running.measures import stability


def test_a_model_has_a_version_of_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    gcn, gat = Group("gcn", "cora"), Group("gat", "cora")
    before = {group.model: code_version.of_group(group) for group in (gcn, gat)}
    assert before["gcn"] != before["gat"]
    monkeypatch.setattr(models.get("gcn"), "version", 99)
    assert code_version.of_group(gcn) != before["gcn"]
    assert code_version.of_group(gat) == before["gat"]


def test_what_all_models_share_changes_all_of_them_but_no_measurement(monkeypatch: pytest.MonkeyPatch) -> None:
    trained, measured = Group("gcn", "cora"), Group("a filter", "cora", measure="stability")
    embedded = Group("gcn", "cora", measure="embedding")
    before = [code_version.of_group(group) for group in (trained, embedded, measured)]
    monkeypatch.setattr(code_version, "VERSION", 99)
    after = [code_version.of_group(group) for group in (trained, embedded, measured)]
    assert [a != b for a, b in zip(after, before, strict=True)] == [True, True, False]
    monkeypatch.setattr(stability, "VERSION", 99)
    assert code_version.of_group(measured) != before[2]
