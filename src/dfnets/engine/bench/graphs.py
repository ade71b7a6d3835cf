"""Graphs to measure on, as operators on a device: random ones, lattices, and meshes from files."""

from __future__ import annotations

import os
from pathlib import Path

import numpy as np
import scipy.sparse as sp
import torch

from dfnets.engine.operator import Operator, tensors
from dfnets.engine.ordering import ordering
from dfnets.graph import Graph
from dfnets.shift import Shift

MESHES = ("mesh_mdual", "mesh_copter2")


def random(n: int, entries: int, device: str, *, seed: int = 0) -> Operator:
    """n nodes and about ``entries`` entries off the diagonal, ends drawn at random: no locality to live off."""
    generator = torch.Generator(device).manual_seed(seed)
    ends = torch.randint(n, (2, entries // 2), device=device, generator=generator)
    ends = ends[:, ends[0] != ends[1]]
    keys = torch.cat([ends[0] * n + ends[1], ends[1] * n + ends[0]]).unique()
    return _operator(keys // n, keys % n, n)


def lattice(n: int, device: str) -> Operator:
    """A torus of about n nodes, each beside its 4 neighbours: as local as a graph can be."""
    side = round(n**0.5)
    node = torch.arange(side * side, device=device).view(side, side)
    columns = torch.stack([node.roll(shift, axis) for shift in (1, -1) for axis in (0, 1)], dim=-1).view(-1, 4)
    return _operator(node.view(-1).repeat_interleave(4), columns.sort(dim=1).values.view(-1), side * side)


def mesh(name: str, device: str, *, reordered: bool = False) -> Operator:
    """A real mesh from $DFNETS_DATA or from shared/data beside the project; FileNotFoundError says where it looked."""
    places = [os.environ.get("DFNETS_DATA", ""), "../shared/data"]
    for place in filter(None, places):
        path = Path(place) / "extra" / f"{name}.npz"
        if path.exists():
            with np.load(path, allow_pickle=False) as arrays:
                indices, indptr, n = arrays["adj_indices"], arrays["adj_indptr"], int(arrays["num_nodes"])
            adjacency = sp.csr_array((np.ones(len(indices)), indices, indptr), shape=(n, n))
            shift = Shift(Graph(adjacency))
            if reordered:
                order = ordering(shift)
                shift = Shift(Graph(adjacency[order][:, order]))
            return tensors(shift, torch.device(device), torch.float32)
    raise FileNotFoundError(f"{name}.npz is neither in $DFNETS_DATA/extra nor in ../shared/data/extra")


def _operator(rows: torch.Tensor, columns: torch.Tensor, n: int) -> Operator:
    """The shift of an unweighted graph whose entries are sorted, centred at 1; in float32 with 32-bit indices."""
    counts = torch.bincount(rows, minlength=n)
    indptr = torch.zeros(n + 1, dtype=torch.int64, device=rows.device)
    torch.cumsum(counts, 0, out=indptr[1:])
    root = (counts + 1.0).rsqrt()
    values = -(root[rows] * root[columns])
    return Operator(indptr.int(), columns.int(), values.float(), 1 - (root * root).float(), 1.0)
