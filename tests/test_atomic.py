"""A file is replaced whole or not at all."""

from __future__ import annotations

import os

import pytest

from dfnets.atomic import replacing


def test_it_takes_the_place_of_the_old_file(tmp_path) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")
    with replacing(path) as temporary:
        temporary.write_text("new")
        assert path.read_text() == "old"
    assert path.read_text() == "new"
    assert list(tmp_path.iterdir()) == [path]


def test_it_has_the_permissions_of_an_ordinary_file(tmp_path) -> None:
    (tmp_path / "plain").write_text("")
    with replacing(tmp_path / "a") as temporary:
        temporary.write_text("")
    assert (tmp_path / "a").stat().st_mode == (tmp_path / "plain").stat().st_mode


@pytest.mark.parametrize("error", [OSError, KeyboardInterrupt])
def test_a_failure_leaves_the_old_file_and_nothing_else(tmp_path, error: type[BaseException]) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def fail() -> None:
        with replacing(path) as temporary:
            temporary.write_text("half")
            raise error

    with pytest.raises(error):
        fail()
    assert path.read_text() == "old"
    assert list(tmp_path.iterdir()) == [path]


def test_a_full_disk_leaves_the_old_file(tmp_path, monkeypatch) -> None:
    path = tmp_path / "a.txt"
    path.write_text("old")

    def full(_: int) -> None:
        raise OSError(28, "No space left on device")

    monkeypatch.setattr(os, "fsync", full)

    def write() -> None:
        with replacing(path) as temporary:
            temporary.write_text("new")

    with pytest.raises(OSError, match="No space"):
        write()
    assert path.read_text() == "old"
