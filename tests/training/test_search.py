"""The search: reproducible, resumable, by several workers, and blind to the test nodes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from dfnets import Graph
from dfnets.datasets.splits import Split

pytest.importorskip("optuna")
from dfnets.search import Found, _draw_settings, _enqueue, _found, search

SPACE: dict[str, Any] = {"learning_rate": (1e-3, 1e-1, "log"), "dropout": (0.1, 0.9), "units": [(4,), (4, 6)]}


def run(graph: Graph, split: Split, file: Path, trials: int, **options: Any) -> Found:
    common: dict[str, Any] = {"space": SPACE, "protocol": split, "replicas": 2, "epochs": 4, "device": "cpu"}
    return search("dfnet", graph, file, trials=trials, **{**common, **options})


def table(found: Found) -> list[dict[str, Any]]:
    return found.trials.sort_values("trial", ignore_index=True).to_dict("records")


def test_the_best_on_validation_is_found(graph: Graph, split: Split, tmp_path: Path) -> None:
    found = run(graph, split, tmp_path / "s.db", 5)
    assert len(found.trials) == 5
    assert found.validation == found.trials["validation"].max() == found.trials["validation"][0]
    assert set(found.settings) == set(SPACE)
    assert found.settings["units"] in SPACE["units"]
    assert 0.1 <= found.settings["dropout"] <= 0.9
    assert "best of 5 trials" in repr(found)


def test_the_seed_and_the_number_of_a_trial_decide_what_is_drawn() -> None:
    drawn = {(seed, number): str(_draw_settings(SPACE, seed, number)) for seed in range(3) for number in range(3)}
    assert len(set(drawn.values())) == 9
    assert drawn[1, 2] == str(_draw_settings(SPACE, 1, 2))


def test_orders_of_magnitude_are_equally_likely() -> None:
    rates = [_draw_settings({"rate": (1e-4, 1.0, "log")}, 0, number)["rate"] for number in range(400)]
    counts, _ = np.histogram(np.log10(rates), bins=[-4, -3, -2, -1, 0])
    assert counts.sum() == 400
    assert counts.min() > 70  # 100 are expected in each, with a standard deviation below 9


def test_a_trial_that_was_given_up_does_not_win() -> None:
    import optuna
    from optuna.trial import TrialState, create_trial

    study = optuna.create_study(direction="maximize")
    for draw, (state, value) in enumerate([(TrialState.PRUNED, 90.0), (TrialState.COMPLETE, 50.0)]):
        attributes = {"draw": draw, "settings": {"dropout": draw / 10}}
        study.add_trial(create_trial(state=state, value=value, user_attrs=attributes))
    found = _found(study)
    assert (found.validation, found.settings) == (50.0, {"dropout": 0.1})
    assert found.trials["state"].tolist() == ["complete", "pruned"]


def test_a_trial_that_diverged_is_not_tried_again_and_one_that_was_cut_off_is() -> None:
    import optuna
    from optuna.trial import TrialState, create_trial

    study = optuna.create_study(direction="maximize")
    for draw, more in enumerate([{"diverged": True}, {}]):
        study.add_trial(create_trial(state=TrialState.FAIL, user_attrs={"draw": draw, "settings": {}, **more}))
    _enqueue(study, SPACE, 0, 3, (), {})
    waiting = study.get_trials(states=(TrialState.WAITING,))
    assert [trial.user_attrs["draw"] for trial in waiting] == [1, 2]


def test_trials_are_scored_by_their_best_validation_accuracy(graph: Graph, split: Split, tmp_path: Path) -> None:
    from dfnets.training import fit

    found = run(graph, split, tmp_path / "s.db", 4)
    for score, settings in zip(found.trials["validation"], found.trial_settings, strict=True):
        result = fit(
            "dfnet", graph, protocol=split, replicas=2, epochs=4, device="cpu", progress=False, **dict(settings)
        )
        assert score == np.nanmax(result.history.validation, axis=0).mean()
    assert list(found.trials["validation"]) == sorted(found.trials["validation"], reverse=True)
    assert found.trials["validation"].nunique() > 1
    assert found.settings == found.trial_settings[0]


def test_what_is_tried_first_can_be_given(graph: Graph, split: Split, tmp_path: Path) -> None:
    start = [{}, {"dropout": 0.25, "units": (5,)}]
    found = run(graph, split, tmp_path / "s.db", 4, start=start)
    tried = dict(zip(found.trials["trial"], found.trial_settings, strict=True))
    assert [tried[0], tried[1]] == start
    assert set(tried[2]) == set(tried[3]) == set(SPACE)
    with pytest.raises(ValueError, match="its start is"):
        run(graph, split, tmp_path / "s.db", 4)


def test_hopeless_trials_are_pruned_and_good_ones_are_not(
    graph: Graph, split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("dfnets.search.PRUNE_EVERY", 2)
    space = {"learning_rate": [1e-2], "units": [(6,)]}
    # The last one hardly moves from where it began.
    start = [{"learning_rate": 1e-2, "units": (6,)}] * 6 + [{"learning_rate": 1e-9, "units": (6,)}]
    found = run(graph, split, tmp_path / "s.db", 8, space=space, start=start, prune=True, epochs=30)
    states = dict(zip(found.trials["trial"], found.trials["state"], strict=True))
    assert states.pop(6) == "pruned"
    assert set(states.values()) == {"complete"}
    assert found.settings["learning_rate"] == 1e-2
    assert list(found.trials["state"])[-1] == "pruned"
    # A pruned trial is settled: nothing is left to try.
    again = run(graph, split, tmp_path / "s.db", 8, space=space, start=start, prune=True, epochs=30)
    assert again.trial_settings == found.trial_settings


def test_resuming_and_workers_change_nothing(graph: Graph, split: Split, tmp_path: Path) -> None:
    at_once = run(graph, split, tmp_path / "a.db", 4)
    run(graph, split, tmp_path / "b.db", 2)
    resumed = run(graph, split, tmp_path / "b.db", 4, workers=2)
    assert table(resumed) == table(at_once)


def test_a_killed_search_goes_on(graph: Graph, split: Split, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import dfnets.training

    calls, real = [], dfnets.training.fit

    def dies(*args: Any, **options: Any) -> Any:
        calls.append(1)
        if len(calls) == 2:
            raise KeyboardInterrupt
        return real(*args, **options)

    monkeypatch.setattr(dfnets.training, "fit", dies)
    with pytest.raises(KeyboardInterrupt):
        run(graph, split, tmp_path / "s.db", 3)
    monkeypatch.setattr(dfnets.training, "fit", real)
    assert table(run(graph, split, tmp_path / "s.db", 3)) == table(run(graph, split, tmp_path / "t.db", 3))


def test_test_labels_do_not_matter(graph: Graph, split: Split, tmp_path: Path) -> None:
    labels = np.asarray(graph.labels).copy()
    labels[split.test] = (labels[split.test] + 1) % 3
    one = run(graph, split, tmp_path / "a.db", 3)
    other = run(graph.with_(labels=labels), split, tmp_path / "b.db", 3)
    assert table(one) == table(other)


def test_diverging_trials_are_left_out(graph: Graph, split: Split, tmp_path: Path) -> None:
    space = {"learning_rate": [1e-2, 1e30], "unit_norm": [False], "momentum": [None]}
    found = run(graph, split, tmp_path / "s.db", 6, space=space, epochs=10)
    assert set(found.trials["learning_rate"]) == {1e-2}
    with pytest.raises(ArithmeticError, match="all 2 trials diverged"):
        run(graph, split, tmp_path / "t.db", 2, space={**space, "learning_rate": [1e30]}, epochs=10)


def test_bad_arguments(graph: Graph, split: Split, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="trials=0, workers=1: at least 1 of each"):
        run(graph, split, tmp_path / "s.db", 0)


def test_the_file_of_another_search_is_refused(graph: Graph, split: Split, tmp_path: Path) -> None:
    """Before, the old trials were given as the answer to the new question."""
    file = tmp_path / "s.db"
    run(graph, split, file, 1)
    changes: list[tuple[dict[str, Any], str]] = [
        ({"seed": 1}, "seed is 0, here it is 1"),
        ({"replicas": 1}, "replicas is 2, here it is 1"),
        ({"epochs": 3}, "epochs is 4, here it is 3"),
        ({"preset": "paper"}, "preset is None, here it is 'paper'"),
        ({"space": {"dropout": (0.1, 0.9)}}, "space is "),
        ({"protocol": "another"}, "protocol is "),
    ]
    for change, named in changes:
        with pytest.raises(ValueError, match=f"is the file of another search: its {named}"):
            run(graph, split, file, 1, **change)
    labels = (np.asarray(graph.labels) + 1) % 3
    with pytest.raises(ValueError, match="is the file of another search: its graph is"):
        run(graph.with_(labels=labels), split, file, 1)
    with pytest.raises(ValueError, match="is the file of another search: its model is 'dfnet', here it is 'gcn'"):
        search("gcn", graph, file, trials=1, space=SPACE, protocol=split, replicas=2, epochs=4, device="cpu")


def test_what_is_no_search_file_is_refused(graph: Graph, split: Split, tmp_path: Path) -> None:
    (tmp_path / "s.db").write_bytes(b"SQLite format 3\0" + bytes(range(256)) * 20)
    with pytest.raises(ValueError, match=r"s\.db is not the file of a search, or it is damaged"):
        run(graph, split, tmp_path / "s.db", 1)
    with pytest.raises(OSError, match="is a folder, not a regular file"):
        run(graph, split, tmp_path, 1)
