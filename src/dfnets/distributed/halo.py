"""What one part of a graph needs of the others: the nodes that border on it, its *halo*, and who has them."""

from __future__ import annotations

from typing import Any

import numpy as np
import torch
import torch.distributed as dist

from dfnets.shift import Shift


def halo_of(shift: Shift, parts: np.ndarray, number: int, count: int) -> dict[str, np.ndarray]:
    """The rows of one part, with columns renumbered: first its own nodes, then its halo, sorted by part and number.

    Returns:
        ``nodes`` and ``halo`` (numbers in the whole graph), the rows ``indptr``, ``indices``, ``values`` and
        ``diagonal``, ``receive`` (how many halo nodes each part has for us), and ``send`` with ``send_to`` (our own
        rows that each part needs, one after the other, and how many each gets).
    """
    nodes = np.flatnonzero(parts == number)
    lengths = np.diff(shift.indptr)[nodes]
    indptr = np.concatenate([[0], np.cumsum(lengths)])
    places = np.repeat(shift.indptr[nodes] - indptr[:-1], lengths) + np.arange(indptr[-1])
    columns = shift.indices[places]
    outside = np.unique(columns[parts[columns] != number])
    halo = outside[np.lexsort((outside, parts[outside]))]
    where = np.full(len(parts), -1, dtype=np.int64)
    where[nodes] = np.arange(len(nodes))
    where[halo] = len(nodes) + np.arange(len(halo))
    # The graph is symmetric: a part needs just those of our nodes that have a neighbour in it.
    rows = np.repeat(np.arange(len(nodes)), lengths)
    pairs = np.unique(np.stack([parts[columns], rows]), axis=1)
    pairs = pairs[:, pairs[0] != number]
    return {
        "nodes": nodes,
        "halo": halo,
        "indptr": indptr,
        "indices": where[columns],
        "values": shift.values[places],
        "diagonal": shift.diagonal[nodes],
        "receive": np.bincount(parts[halo], minlength=count),
        "send": pairs[1],
        "send_to": np.bincount(pairs[0], minlength=count),
    }


class HaloExchange:
    """Brings the values of the halo nodes, at every product.

    Args:
        send, send_to, receive: as :func:`halo_of` gives them.

    Attributes:
        values_sent: how many numbers this process has sent so far: per product and column, one for every node that
            another part needs.
    """

    def __init__(self, send: np.ndarray, send_to: np.ndarray, receive: np.ndarray) -> None:
        self._rows = np.split(send, np.cumsum(send_to)[:-1])
        self._ends = np.concatenate([[0], np.cumsum(receive)])
        self.values_sent = 0

    def __call__(self, x: np.ndarray) -> np.ndarray:
        """(own, k) to (own + halo, k), the halo behind the own rows."""
        own = len(x)
        whole = np.empty((own + self._ends[-1], x.shape[1]), dtype=x.dtype)
        whole[:own] = x
        arriving = torch.from_numpy(whole[own:])
        calls: list[Any] = []
        outgoing = []
        for peer, rows in enumerate(self._rows):
            begin, end = self._ends[peer], self._ends[peer + 1]
            if end > begin:
                calls.append(dist.irecv(arriving[begin:end], peer))
            if len(rows):
                # Held until it has been sent.
                outgoing.append(torch.from_numpy(x[rows]))
                calls.append(dist.isend(outgoing[-1], peer))
                self.values_sent += outgoing[-1].numel()
        for call in calls:
            call.wait()
        return whole
