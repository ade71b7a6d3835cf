"""Matrix Market files, the format of the SuiteSparse collection: coordinates of a sparse matrix as text."""

from __future__ import annotations

import io
import zlib
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from dfnets.datasets.dialect import open_bytes


def read_matrix_market(path: Path) -> sp.coo_array:
    """The matrix in a file; one that is symmetric by its header is stored by half, and given whole.

    It is not left to SciPy, whose reader trusts the numbers of a damaged file with its memory.
    """
    import pandas

    try:
        with open_bytes(path) as file:
            text = io.TextIOWrapper(file, "latin-1")
            kind, symmetric = _header(text.readline())
            sizes = next((line for line in text if line.strip() and not line.startswith("%")), "").split()
            if len(sizes) != 3 or not all(size.isdecimal() for size in sizes):
                raise ValueError("it lacks the line with the numbers of rows, columns and entries")
            names = ["row", "column"] if kind == "pattern" else ["row", "column", "value"]
            frame = pandas.read_csv(text, sep=r"\s+", header=None, names=names, index_col=False, dtype=np.float64)
    except pandas.errors.EmptyDataError:
        frame = pandas.DataFrame(columns=names, dtype=np.float64)
    except (ValueError, OSError, EOFError, zlib.error) as error:
        raise ValueError(f"{path} is not a readable Matrix Market file: {error}") from None
    rows, columns, count = map(int, sizes)
    if len(frame) != count:
        raise ValueError(f"{path}: it has {len(frame)} entries, but says {count}; it is cut off")
    ends = []
    for name, size in (("row", rows), ("column", columns)):
        numbers = frame[name].to_numpy()
        wrong = ~((numbers >= 1) & (numbers <= size) & (numbers == np.floor(numbers)))
        if wrong.any():
            raise ValueError(f"{path}: entry {wrong.argmax() + 1} is in {name} {numbers[wrong.argmax()]:g} of {size}")
        ends.append(numbers.astype(np.int64) - 1)
    values = np.ones(count) if kind == "pattern" else frame["value"].to_numpy()
    if symmetric:
        off = ends[0] != ends[1]
        values = np.concatenate([values, values[off]])
        ends = [np.concatenate([ends[0], ends[1][off]]), np.concatenate([ends[1], ends[0][off]])]
    return sp.coo_array((values, (ends[0], ends[1])), shape=(rows, columns))


def _header(line: str) -> tuple[str, bool]:
    words = line.lower().split()
    if words[:3] != ["%%matrixmarket", "matrix", "coordinate"] or len(words) != 5:
        raise ValueError("its first line is not '%%MatrixMarket matrix coordinate ...'")
    if words[3] not in ("real", "integer", "pattern") or words[4] not in ("general", "symmetric"):
        raise ValueError(f"a matrix that is {words[3]} and {words[4]} is no graph; it is real and symmetric, say")
    return words[3], words[4] == "symmetric"
