"""Columns of text, each different text kept once."""

from __future__ import annotations

from collections.abc import Collection, Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, NamedTuple, Self

import numpy as np

if TYPE_CHECKING:
    import pyarrow as pa


class Factor(NamedTuple):
    """A column of text: ``values[codes[row]]`` is its cell, and -1 is a missing one; ``values`` are distinct."""

    codes: np.ndarray
    values: pa.StringArray

    @classmethod
    def of(cls, texts: Sequence[str | None] | pa.Array) -> Self:
        """The factor of some cells; None is a missing one.

        >>> Factor.of(["b", None, "b"]).codes
        array([ 0, -1,  0], dtype=int32)
        """
        import pyarrow as pa

        # Large strings: the cells of a column together may be longer than the 2 GiB of ordinary ones.
        array = texts if isinstance(texts, pa.Array) else pa.array(texts, pa.large_string())
        encoded = array.dictionary_encode()
        return cls(encoded.indices.fill_null(-1).to_numpy(), encoded.dictionary.cast(pa.string()))

    def find(self, among: pa.StringArray) -> np.ndarray:
        """(rows,) the position of each cell in ``among``, -1 where it is not there."""
        return np.append(find(self.values, among), -1)[self.codes]

    def stripped(self) -> Factor:
        """Without blanks at the ends of cells."""
        import pyarrow.compute as pc

        values = pc.utf8_trim_whitespace(self.values)
        if values.equals(self.values):
            return self
        once = Factor.of(values)
        return Factor(np.append(once.codes, -1)[self.codes], once.values)

    def without(self, missing: Collection[str]) -> Factor:
        """Cells with one of these texts become missing."""
        import pyarrow as pa

        gone = find(self.values, pa.array(list(missing), pa.string())) >= 0
        if not gone.any():
            return self
        renumbered = np.where(gone, -1, np.cumsum(~gone) - 1)
        return Factor(np.append(renumbered, -1)[self.codes], self.values.filter(pa.array(~gone)))

    def rows(self, kept: np.ndarray) -> Factor:
        """Only some rows; all values stay."""
        return Factor(self.codes[kept], self.values)


def find(values: pa.StringArray, among: pa.StringArray) -> np.ndarray:
    """(values,) the position of each in ``among``, -1 where it is not there."""
    import pyarrow.compute as pc

    return pc.index_in(values, among).fill_null(-1).to_numpy()


def factors(columns: Sequence[pa.ChunkedArray]) -> list[Factor]:
    """Several columns at once, each in a thread of its own: Arrow lets go of the interpreter meanwhile."""
    import pyarrow as pa

    def factor(column: pa.ChunkedArray) -> Factor:
        # In one piece: encoding in chunks would end with a dictionary for each chunk, to be hashed again.
        return Factor.of(column.cast(pa.large_string()).combine_chunks())

    with ThreadPoolExecutor() as pool:
        return list(pool.map(factor, columns))
