"""Labels of nodes in files."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, NoReturn

import numpy as np

from dfnets.datasets.dialect import MISSING, TableOptions
from dfnets.datasets.factors import Factor
from dfnets.datasets.nodes import IDS, open_with_ids, sorted_names
from dfnets.datasets.tables import column_of, refuse_empty, refuse_repeated

if TYPE_CHECKING:
    import pyarrow as pa

NAMES = ("label", "labels", "class", "classes", "y", "target", "category", "group")


@dataclass(frozen=True)
class Labels:
    """Classes of nodes, as text.

    Attributes:
        column: where they come from.
        fail: raises a ValueError that names a row and what is wrong with its id.
    """

    path: Path
    column: str
    ids: Factor
    classes: Factor
    notes: list[str]
    fail: Callable[[int, str], NoReturn]

    def placed(self, nodes: pa.StringArray) -> tuple[np.ndarray, tuple[str, ...], np.ndarray]:
        """(n,) numbers of classes, their names, and the rows whose id is no node."""
        used = np.unique(self.classes.codes[self.classes.codes >= 0])
        texts = self.classes.values.to_pylist()
        names = sorted_names([texts[k] for k in used])
        number = {name: k for k, name in enumerate(names)}
        # One more at the end: a missing cell has code -1.
        numbers = np.array([*(number.get(text, -1) for text in texts), -1])
        rows = self.ids.find(nodes)
        labels = np.full(len(nodes), -1, dtype=np.int64)
        labels[rows[rows >= 0]] = numbers[self.classes.codes[rows >= 0]]
        return labels, tuple(names), np.flatnonzero(rows < 0)


def read_labels(
    path: Path, options: TableOptions, *, id: str | None, label: str | None, known: pa.StringArray | None
) -> Labels:
    """The labels of a file; see :func:`dfnets.datasets.files.read` for the arguments."""
    table = open_with_ids(path, options, known)
    name = column_of(table, "id", id, 0, IDS)
    column = column_of(table, "label", label, 1, NAMES, taken=[name])
    (ids, classes), _ = table.read([name, column], [])
    refuse_empty(table, ids, name)
    refuse_repeated(table, ids, name)
    missing = (*MISSING, "-1") if options.missing is None else options.missing
    given = classes.without(missing)
    unknown = int(np.count_nonzero(given.codes < 0))
    notes = []
    if unknown:
        said = "1 label is" if unknown == 1 else f"{unknown:,} labels are"
        notes.append(f"{said} missing{_shown(classes, missing)}: to be predicted")

    def fail(row: int, why: str) -> NoReturn:
        table.fail(row, name, why)

    return Labels(path, column, ids, given, notes, fail)


def _shown(classes: Factor, missing: Sequence[str]) -> str:
    """The texts that stand for no label, in brackets."""
    texts = [repr(text) for text in classes.values.to_pylist() if text in missing and text]
    return f" ({', '.join(texts)})" if texts else ""
