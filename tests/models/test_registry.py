from __future__ import annotations

import numpy as np
import pytest

from dfnets import Graph, fit, models
from dfnets.datasets.splits import Split
from dfnets.models.plus_ensemble import KINDS


def test_names_start_with_the_papers_models() -> None:
    assert models.names()[:3] == ["dfnet", "dfnet-att", "df-att"]


def test_unknown_names_list_the_choices() -> None:
    with pytest.raises(ValueError, match="model='gnn' is not one of 'dfnet', 'dfnet-att', 'df-att'"):
        models.get("gnn")
    with pytest.raises(
        ValueError, match="preset='best' is not one of 'default', 'published', 'published-exact', 'paper'"
    ):
        models.config("dfnet", "best")
    with pytest.raises(ValueError, match=r"dfnet has no setting 'drop'; it has .*dropout"):
        models.config("dfnet", drop=0.5)


def test_bad_values_name_the_setting_and_the_value() -> None:
    with pytest.raises(ValueError, match=r"gamma=1\.5: input should be less than 1"):
        models.config("dfnet", gamma=1.5)


@pytest.mark.parametrize("name", models.names())
def test_the_default_comes_first_and_names_say_what_presets_are(name: str) -> None:
    first, *others = models.presets(name)
    assert first == models.DEFAULT
    assert models.config(name) == models.config(name, first)
    if name == "small-network":
        assert others == list(KINDS)
        return
    kinds = {preset.partition("-")[0] for preset in others}
    assert kinds <= {"paper", "tuned", "published", "low", "nell", "longer"}


def test_paper_presets_are_the_papers_values() -> None:
    gcn = models.config("gcn", "paper").model_dump()
    assert (gcn["units"], gcn["learning_rate"], gcn["dropout"], 2 * gcn["l2"]) == ((16,), 0.01, 0.5, 5e-4)
    gat = models.config("gat", "paper-pubmed").model_dump()
    assert (gat["heads"], gat["out_heads"], gat["learning_rate"], 2 * gat["l2"]) == (8, 8, 0.01, 1e-3)
    for name in ("lnet", "adalnet"):
        lanczos = models.config(name, "paper").model_dump()
        assert (lanczos["short"], lanczos["long"], lanczos["steps"]) == ((1, 2, 5, 7), (10, 20, 30), 20)
        assert (lanczos["units"], lanczos["dropout"], lanczos["kernel_units"]) == ((64,), 0.5, 128)
    arma = models.config("arma", "paper").model_dump()
    assert (arma["stacks"], arma["out_stacks"], arma["dropout"], arma["l2"], arma["patience"]) == (
        2,
        1,
        0.75,
        5e-4,
        200,
    )
    deep = models.config("gcnii", "paper-citeseer").model_dump()
    assert (deep["depth"], deep["width"], deep["decay"], 2 * deep["l2"]) == (32, 256, 0.6, 1e-2)


def test_what_a_search_found_has_the_name_of_its_dataset() -> None:
    assert models.config("gcn", "tuned-cora").model_dump()["units"] == (64,)
    assert models.config("df-att", "paper-nell").model_dump()["l2"] == 9e-4


def test_a_graph_by_the_name_of_a_dataset_gets_no_settings_of_it() -> None:
    own = Graph(np.ones((12, 12)) - np.eye(12), features=np.eye(12), labels=np.arange(12) % 2, name="cora")
    split = Split(np.arange(4), np.arange(4, 8), np.arange(8, 12), "made")
    result = fit("gcn", own, protocol=split, replicas=1, epochs=1, progress=False)
    assert result.config == models.config("gcn", epochs=1)
    assert "gcn on cora, preset default with epochs=1, protocol made" in repr(result)
    assert result.trained().about["preset"] == "default with epochs=1"
