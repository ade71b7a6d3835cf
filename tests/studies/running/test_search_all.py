"""The same search for every model: which cells, what budget, resumed, written down and adopted."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from dfnets import models
from dfnets.studies.planning import searches
from dfnets.studies.planning.budget import FAIR_TRIALS, Budget
from dfnets.studies.planning.searches import SearchCell, search_cells
from dfnets.studies.running.search_all import adopt, search_all
from dfnets.studies.showing.document import Table
from dfnets.studies.showing.searches import COLUMNS, trials_table

pytest.importorskip("optuna")
BUDGET = Budget(trials=3, replicas=2, epochs=6, patience=4)


def test_every_model_with_settings_is_searched_on_every_dataset_of_a_table() -> None:
    cells = search_cells()
    assert len(cells) == len(set(cells))
    searched = {(cell.model, cell.dataset) for cell in cells}
    for model in ("dfnet", "dfnet-att", "df-att", "dfnet-plus", "gcn"):
        assert {(model, d) for d in ("cora", "citeseer", "pubmed", "nell")} <= searched
    assert {("gcn", "texas"), ("dfnet", "amazon_computers"), ("grand", "cora")} <= searched
    assert all(models.get(cell.model).space for cell in cells)
    assert {cell.dataset for cell in search_cells(["gcn"], ["cora"])} == {"cora"}
    with pytest.raises(ValueError, match="dataset='karate' is in no table"):
        search_cells(datasets=["karate"])


@pytest.mark.parametrize("cell", search_cells(datasets=["cora", "texas"]), ids=str)
def test_every_cell_has_the_same_limits_and_a_valid_space(cell: SearchCell) -> None:
    standard = Budget()
    assert standard.trials >= FAIR_TRIALS
    if cell.trained:
        assert cell.limits(standard) == {"epochs": 2000, "patience": 100}
        assert set(cell.space["class_weights"]) == {None, "balanced"}
        assert set(cell.space["features"]) >= {"row", "unit", "none"} or not models.get(cell.model).reads_features
    assert not {"epochs", "patience"} & set(cell.space)
    for settings in cell.start:
        models.config(cell.model, cell.preset, **settings, **cell.limits(standard))
    # The ends of every range are valid settings.
    for place in (0, -1):
        ends = {n: v[place] if isinstance(v, list) else v[0 if place == 0 else 1] for n, v in cell.space.items()}
        models.config(cell.model, cell.preset, **ends, **cell.limits(standard))


def test_the_papers_models_start_from_the_authors_values_and_search_their_own_settings() -> None:
    for model in ("dfnet", "dfnet-att", "df-att"):
        cell = SearchCell(model, "nell", "planetoid")
        assert cell.preset.startswith("published")
        assert {"p", "q", "cut", "gamma", "response", "convention"} <= set(cell.space)
        assert cell.start[0] == {}
        assert len(cell.start) == 3
    assert {"heads", "score", "attention_dropout"} <= set(SearchCell("df-att", "cora", "planetoid").space)


def test_a_search_tries_what_the_authors_took_for_the_dataset() -> None:
    tried = {
        (model, dataset): SearchCell(model, dataset, "planetoid").start[-1]
        for model, dataset in (("gat", "pubmed"), ("gat", "cora"), ("gcn", "nell"), ("grand", "citeseer"))
    }
    assert [tried["gat", name]["out_heads"] for name in ("pubmed", "cora")] == [8, 1]
    assert (tried["gcn", "nell"]["dropout"], tried["gcn", "nell"]["units"]) == (0.1, (64,))
    assert tried["grand", "citeseer"]["order"] == 2


def test_a_tuned_network_is_as_patient_as_its_default() -> None:
    for model, patience in (("gcn", 100), ("grand", 200), ("dfnet-plus", 300)):
        cell = SearchCell(model, "cora", "planetoid")
        assert cell.limits(Budget())["patience"] == 100
        assert models.get(model).Config(**cell.settings({}, Budget())).patience == patience


def test_a_search_is_resumed_written_down_and_adopted(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    cells = [SearchCell("gcn", "digits", "random"), SearchCell("lp", "digits", "random")]
    folder = tmp_path / "search"
    assert len(search_all(cells[:1], folder, BUDGET, device="cpu")) == 1
    found = search_all(cells, folder, BUDGET, device="cpu")
    assert list(found) == cells
    assert "2 of 2: lp on digits" in capfd.readouterr().err
    table = trials_table(found, BUDGET)
    assert [row["trial"] for row in table.find(model="gcn")].count(0) == 1
    assert len(table.rows) == 6
    package = tmp_path / "package"
    (package / "models").mkdir(parents=True)
    (package / "studies" / "planning").mkdir(parents=True)
    (package / "models" / "tuned.json").write_text('{"gcn": {"cora": {"dropout": 0.5}}}')
    (package / "studies" / "planning" / "trials.csv").write_text("model,dataset,trials\ngcn,cora,8\n")
    adopt(found, BUDGET, package)
    adopted = json.loads((package / "models" / "tuned.json").read_text())
    assert adopted["gcn"]["cora"] == {"dropout": 0.5}
    expected = models.config("gcn", **dict(found[cells[0]].settings), epochs=6, patience=4)
    assert models.get("gcn").Config(**adopted["gcn"]["digits"]) == expected
    counts = (package / "studies" / "planning" / "trials.csv").read_text().splitlines()
    assert counts == ["model,dataset,trials", "gcn,cora,8", "gcn,digits,3", "lp,digits,3"]


def test_cells_that_are_searched_at_the_same_time_find_what_one_after_the_other_finds(tmp_path: Path) -> None:
    cells = [SearchCell("gcn", "digits", "random"), SearchCell("sgc", "digits", "random")]
    alone = search_all(cells, tmp_path / "alone", BUDGET, device="cpu")
    together = search_all(cells, tmp_path / "together", BUDGET, workers=2, device="cpu")
    for cell in cells:
        assert together[cell].trials.equals(alone[cell].trials)


def test_known_trials_are_not_made_again(tmp_path: Path) -> None:
    cells = [SearchCell("gcn", "digits", "random")]
    table = trials_table(search_all(cells, tmp_path / "first", BUDGET, device="cpu"), BUDGET)
    # No training gives that, so it shows which trials were taken as they are.
    marked = [{**row, "validation": 12.34} for row in table.find()]
    marked[0]["version"] = "another"
    marked[1]["settings"] = json.dumps({"dropout": 0.123})
    found = search_all(cells, tmp_path / "second", BUDGET, device="cpu", known=marked)[cells[0]]
    again = {row["trial"] for row in marked[:2]}
    assert found.tried == BUDGET.trials
    assert {row.trial for row in found.trials.itertuples() if row.validation != 12.34} == again
    first = {row["trial"]: row["validation"] for row in table.find()}
    assert all(row.validation in (12.34, first[row.trial]) for row in found.trials.itertuples())


def test_trials_of_what_is_not_searched_now_stay_in_the_table(tmp_path: Path) -> None:
    cells = [SearchCell("lp", "digits", "random")]
    found = search_all(cells, tmp_path, BUDGET, device="cpu")
    row = ["gcn", 1, "digits", "random", 0, "complete", 2, 50.0, "{}"]
    earlier = Table("search", "", COLUMNS, [row, ["lp", *row[1:]]])
    assert [own["model"] for own in trials_table(found, BUDGET, earlier).find()] == ["gcn", "lp", "lp", "lp"]


def test_what_the_time_did_not_suffice_for_is_searched_the_next_time(tmp_path: Path) -> None:
    cells = [SearchCell("lp", "digits", "random")]
    some = Budget(trials=1, replicas=2, epochs=6, patience=4)
    assert search_all(cells, tmp_path, some, device="cpu", minutes=0) == {}
    assert search_all(cells, tmp_path, some, device="cpu")[cells[0]].tried == 1
    assert search_all(cells, tmp_path, BUDGET, device="cpu", minutes=0)[cells[0]].tried == 1
    assert len(search_all(cells, tmp_path, BUDGET, device="cpu")[cells[0]].trials) == BUDGET.trials


def test_a_dataset_that_is_not_there_is_passed_over(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    missing = SearchCell("gcn", "no-such-dataset", "random")
    assert searches.DATASETS.keys() >= {"cora"}
    assert search_all([missing], tmp_path, BUDGET, device="cpu") == {}
    assert "no-such-dataset" in capfd.readouterr().err
    assert search_all([missing], tmp_path, BUDGET, minutes=0) == {}


def test_options_that_cannot_be_meant_are_refused_before_the_first_trial(tmp_path: Path) -> None:
    cells = [SearchCell("lp", "digits", "random")]
    with pytest.raises(ValueError, match="workers=0"):
        search_all(cells, tmp_path, BUDGET, workers=0)
    with pytest.raises(ValueError, match="minutes=-1"):
        search_all(cells, tmp_path, BUDGET, minutes=-1)
    assert not list(tmp_path.iterdir())
