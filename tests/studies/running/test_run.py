"""Running a study: killed at any moment, by several processes, with models that fail."""

from __future__ import annotations

import multiprocessing
import time
from pathlib import Path

import numpy as np
import pytest
from studies import tiny

from dfnets.store import Store
from dfnets.studies.planning import Group
from dfnets.studies.running import run
from dfnets.studies.running.jobs import jobs_of

CONTEXT = multiprocessing.get_context("forkserver")
# Imported once, by a process that trains nothing: its children start in no time.
CONTEXT.set_forkserver_preload(["torch", "dfnets.training.fitting", "dfnets.studies.running", "studies.tiny"])
EXPECTED = sum(group.seeds for group in tiny.groups())


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data")
    tiny.write_data(folder)
    return folder


def started(data: Path, store: Path) -> multiprocessing.process.BaseProcess:
    process = CONTEXT.Process(target=tiny.work, args=(str(data), str(store), f"{store}.log"))
    process.start()
    return process


@pytest.fixture(scope="module")
def undisturbed(data: Path) -> tuple[dict[str, tuple[object, ...]], float]:
    """The rows of a study that nobody disturbs, and how long it takes."""
    warm = started(data, data / "warm.db")
    warm.join()
    began = time.perf_counter()
    process = started(data, data / "undisturbed.db")
    process.join()
    took = time.perf_counter() - began
    assert process.exitcode == 0
    rows = tiny.content(data / "undisturbed.db")
    assert len(rows) == EXPECTED
    return rows, took


def test_killed_ten_times_a_study_ends_with_the_same_rows(data: Path, undisturbed: tuple, tmp_path: Path) -> None:
    rows, took = undisturbed
    store = tmp_path / "s.db"
    seen: dict[str, str] = {}
    moments = np.random.default_rng(0).uniform(0.1, 0.6, 10) * took
    for moment in moments:
        process = started(data, store)
        process.join(moment)
        process.kill()
        process.join()
        if store.exists():
            stamps = {each.key: f"{each.finished} {each.seconds}" for each in Store(store).runs()}
            # What was finished is still there, as it was: it did not run again.
            assert stamps.items() >= seen.items()
            seen = stamps
    last = started(data, store)
    last.join()
    assert last.exitcode == 0
    stamps = {each.key: f"{each.finished} {each.seconds}" for each in Store(store).runs()}
    assert stamps.items() >= seen.items()
    assert tiny.content(store) == rows


def test_two_processes_share_a_study(data: Path, undisturbed: tuple, tmp_path: Path) -> None:
    store = tmp_path / "s.db"
    both = [started(data, store) for _ in range(2)]
    for process in both:
        process.join()
    assert [process.exitcode for process in both] == [0, 0]
    assert tiny.content(store) == undisturbed[0]
    trained = sum(len(job.seeds) > 0 for job in jobs_of(tiny.groups()[:-1]))
    assert Path(f"{store}.log").read_text().count("trained") == trained


def test_a_model_that_fails_is_stored_with_its_reason(data: Path, undisturbed: tuple) -> None:  # noqa: ARG001
    failed = [each for each in Store(data / "undisturbed.db").runs() if each.status == "failed"]
    assert [each.seed for each in failed] == [0, 1]
    assert all(each.reason.startswith("DivergedError: the loss of replica 0") for each in failed)


def test_spawned_workers_do_the_same(
    data: Path, undisturbed: tuple, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("DFNETS_DATA", str(data))
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    run(tiny.groups(), tmp_path / "s.db", workers=2, device="cpu")
    assert tiny.content(tmp_path / "s.db") == undisturbed[0]


def test_what_is_not_there_is_left_out(tmp_path: Path, capfd: pytest.CaptureFixture[str]) -> None:
    groups = [Group("no-such-model", "cora"), Group("dfnet", "no-such-dataset", overrides={"epochs": 1}, seeds=1)]
    run(groups, tmp_path / "s.db", workers=1, device="cpu")
    said = capfd.readouterr().err
    assert "not registered, left out: no-such-model" in said
    assert "left out, no data: dfnet on no-such-dataset" in said
    assert len(Store(tmp_path / "s.db")) == 0


def test_nothing_starts_after_the_time_is_up(data: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("DFNETS_DATA", str(data))
    run(tiny.groups(), tmp_path / "s.db", workers=1, device="cpu", minutes=0)
    assert len(Store(tmp_path / "s.db")) == 0


def test_no_run_is_in_two_jobs() -> None:
    group = Group("dfnet", "cora", preset="published", seeds=4)
    again = Group("dfnet", "cora", preset="published", overrides={"p": 5}, seeds=25)
    jobs = jobs_of([group, again, Group("dfnet", "pubmed", seeds=2)])
    assert sorted(seed for job in jobs for seed in job.seeds if job.group.dataset == "cora") == list(range(25))
    assert jobs[-1].group.dataset in ("pubmed", "cora")
