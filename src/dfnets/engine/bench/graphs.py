"""Graphs to measure on, as operators on a device: what people have, from lattices to networks with hubs."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch

from dfnets.engine import schedules
from dfnets.engine.operator import Operator, on_device, tensors
from dfnets.engine.row_order import ordering
from dfnets.graph import Graph
from dfnets.shift import Shift

# Real graphs, from $DFNETS_DATA or from shared/data beside the project.
STORED = ("mesh_mdual", "mesh_copter2", "amazon_computers", "debian_packages", "cora", "pubmed")


def random(n: int, entries: int, device: str, *, seed: int = 0) -> Operator:
    """n nodes and about ``entries`` entries off the diagonal, ends drawn at random: no locality to live off."""
    generator = torch.Generator(device).manual_seed(seed)
    return _joined(torch.randint(n, (2, entries // 2), device=device, generator=generator), n)


def zipf(n: int, entries: int, device: str, *, exponent: float = 0.8, seed: int = 0) -> Operator:
    """Ends drawn with probabilities i^-exponent, and the nodes shuffled: hubs, as in networks of people and words."""
    generator = torch.Generator(device).manual_seed(seed)
    shares = torch.arange(1, n + 1, device=device, dtype=torch.float64).pow(-exponent).cumsum(0)
    drawn = torch.rand(2 * (entries // 2), device=device, dtype=torch.float64, generator=generator) * shares[-1]
    ends = torch.searchsorted(shares, drawn).clamp_(max=n - 1)
    return _joined(torch.randperm(n, device=device, generator=generator)[ends].view(2, -1), n)


def rmat(n: int, entries: int, device: str, *, seed: int = 0) -> Operator:
    """Recursive quadrants of the adjacency matrix with probabilities .57, .19, .19 and .05; n is rounded to 2^k."""
    generator = torch.Generator(device).manual_seed(seed)
    levels = max(1, round(np.log2(n)))
    ends = torch.zeros(2, entries // 2, dtype=torch.int64, device=device)
    for _ in range(levels):
        drawn = torch.rand(ends.shape[1], device=device, generator=generator)
        ends = 2 * ends + torch.stack([drawn > 0.76, ((drawn > 0.57) & (drawn <= 0.76)) | (drawn > 0.95)])
    return _joined(torch.randperm(1 << levels, device=device, generator=generator)[ends], 1 << levels)


def star(n: int, device: str) -> Operator:
    """One hub that all others hang on: one row with half of all entries."""
    leaves = torch.arange(1, n, device=device)
    return _joined(torch.stack([torch.zeros_like(leaves), leaves]), n)


def lattice(n: int, device: str) -> Operator:
    """A torus of about n nodes, each beside its 4 neighbours: as local as a graph can be."""
    side = round(n**0.5)
    node = torch.arange(side * side, device=device).view(side, side)
    columns = torch.stack([node.roll(shift, axis) for shift in (1, -1) for axis in (0, 1)], dim=-1).view(-1, 4)
    return _operator(node.view(-1).repeat_interleave(4), columns.sort(dim=1).values.view(-1), side * side)


def stored(name: str, device: str, *, reordered: bool = False) -> Operator:
    """A real graph from a file; FileNotFoundError says where it looked."""
    for place in filter(None, [os.environ.get("DFNETS_DATA", ""), "../shared/data"]):
        for path in (Path(place) / f"{name}.npz", Path(place) / "extra" / f"{name}.npz"):
            if not path.exists():
                continue
            with np.load(path, allow_pickle=False) as arrays:
                indices, indptr, n = arrays["adj_indices"], arrays["adj_indptr"], int(arrays["num_nodes"])
            adjacency = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))
            shift = Shift(Graph(adjacency))
            if reordered:
                order = ordering(shift)
                shift = Shift(Graph(adjacency[order][:, order]))
            return tensors(shift, torch.device(device), torch.float32)
    raise FileNotFoundError(f"{name}.npz is neither in $DFNETS_DATA nor in ../shared/data, nor in extra/ of them")


def _joined(ends: torch.Tensor, n: int) -> Operator:
    """The graph of pairs of ends, both ways, without loops and repetitions."""
    ends = ends[:, ends[0] != ends[1]]
    keys = torch.cat([ends[0] * n + ends[1], ends[1] * n + ends[0]]).unique()
    return _operator(keys // n, keys % n, n)


def _operator(rows: torch.Tensor, columns: torch.Tensor, n: int) -> Operator:
    """The shift of an unweighted graph whose entries are sorted, centred at 1; in float32 with 32-bit indices."""
    counts = torch.bincount(rows, minlength=n)
    indptr = torch.zeros(n + 1, dtype=torch.int64, device=rows.device)
    torch.cumsum(counts, 0, out=indptr[1:])
    root = (counts + 1.0).rsqrt()
    values = -(root[rows] * root[columns])
    starts = indptr.int().cpu().numpy()
    if rows.device.type == "cpu":
        schedule = tuple(torch.from_numpy(part) for part in schedules.rows_by_length(starts))
    else:
        schedule = on_device(schedules.levels(starts), rows.device)
    return Operator(indptr.int(), columns.int(), values.float(), 1 - (root * root).float(), 1.0, schedule)
