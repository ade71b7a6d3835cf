"""In which order, and in which pieces, a device's kernels take the rows of a graph; made once for each shift.

A schedule changes who computes a row and when, never how the row is summed: that is fixed by the row itself.
"""

from __future__ import annotations

import numpy as np

# Rows of one window of the CPU's order.
WINDOW = 256
# An order pays where rows are short and of irregular length; small graphs are learnt by the branch predictor instead.
LEAST_ROWS, LONGEST_MEAN, IRREGULAR = 4096, 12, 0.4


def rows_by_length(indptr: np.ndarray) -> tuple[np.ndarray, ...]:
    """For CPUs: ((n,) row numbers, sorted by length within each window of rows), or () where that would not pay.

    The end of a short row is a branch that the processor guesses. Among rows of one length it guesses right.
    """
    n = len(indptr) - 1
    lengths = np.diff(indptr)
    if n < LEAST_ROWS or lengths.mean() > LONGEST_MEAN or np.mean(np.diff(lengths) != 0) < IRREGULAR:
        return ()
    return (np.lexsort((lengths, np.arange(n) // WINDOW)).astype(np.int32),)


# For GPUs: long rows are cut, and the sums of their parts are cut again where there are more than JOINED of them. Rows
# go side by side with others of about their length from a window.
JOINED, TILED = 1024, 4096
# Where 16 rows in the order of memory wait for their longest no more than this, they stay there: what they read is then
# side by side in memory too.
UNEVEN = 2.0


def levels(indptr: np.ndarray, *, short: int | None = None) -> tuple[np.ndarray, ...]:
    """For GPUs: (counts, level 0, level 1, ...), each level (3, pieces): start, stop and target of a piece.

    A piece of level 0 is a stretch of entries of one row, a piece of a later level a stretch of the sums of the level
    before. A target i >= 0 says that the piece is all of row i, which is then finished; -1 - s that its sum is the s-th
    that the next level reads. ``counts[l]`` is how many sums level l hands on.

    A tile of pieces waits for its longest. So a hub is cut into parts of equal length, and short rows stand beside rows
    of their length. All sums are taken in an order that the row alone decides.
    """
    n = len(indptr) - 1
    short = short or _longest_whole(n, int(indptr[-1]))
    made: list[np.ndarray] = []
    counts: list[int] = []
    rows, starts, stops = np.arange(n), np.asarray(indptr[:-1], np.int64), np.asarray(indptr[1:], np.int64)
    limit = short
    while len(rows) or not made:
        lengths = stops - starts
        cut = lengths > limit
        parts = -(-lengths[cut] // limit)
        first = np.cumsum(parts) - parts
        number = np.arange(parts.sum())
        start = np.repeat(starts[cut] - first * limit, parts) + number * limit
        stop = np.minimum(start + limit, np.repeat(stops[cut], parts))
        order = _even_tiles(np.arange(len(rows))[~cut], lengths[~cut])
        made.append(
            np.stack(
                [
                    np.concatenate([start, starts[order]]),
                    np.concatenate([stop, stops[order]]),
                    np.concatenate([-1 - number, rows[order]]),
                ]
            )
        )
        counts.append(len(number))
        rows, starts, stops, limit = rows[cut], first, first + parts, JOINED
    kind = np.int32 if max(indptr[-1], n) < 2**31 - JOINED else np.int64
    return np.array(counts), *(level.astype(kind) for level in made)


def _longest_whole(n: int, entries: int) -> int:
    """The longest row that is not cut.

    Small graphs are over before a second launch begins, and large ones have tiles enough to hide a long one; in
    between, a tile should not wait for a longer one than this.
    """
    if 150_000 <= entries < 2_000_000:
        return 64
    return max(256, 1 << int(np.ceil(np.log2(4 * entries / max(n, 1) + 1))))


def _even_tiles(places: np.ndarray, lengths: np.ndarray) -> np.ndarray:
    """The places, by length within windows where tiles of neighbours would be too uneven."""
    whole = len(lengths) // 16 * 16
    longest = lengths[:whole].reshape(-1, 16).max(axis=1)
    if 16 * longest.sum() <= UNEVEN * lengths[:whole].sum():
        return places
    return places[np.lexsort((lengths, places // TILED))]
