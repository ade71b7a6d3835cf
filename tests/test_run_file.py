"""Runs in a file: what comes back is what was written, and a damaged file is refused."""

from __future__ import annotations

import gzip
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from dfnets.run_file import read_runs, write_runs
from dfnets.store import Run, Store, canonical, pack_bits, unpack_bits

RUN = Run(
    "training-2 gcn-1",
    "cora",
    "d",
    "planetoid",
    "s",
    "gcn",
    canonical({"dropout": 0.5}),
    0,
    validation=81.5,
    correct=pack_bits(np.array([True, False, True])),
    tested=3,
    settings={"units": [16]},
    measures={"points": [1.5, None]},
)


def test_what_was_written_comes_back(tmp_path: Path) -> None:
    runs = [replace(RUN, seed=seed) for seed in range(5)] + [replace(RUN, seed=9, status="failed", reason="diverged")]
    write_runs(runs, tmp_path / "runs.jsonl.gz")
    found = read_runs(tmp_path / "runs.jsonl.gz")
    assert sorted(found, key=lambda run: run.seed) == runs
    assert unpack_bits(found[0].correct, found[0].tested).tolist() == [True, False, True]
    with Store(tmp_path / "s.db") as store:
        store.add(found)
        assert {run.key for run in store.runs()} == {run.key for run in runs}
    write_runs(runs[::-1], tmp_path / "again.gz")
    assert (tmp_path / "again.gz").read_bytes() == (tmp_path / "runs.jsonl.gz").read_bytes()


@pytest.mark.parametrize(
    "damage",
    [
        lambda content: content[: len(content) // 2],
        lambda _: b"no gzip at all",
        lambda _: gzip.compress(b'{"format":"something else"}\n'),
        lambda content: gzip.compress(gzip.decompress(content) + b'{"seed":1}\n'),
        lambda content: gzip.compress(gzip.decompress(content).replace(b'"seed":1', b'"seed":"one"')),
    ],
)
def test_a_damaged_file_is_refused(tmp_path: Path, damage: object) -> None:
    path = tmp_path / "runs.jsonl.gz"
    write_runs([RUN, replace(RUN, seed=1)], path)
    path.write_bytes(damage(path.read_bytes()))  # type: ignore[operator]
    with pytest.raises(ValueError, match=r"runs\.jsonl\.gz is not a file of runs, or it is damaged"):
        read_runs(path)
