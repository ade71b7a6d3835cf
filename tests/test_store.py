"""The store: whole rows or none, one row a run, errors that say what to do."""

from __future__ import annotations

import sqlite3
from dataclasses import replace
from pathlib import Path

import pytest

from dfnets.store import Run, Store, canonical

RUN = Run("c0de", "cora", "d", "planetoid", "s", "gcn", canonical({"dropout": 0.5}), 0, validation=81.5)


def runs(count: int, **changes: object) -> list[Run]:
    return [replace(RUN, seed=seed, **changes) for seed in range(count)]


def test_what_is_added_is_there_in_every_process(tmp_path: Path) -> None:
    first = Store(tmp_path / "folder" / "s.db")
    first.add([replace(RUN, measures={"points": [1.5, None]}, versions={"torch": "2"})])
    second = Store(tmp_path / "folder" / "s.db")
    assert second.runs() == first.runs() == [replace(RUN, measures={"points": [1.5, None]}, versions={"torch": "2"})]
    second.add(runs(3, model="gat"))
    assert len(first) == 4
    assert [run.seed for run in first.runs(model="gat")] == [0, 1, 2]
    assert ("c0de", "cora", "planetoid", "gat", RUN.config, 2) in first.identities()


def test_the_first_of_two_equal_runs_stays(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.db")
    store.add(runs(2))
    store.add(runs(3, validation=12.0))
    assert [run.validation for run in store.runs()] == [81.5, 81.5, 12.0]


@pytest.mark.parametrize("name", ["code", "dataset", "data", "protocol", "split", "model", "config", "seed"])
def test_a_run_is_known_by_all_that_its_numbers_depend_on(name: str) -> None:
    other = replace(RUN, **{name: 7 if name == "seed" else "other"})
    assert other.key != RUN.key
    assert replace(RUN, validation=1.0, seconds=2.0).key == RUN.key


def test_failures_can_be_forgotten(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.db")
    store.add([*runs(2), replace(RUN, seed=9, status="failed", reason="diverged")])
    assert store.forget_failures() == 1
    assert {run.status for run in store.runs()} == {"done"}


def test_a_damaged_file_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    path.write_bytes(b"this is no database, whatever its name says" * 100)
    with pytest.raises(ValueError, match=r"s\.db is not a store of runs, or it is damaged"):
        Store(path)


def test_a_file_with_damaged_pages_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "s.db"
    store = Store(path)
    store.add(runs(500))
    store.close()
    content = bytearray(path.read_bytes())
    content[4096 : len(content) - 4096] = b"\xa5" * (len(content) - 8192)
    path.write_bytes(content)
    with pytest.raises(ValueError, match="damaged"):
        Store(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ("ALTER TABLE runs RENAME COLUMN versions TO version5", "its runs have no column 'versions'"),
        ("DROP TABLE runs", "its runs have no column 'key'"),
        ("UPDATE runs SET settings = 7", "the settings of a run cannot be read"),
        ("UPDATE runs SET measures = '{'", "the measures of a run cannot be read"),
    ],
)
def test_another_schema_and_unreadable_entries_are_refused(tmp_path: Path, change: str, message: str) -> None:
    path = tmp_path / "s.db"
    with Store(path) as store:
        store.add(runs(2))
    connection = sqlite3.connect(path)
    # A table of another name stays, so that the file is not taken for an empty one.
    connection.executescript(f"CREATE TABLE other (name); {change}")
    connection.close()
    with pytest.raises(ValueError, match=rf"s\.db is not a store of runs, or it is damaged \({message}"):
        Store(path).runs()


def test_the_file_of_another_program_is_refused(tmp_path: Path) -> None:
    with sqlite3.connect(tmp_path / "s.db") as other:
        other.execute("CREATE TABLE things (name)")
    with pytest.raises(ValueError, match="of something else"):
        Store(tmp_path / "s.db")
    with pytest.raises(ValueError, match="is a folder"):
        Store(tmp_path)


def test_a_full_disk_loses_nothing_that_was_stored(tmp_path: Path) -> None:
    store = Store(tmp_path / "s.db")
    store.add(runs(2))
    # SQLite then answers as it does when the disk has no room.
    pages = store._connection.execute("PRAGMA page_count").fetchone()[0]
    store._connection.execute(f"PRAGMA max_page_count = {pages}")
    with pytest.raises(OSError, match="every run stored before is still there"):
        store.add([replace(RUN, seed=seed, measures={"points": [0.5] * 1000}) for seed in range(2, 50)])
    assert [run.seed for run in Store(tmp_path / "s.db").runs()] == [0, 1]
    store._connection.execute("PRAGMA max_page_count = 100000")
    store.add(runs(4))
    assert len(store) == 4
