"""The graphs of benchmarks.unseen, from files of a few lines in the formats of WordNet, KANJIDIC and EDICT."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from benchmarks import unseen
from dfnets import datasets


def line(offset: int, subject: int, letter: str, pointers: list[tuple[str, int, str]], text: str) -> str:
    """A sense with two words, as in the files data.noun and data.verb."""
    joined = "".join(f" {symbol} {target:08d} {part} 0000" for symbol, target, part in pointers)
    return f"{offset:08d} {subject:02d} {letter} 02 first 0 second 0 {len(pointers):03d}{joined} | {text}  \n"


def test_senses_are_joined_by_their_relations(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(unseen, "SENSES", 2)
    monkeypatch.setattr(unseen, "LEAST", 1)
    monkeypatch.setattr(unseen, "MOST", 0.6)
    nouns = [
        line(10, 5, "n", [("@", 20, "n"), ("+", 10, "v")], "an animal that flies"),
        line(20, 5, "n", [("~", 10, "n")], "an animal"),
        line(30, 7, "n", [("@", 20, "n")], "the only one of its subject"),
    ]
    verbs = [line(10, 38, "v", [], "to fly; to move"), line(40, 38, "v", [("@", 10, "v")], "move")]
    (tmp_path / "data.noun").write_text("  1 a line of the licence\n" + "".join(nouns))
    (tmp_path / "data.verb").write_text("".join(verbs))
    unseen.main([str(tmp_path), "--wordnet", str(tmp_path)])
    graph = datasets.load(tmp_path / "wordnet.npz")
    # The subject with one sense is left out; a relation between a noun and a verb with the same number stays.
    expected = np.zeros((4, 4))
    for a, b in ((0, 1), (0, 2), (2, 3)):
        expected[a, b] = expected[b, a] = 1
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    np.testing.assert_array_equal(graph.labels, [0, 0, 1, 1])
    # "animal" and "move" are of two definitions, "flies", "fly" and "that" of one.
    assert sorted(graph.features.sum(axis=0)) == [1, 1, 1, 2, 2]


def test_characters_are_joined_where_words_have_them_side_by_side(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(unseen, "LEAST", 1)
    characters = ["# a note", "日 467c B72 G1 S4 F1 {day} {sun}", "本 4b5c B75 G1 S5 {book}", "亜 3021 B1 G8 S7 {Asia}"]
    characters.append("丑 312f B1 S4 {sign of the ox}")
    words = ["日本 [にほん] /(n) Japan/", "本日 [ほんじつ] /(n) today/", "亜 [あ] /sub-/", "日々 [ひび] /every day/"]
    words.append("丑日 /(n) day of the ox/")
    (tmp_path / "kanjidic").write_text("\n".join(characters), encoding="euc_jp")
    (tmp_path / "edict").write_text("\n".join(words), encoding="euc_jp")
    arrays = unseen.kanji(tmp_path / "kanjidic", tmp_path / "edict")
    graph = datasets.layout.to_graph(arrays, "kanji")
    expected = np.zeros((4, 4))
    for a, b in ((0, 1), (0, 3)):
        expected[a, b] = expected[b, a] = 1
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    np.testing.assert_array_equal(graph.labels, [0, 0, 6, -1])


def test_without_files_it_says_what_is_missing(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        unseen.main([str(tmp_path), "--kanjidic", "kanjidic"])
    assert "give --wordnet, or --kanjidic and --edict" in capsys.readouterr().err
