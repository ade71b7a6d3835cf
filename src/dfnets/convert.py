"""A graph as other libraries keep it: PyTorch Geometric and NetworkX, both ways."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import numpy as np
import scipy.sparse as sp

if TYPE_CHECKING:
    import networkx
    import torch
    import torch_geometric.data

    from dfnets.datasets.splits import Split
    from dfnets.graph import Graph

MASKS = ("train_mask", "val_mask", "test_mask")


def from_pyg(data: torch_geometric.data.Data) -> tuple[Any, dict[str, Any]]:
    """The adjacency of a ``Data``, and the other attributes that :class:`dfnets.Graph` takes."""
    adjacency = _pyg_adjacency(data)
    found: dict[str, Any] = {}
    if data.get("x") is not None:
        found["features"] = _from_torch(data.x)
    if data.get("y") is not None:
        if data.y.ndim > 1 and data.y.shape[1] > 1:
            raise ValueError(
                f"data.y has shape {tuple(data.y.shape)}, several labels per node; a Graph takes one: pass labels="
            )
        found["labels"] = data.y.cpu().numpy().ravel()
    if data.get("pos") is not None:
        found["coordinates"] = data.pos.cpu().numpy()
    if splits := _pyg_splits(data, adjacency.shape[0]):
        found["splits"] = {"masks": splits}
    return adjacency, found


def to_pyg(graph: Graph, protocol: str | None) -> torch_geometric.data.Data:
    """See :meth:`dfnets.Graph.to_pyg`."""
    import torch
    from torch_geometric.data import Data

    entries = graph.adjacency.tocoo()
    ends = np.stack([entries.row, entries.col]).astype(np.int64)
    data = Data(edge_index=torch.from_numpy(ends), num_nodes=graph.num_nodes)
    if np.any(entries.data != 1):
        data.edge_weight = torch.from_numpy(entries.data.astype(np.float32))
    if sp.issparse(graph.features):
        data.x = _sparse_tensor(graph.features)
    elif graph.features is not None:
        data.x = torch.from_numpy(np.ascontiguousarray(graph.features, dtype=np.float32))
    if graph.labels is not None:
        data.y = torch.from_numpy(graph.labels.copy())
    if graph.coordinates is not None:
        data.pos = torch.from_numpy(graph.coordinates.astype(np.float32))
    if protocol is None and len(graph.splits) == 1:
        protocol = next(iter(graph.splits))
    if protocol is not None:
        if protocol not in graph.splits:
            raise ValueError(f"protocol={protocol!r}: the graph has splits {', '.join(graph.splits) or 'of none'}")
        for name, part in zip(MASKS, ("train", "validation", "test"), strict=True):
            masks = np.zeros((graph.num_nodes, len(graph.splits[protocol])), dtype=bool)
            for draw, split in enumerate(graph.splits[protocol]):
                masks[getattr(split, part), draw] = True
            data[name] = torch.from_numpy(masks[:, 0].copy() if masks.shape[1] == 1 else masks)
    return data


def to_networkx(graph: Graph) -> networkx.Graph:
    """See :meth:`dfnets.Graph.to_networkx`."""
    import networkx

    ids = list(range(graph.num_nodes)) if graph.node_ids is None else graph.node_ids.tolist()
    made = networkx.Graph(name=graph.name)
    made.add_nodes_from(ids)
    upper = sp.triu(graph.adjacency, format="coo")
    made.add_weighted_edges_from(
        (ids[i], ids[j], w) for i, j, w in zip(upper.row.tolist(), upper.col.tolist(), upper.data.tolist(), strict=True)
    )
    if graph.labels is not None:
        names = graph.label_names or range(graph.num_classes)
        known = np.flatnonzero(graph.labels >= 0)
        networkx.set_node_attributes(made, {ids[k]: names[graph.labels[k]] for k in known}, "label")
    if graph.coordinates is not None:
        networkx.set_node_attributes(made, dict(zip(ids, graph.coordinates.tolist(), strict=True)), "pos")
    return made


def _pyg_adjacency(data: torch_geometric.data.Data) -> Any:
    transposed = data.get("adj_t")
    if transposed is not None:
        # A Graph is symmetric, or made so by a rule that treats both directions alike: no need to transpose it back.
        return _from_torch(transposed)
    if data.edge_index is None:
        raise ValueError("data has no edge_index and no adj_t: a Graph is made from one of them")
    n = int(data.num_nodes or 0)
    weight = data.get("edge_weight")
    if weight is None and data.get("edge_attr") is not None and data.edge_attr.numel() == data.edge_index.shape[1]:
        weight = data.edge_attr
    rows, columns = data.edge_index.cpu().numpy()
    values = np.ones(len(rows)) if weight is None else weight.cpu().numpy().astype(np.float64).ravel()
    return sp.coo_array((values, (rows, columns)), shape=(n, n))


def _pyg_splits(data: torch_geometric.data.Data, n: int) -> tuple[Split, ...]:
    """A split for each column of the masks; none where there is no mask of training or of test nodes."""
    from dfnets.datasets.splits import Split

    found = {name: data.get(name) for name in MASKS}
    if found["train_mask"] is None or found["test_mask"] is None:
        return ()
    masks = {name: mask.cpu().numpy().reshape(n, -1) for name, mask in found.items() if mask is not None}
    draws = max(mask.shape[1] for mask in masks.values())
    # A mask of one column belongs to every draw: the test nodes are often the same.
    wide = {name: np.broadcast_to(mask, (n, draws)) for name, mask in masks.items()}
    none = np.zeros((n, draws), dtype=bool)

    def nodes(name: str, draw: int) -> np.ndarray:
        return np.flatnonzero(wide.get(name, none)[:, draw])

    return tuple(
        Split(nodes(MASKS[0], draw), nodes(MASKS[1], draw), nodes(MASKS[2], draw), "masks", draw, num_nodes=n)
        for draw in range(draws)
    )


def _from_torch(tensor: Any) -> np.ndarray | sp.csr_array:
    """A dense or sparse tensor, or a ``torch_sparse.SparseTensor``, as NumPy or SciPy have it."""
    import torch

    if not isinstance(tensor, torch.Tensor):
        return sp.csr_array(tensor.cpu().to_scipy(layout="csr"))
    if tensor.layout == torch.strided:
        return tensor.cpu().numpy()
    csr = tensor.cpu().to_sparse_csr()
    arrays = (csr.values().numpy(), csr.col_indices().numpy(), csr.crow_indices().numpy())
    return sp.csr_array(arrays, shape=tuple(csr.shape))


def _sparse_tensor(matrix: sp.csr_array) -> torch.Tensor:
    import torch

    return torch.sparse_csr_tensor(
        torch.from_numpy(matrix.indptr.astype(np.int64)),
        torch.from_numpy(matrix.indices.astype(np.int64)),
        torch.from_numpy(matrix.data.astype(np.float32)),
        size=matrix.shape,
        check_invariants=False,  # a Graph has checked the pattern
    )
