"""Columns of a table as features: numbers as they are, categories as one column each, missing values filled.

What was done is kept with the graph and in the model folder, so that another file is treated in the same way.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Self

import numpy as np
import scipy.sparse as sp

from dfnets.datasets.factors import Factor
from dfnets.datasets.features import check_columns

# Below this share of nonzeros, products with a sparse matrix are faster, and it is smaller.
SPARSE_BELOW = 0.2
# A text column with more different values than this, and more than one in five rows, is a name and no category.
CATEGORIES = 20


@dataclass(frozen=True)
class Column:
    """How one column of a file becomes features.

    Attributes:
        fill: the number that stands for a missing one: the median of those that were there. None for categories.
        categories: the texts that get a column each, in order; None for a column of numbers. A text that is not among
            them, or a missing one, has 0 in all of these columns. A column without any value has no categories.
    """

    name: str
    fill: float | None = None
    categories: tuple[str, ...] | None = None

    @property
    def names(self) -> list[str]:
        """The features that it becomes: its name, or "name=category" for each category."""
        return [self.name] if self.categories is None else [f"{self.name}={text}" for text in self.categories]


@dataclass(frozen=True)
class FeatureEncoder:
    """What turns the columns of a file into features, learned from the file that a model is trained on.

    >>> town = Factor.of(["Ulm", "Oslo", "Ulm"])
    >>> encoder = FeatureEncoder.fit({"age": np.array([30.0, np.nan, 50.0]), "town": town})
    >>> encoder.feature_names
    ('age', 'town=Oslo', 'town=Ulm')
    >>> encoder.encode({"age": np.array([30.0, np.nan, 50.0]), "town": town}).values
    array([[30.,  0.,  1.],
           [40.,  1.,  0.],
           [50.,  0.,  1.]])
    """

    columns: tuple[Column, ...]

    @classmethod
    def fit(cls, columns: Mapping[str, np.ndarray | Factor]) -> Self:
        """Learns categories, and the medians that fill gaps.

        Args:
            columns: by name; (n,) numbers with NaN where one is missing, or text.

        Raises:
            ValueError: a column of text that has almost as many values as rows.
        """
        return cls(tuple(_learn(name, values) for name, values in columns.items()))

    @property
    def feature_names(self) -> tuple[str, ...]:
        """The names of the columns of the matrix that :meth:`encode` gives."""
        return tuple(name for column in self.columns for name in column.names)

    @property
    def notes(self) -> list[str]:
        """What becomes of text, in words."""
        text = [column for column in self.columns if column.categories is not None]
        return [
            f"column {one.name}: {len(one.categories)} categories, one feature each"
            if one.categories
            else f"column {one.name}: no value in any row, not used"
            for one in text
        ]

    def text_columns(self, names: Sequence[str]) -> list[str]:
        """Those of these columns of a file that hold categories."""
        text = {column.name for column in self.columns if column.categories is not None}
        return [name for name in names if name in text]

    def check(self, names: Iterable[str]) -> None:
        """Refuses a file whose columns are not those that this was learned from; their order does not matter."""
        check_columns([column.name for column in self.columns], list(names))

    def encode(self, columns: Mapping[str, np.ndarray | Factor]) -> Encoded:
        """(n, f) features, sparse where most are zero, and what was done that a person should know."""
        self.check(columns)
        parts: list[np.ndarray] = []
        filled: list[str] = []
        notes: list[str] = []
        for column in self.columns:
            values = columns[column.name]
            if column.categories == ():
                continue  # it had no value in training, so nothing was learned about it
            if isinstance(values, Factor):
                assert column.categories is not None
                parts += _one_hot(column, column.categories, values, notes)
                continue
            gaps = np.isnan(values)
            if gaps.any():
                assert column.fill is not None
                filled.append(f"{column.name}: {np.count_nonzero(gaps)} with {column.fill:g}")
                values = np.where(gaps, column.fill, values)
            parts.append(values)
        if filled:
            shown = "; ".join(filled[:5]) + ("; ..." if len(filled) > 5 else "")
            where = "1 column" if len(filled) == 1 else f"{len(filled)} columns"
            notes.append(f"missing numbers in {where} filled with the median ({shown})")
        return Encoded(_assemble(parts), tuple(notes))

    def to_json(self) -> list[dict[str, Any]]:
        """For a model folder; see :meth:`from_json`."""
        return [
            {"name": column.name, "fill": column.fill}
            if column.categories is None
            else {"name": column.name, "categories": list(column.categories)}
            for column in self.columns
        ]

    @classmethod
    def from_json(cls, content: Any) -> Self:
        """What :meth:`to_json` gave; anything else is refused."""
        try:
            return cls(tuple(_column(**entry) for entry in content))
        except (TypeError, ValueError) as error:
            raise ValueError(f"this is not a feature encoding: {error}") from None

    def __repr__(self) -> str:
        text = sum(column.categories is not None for column in self.columns)
        return f"FeatureEncoder(columns={len(self.columns)}, categorical={text}, features={len(self.feature_names)})"


@dataclass(frozen=True, eq=False)
class Encoded:
    """Features, and sentences about what was filled or left out."""

    values: np.ndarray | sp.csr_array
    notes: tuple[str, ...] = field(default=())


def compact(matrix: np.ndarray) -> np.ndarray | sp.csr_array:
    """The matrix, sparse if most of it is zero."""
    return sp.csr_array(matrix) if np.count_nonzero(matrix) < SPARSE_BELOW * matrix.size else matrix


def _learn(name: str, values: np.ndarray | Factor) -> Column:
    if isinstance(values, Factor):
        texts = [values.values[int(k)].as_py() for k in np.unique(values.codes[values.codes >= 0])]
        rows = len(values.codes)
        if len(texts) > CATEGORIES and len(texts) > rows / 5:
            raise ValueError(
                f"column {name!r} holds text, {len(texts)} different values in {rows} rows, too many to be categories: "
                f"leave it out with --ignore {name} (ignore=[{name!r}])"
            )
        return Column(name, categories=tuple(sorted(texts)))
    present = values[~np.isnan(values)]
    if not len(present):
        return Column(name, categories=())
    return Column(name, fill=float(np.median(present)))


def _column(name: str, fill: float | None = None, categories: Sequence[str] | None = None) -> Column:
    if not isinstance(name, str) or (categories is None) == (fill is None):
        raise ValueError(f"column {name!r} needs either a fill or categories")
    if categories is None:
        return Column(name, fill=float(fill))  # type: ignore[arg-type]
    return Column(name, categories=tuple(str(text) for text in categories))


def _one_hot(column: Column, categories: tuple[str, ...], values: Factor, notes: list[str]) -> list[np.ndarray]:
    number = {text: k for k, text in enumerate(categories)}
    # One more at the end: a missing cell has code -1.
    codes = np.array([*(number.get(text, -2) for text in values.values.to_pylist()), -1])[values.codes]
    unseen = np.flatnonzero(codes == -2)
    if len(unseen):
        notes.append(
            f"column {column.name}: {len(unseen)} cells hold a category that training did not see "
            f"(the first: {values.values[int(values.codes[unseen[0]])].as_py()!r}); all its columns are 0 there"
        )
    if missing := int(np.count_nonzero(codes == -1)):
        notes.append(f"column {column.name}: {missing} cells are empty; all its columns are 0 there")
    return [(codes == k).astype(np.float64) for k in range(len(categories))]


def _assemble(parts: list[np.ndarray]) -> np.ndarray | sp.csr_array:
    n, f = len(parts[0]) if parts else 0, len(parts)
    rows = [np.flatnonzero(part) for part in parts]
    counts = [len(found) for found in rows]
    if sum(counts) >= SPARSE_BELOW * n * f:
        return np.stack(parts, axis=1)
    values = np.concatenate([part[found] for part, found in zip(parts, rows, strict=True)])
    ends = np.concatenate([[0], np.cumsum(counts)])
    return sp.csc_array((values, np.concatenate(rows), ends), shape=(n, f)).tocsr()
