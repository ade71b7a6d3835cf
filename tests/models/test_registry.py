from __future__ import annotations

import pytest

from dfnets import models


def test_names_start_with_the_papers_models() -> None:
    assert models.names()[:3] == ["dfnet", "dfnet-att", "df-att"]


def test_unknown_names_list_the_choices() -> None:
    with pytest.raises(ValueError, match="model='gnn' is not one of 'dfnet', 'dfnet-att', 'df-att'"):
        models.get("gnn")
    with pytest.raises(ValueError, match="preset='best' is not one of 'published', 'published-exact', 'paper'"):
        models.config("dfnet", "best")
    with pytest.raises(ValueError, match=r"dfnet has no setting 'drop'; it has .*dropout"):
        models.config("dfnet", drop=0.5)


def test_bad_values_name_the_setting_and_the_value() -> None:
    with pytest.raises(ValueError, match=r"gamma=1\.5: input should be less than 1"):
        models.config("dfnet", gamma=1.5)


def test_a_preset_may_differ_on_a_dataset() -> None:
    assert models.config("df-att").l2 == 9e-3
    assert models.config("df-att", dataset="nell").l2 == 9e-4
    assert models.config("df-att", dataset="nell", l2=1.0).l2 == 1.0
