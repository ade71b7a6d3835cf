"""What one part of a graph needs of the others: the nodes that border on it, its *halo*, and who has them."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
import torch
import torch.distributed as dist

from dfnets.shift import Shift


def halo_of(shift: Shift, parts: np.ndarray, number: int, count: int) -> dict[str, np.ndarray]:
    """The rows of one part in two blocks: the columns of its own nodes, and those of its halo.

    Own nodes are numbered in the order of the whole graph; the halo is sorted by part, then by number.

    Returns:
        ``nodes`` and ``halo`` (numbers in the whole graph); the square block ``indptr``, ``indices``, ``values`` and
        its ``diagonal``; ``border`` (own rows with an entry in the halo) and their entries there, ``halo_indptr``,
        ``halo_indices``, ``halo_values``; ``receive`` (how many halo nodes each part has for us), and ``send`` with
        ``send_to`` (our own rows that each part needs, one after the other, and how many each gets).
    """
    nodes = np.flatnonzero(parts == number)
    lengths = np.diff(shift.indptr)[nodes]
    starts = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(shift.indptr[nodes] - starts[:-1], lengths) + np.arange(starts[-1])
    columns = shift.indices[places]
    rows = np.repeat(np.arange(len(nodes)), lengths)
    inside = parts[columns] == number
    outside = np.unique(columns[~inside])
    halo = outside[np.lexsort((outside, parts[outside]))]
    where = np.full(len(parts), -1, dtype=np.int64)
    where[nodes] = np.arange(len(nodes))
    where[halo] = np.arange(len(halo))
    border, behind = np.unique(rows[~inside], return_counts=True)
    # The graph is symmetric: a part needs just those of our nodes that have a neighbour in it.
    pairs = np.unique(np.stack([parts[columns[~inside]], rows[~inside]]), axis=1)
    return {
        "nodes": nodes,
        "halo": halo,
        "indptr": np.concatenate([[0], np.cumsum(np.bincount(rows[inside], minlength=len(nodes)))]),
        "indices": where[columns[inside]],
        "values": shift.values[places[inside]],
        "diagonal": shift.diagonal[nodes],
        "border": border,
        "halo_indptr": np.concatenate([[0], np.cumsum(behind)]),
        "halo_indices": where[columns[~inside]],
        "halo_values": shift.values[places[~inside]],
        "receive": np.bincount(parts[halo], minlength=count),
        "send": pairs[1],
        "send_to": np.bincount(pairs[0], minlength=count),
    }


class OnTheWay(NamedTuple):
    """Values that are being exchanged: where the halo arrives, what to wait for, and what must live until then."""

    halo: np.ndarray
    calls: list[Any]
    outgoing: list[torch.Tensor]


class HaloExchange:
    """Brings the values of the halo nodes, at every product.

    Args:
        part: as :func:`halo_of` gives it.

    Attributes:
        border, indptr, indices: the block of the halo's columns: its rows, and their entries.
        overlap: whether the own block is multiplied while the halo is on its way. The numbers are the same either way.
        values_sent: how many numbers this process has sent so far: per product and column, one for every node that
            another part needs.
    """

    def __init__(self, part: dict[str, np.ndarray]) -> None:
        self._rows = np.split(part["send"], np.cumsum(part["send_to"])[:-1])
        self._ends = np.concatenate([[0], np.cumsum(part["receive"])])
        self.border, self.indptr, self.indices = part["border"], part["halo_indptr"], part["halo_indices"]
        self._values = {np.dtype(np.float64): part["halo_values"].astype(np.float64)}
        self.overlap = True
        self.values_sent = 0

    def start(self, x: np.ndarray) -> OnTheWay:
        """Sends the rows of (own, k) values that other parts need, and begins to receive the halo, (halo, k)."""
        halo = np.empty((self._ends[-1], x.shape[1]), dtype=x.dtype)
        arriving = torch.from_numpy(halo)
        calls: list[Any] = []
        outgoing = []
        for peer, rows in enumerate(self._rows):
            begin, end = self._ends[peer], self._ends[peer + 1]
            if end > begin:
                calls.append(dist.irecv(arriving[begin:end], peer))
            if len(rows):
                outgoing.append(torch.from_numpy(x[rows]))
                calls.append(dist.isend(outgoing[-1], peer))
                self.values_sent += outgoing[-1].numel()
        return OnTheWay(halo, calls, outgoing)

    def finish(self, sent: OnTheWay) -> np.ndarray:
        """(halo, k), when all of it is there and everything has been sent."""
        # Each is waited for once: gloo would wait for another message.
        while sent.calls:
            sent.calls.pop(0).wait()
        return sent.halo

    def values(self, dtype: np.dtype) -> np.ndarray:
        """The entries of the halo's columns, in a precision; converted once."""
        if dtype not in self._values:
            self._values[dtype] = self._values[np.dtype(np.float64)].astype(dtype)
        return self._values[dtype]
