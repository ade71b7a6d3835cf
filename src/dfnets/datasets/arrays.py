"""Arrays in .npy and .npz files that a stranger may have written: plain numbers and texts, of a size that is checked.

An archive says how large an array is before it is unfolded. Only the arrays that are asked for are read, and none
before the sum of their sizes is known to be below a limit: ``LARGEST`` bytes, or ``$DFNETS_MAX_BYTES``.
"""

from __future__ import annotations

import io
import os
import tokenize
import zipfile
import zlib
from collections.abc import Collection, Mapping
from contextlib import suppress
from pathlib import Path
from typing import IO, Any

import numpy as np
import scipy.sparse as sp
from numpy.lib import format as npy

from dfnets.datasets.csr import csr_array
from dfnets.inputs import regular_file

LARGEST = 16 * 2**30
_PIECE = 2**20
# What NumPy and zipfile raise on damaged files.
_DAMAGE = (
    *(ValueError, EOFError, zipfile.BadZipFile, zlib.error, NotImplementedError, OverflowError, RuntimeError),
    *(SyntaxError, tokenize.TokenError, TypeError, KeyError),  # of headers, which are Python literals
)


def names(file: Path) -> list[str]:
    """The names of the arrays in an .npz file, none of them read."""
    try:
        with zipfile.ZipFile(_opened(file)) as archive:
            return [member.removesuffix(".npy") for member in archive.namelist()]
    except _DAMAGE as error:
        raise ValueError(f"{file} is not an .npz file of plain arrays: {_reason(error, file)}") from None


def read(
    file: Path | bytes, wanted: Collection[str] | None = None, *, name: str | None = None
) -> dict[str, np.ndarray]:
    """Arrays of an .npz file, or of its bytes.

    Args:
        wanted: which of them, where they are there; None is all.
        name: of the file, for messages.

    Raises:
        ValueError: it holds anything but plain arrays, it is damaged, or the arrays are larger than the limit.
    """
    name = name or str(file)
    try:
        with zipfile.ZipFile(_opened(file)) as archive:
            members = {member.filename.removesuffix(".npy"): member for member in archive.infolist()}
            chosen = {key: member for key, member in members.items() if wanted is None or key in wanted}
            _check_size(sum(member.file_size for member in chosen.values()))
            found = {}
            for key, member in chosen.items():
                try:
                    with archive.open(member) as content:
                        found[key] = _read_array(content, member.file_size)
                except OSError as error:
                    raise ValueError(f"its directory leads nowhere: {error}") from None
            return found
    except _DAMAGE as error:
        raise ValueError(f"{name} is not an .npz file of plain arrays: {_reason(error, file)}") from None


def read_npy(path: Path) -> np.ndarray:
    """The array in an .npy file; the errors are those of :func:`read`."""
    regular_file(path)
    size = path.stat().st_size
    try:
        _check_size(size)
        with path.open("rb") as file:
            return _read_array(file, size)
    except _DAMAGE as error:
        raise ValueError(f"{path} is not a plain .npy array: {error}") from None


SPARSE = ("format", "data", "indices", "indptr", "row", "col", "coords", "shape", "_is_array")
"""What ``scipy.sparse.save_npz`` writes."""


def sparse(arrays: Mapping[str, np.ndarray], name: str) -> sp.csr_array:
    """The matrix that ``scipy.sparse.save_npz`` wrote, checked before SciPy sees it."""
    kind = arrays["format"].item() if arrays["format"].ndim == 0 else None
    kind = kind.decode("ascii", "replace") if isinstance(kind, bytes) else kind
    needed = {"csr": ("data", "indices", "indptr"), "csc": ("data", "indices", "indptr"), "coo": ("data", "row", "col")}
    if kind not in needed:
        raise ValueError(f"{name}: it holds a matrix of format {kind!r}; save it as csr, csc or coo")
    parts = [arrays.get(part) for part in (*needed[kind], "shape")]
    for part, array in zip((*needed[kind], "shape"), parts, strict=True):
        if array is None:
            raise ValueError(f"{name}: it has no array {part!r}, which a matrix of format {kind} needs")
    data, first, second, shape = (np.asarray(array) for array in parts)
    if shape.shape != (2,):
        raise ValueError(f"{name}: its shape is an array of shape {shape.shape}, not two numbers")
    if kind == "csr":
        return csr_array(data, first, second, shape, name)
    # A row takes memory in the matrix that is made, but in these formats none in the file.
    if shape[0] > 10_000_000 + 100 * data.size:
        raise ValueError(
            f"{name}: it has {shape[0]} rows for {data.size} entries, which cannot be meant; save it as csr"
        )
    if kind == "csc":
        return sp.csr_array(csr_array(data, first, second, shape[::-1], name).T)
    return _from_entries(data, first, second, shape, name)


def _from_entries(data: np.ndarray, row: np.ndarray, col: np.ndarray, shape: np.ndarray, name: str) -> sp.csr_array:
    if not (data.shape == row.shape == col.shape and data.ndim == 1) or row.dtype.kind not in "iu":
        raise ValueError(f"{name}: its data, row and col are not three rows of the same length")
    # One entry per row of a matrix of entries: that checks the columns, and the other way round the rows.
    count = np.arange(len(data) + 1)
    csr_array(data, col, count, (len(data), *shape[1:]), name)
    csr_array(data, row, count, (len(data), *shape[:1]), name)
    return sp.csr_array(sp.coo_array((data, (row, col)), shape=tuple(int(size) for size in shape)))


def _opened(file: Path | bytes) -> IO[bytes] | Path:
    return io.BytesIO(file) if isinstance(file, bytes) else regular_file(file)


def _read_array(file: Any, size: int) -> np.ndarray:
    """The array in an open .npy file of that many bytes."""
    version = npy.read_magic(file)
    header = {(1, 0): npy.read_array_header_1_0, (2, 0): npy.read_array_header_2_0}.get(version)
    if header is None:
        raise ValueError(f"version {version} of the format is not known")
    shape, fortran, dtype = header(file)
    if dtype.hasobject or dtype.kind not in "fiubUS":
        raise ValueError(f"it holds {dtype}, and only numbers and texts are plain (Object arrays need allow_pickle)")
    count = int(np.prod(shape, dtype=object)) if shape else 1
    if count < 0 or count * dtype.itemsize > size:
        raise ValueError(f"an array of shape {shape} and type {dtype} does not fit into its {size} bytes")
    content = np.empty(count * dtype.itemsize, dtype=np.uint8)
    for start in range(0, len(content), _PIECE):
        piece = file.read(min(_PIECE, len(content) - start))
        if len(piece) != min(_PIECE, len(content) - start):
            raise ValueError("an array is cut off")
        content[start : start + len(piece)] = np.frombuffer(piece, dtype=np.uint8)
    return content.view(dtype).reshape(shape, order="F" if fortran else "C")


def _check_size(size: int) -> None:
    limit = LARGEST
    with suppress(ValueError):
        limit = int(os.environ.get("DFNETS_MAX_BYTES", LARGEST))
    if size > limit:
        raise ValueError(f"its arrays take {size} bytes, and the limit is {limit}; DFNETS_MAX_BYTES sets another")


def _reason(error: Exception, file: Path | bytes) -> str:
    start = file[:6] if isinstance(file, bytes) else _start(file)
    if start == npy.MAGIC_PREFIX:
        return "it holds one array, not an archive of named ones"
    return f"{error} (not a zip archive of .npy files)" if isinstance(error, zipfile.BadZipFile) else str(error)


def _start(path: Path) -> bytes:
    with path.open("rb") as file:
        return file.read(6)
