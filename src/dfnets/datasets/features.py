"""Features: scaling of their rows, and columns that are found by name."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Literal, TypeVar

import numpy as np
import scipy.sparse as sp
import scipy.sparse.linalg

if TYPE_CHECKING:
    from dfnets.graph import Graph

Scaling = Literal["row", "unit", "none"]
Features = TypeVar("Features", np.ndarray, sp.csr_array)

_ORDERS = {"row": 1, "unit": 2}


def normalise(features: Features, how: Scaling) -> Features:
    """x_i / |x_i|, row by row; a row of zeros stays as it is.

    Args:
        features: (n, f), dense or sparse; the result is of the same kind, and of the same floating type.
        how: ``"row"`` divides by the sum of absolute values, ``"unit"`` by the 2-norm, ``"none"`` by nothing.

    >>> normalise(np.array([[3.0, 1.0], [0.0, 0.0]]), "row")
    array([[0.75, 0.25], [0. , 0. ]])
    """
    if how == "none":
        return features
    if how not in _ORDERS:
        raise ValueError(f"how={how!r} is not one of 'row', 'unit', 'none'")
    dtype = features.dtype if features.dtype.kind == "f" else np.dtype(np.float64)
    # In double precision: squares of small single-precision features underflow.
    if not sp.issparse(features):
        norms = np.linalg.norm(features.astype(np.float64, copy=False), ord=_ORDERS[how], axis=1)
        return (features / np.where(norms > 0, norms, 1)[:, None]).astype(dtype, copy=False)
    matrix = sp.csr_array(features)
    norms = scipy.sparse.linalg.norm(matrix.astype(np.float64), ord=_ORDERS[how], axis=1)
    values = matrix.data / np.repeat(np.where(norms > 0, norms, 1), np.diff(matrix.indptr))
    return sp.csr_array((values.astype(dtype, copy=False), matrix.indices, matrix.indptr), shape=matrix.shape)


def match_features(names: Sequence[str] | None, graph: Graph) -> Graph:
    """The graph with its feature columns in the order of ``names``: those that a model was trained on.

    Where the model or the graph has no names, as arrays have none, columns are known by their place, and only their
    number can be compared (the model does that).

    Raises:
        ValueError: names columns that are missing, or that the model does not know; nothing is filled in.
    """
    if names is None or graph.feature_names is None or tuple(names) == graph.feature_names:
        return graph
    check_columns(names, graph.feature_names)
    place = {name: k for k, name in enumerate(graph.feature_names)}
    assert graph.features is not None
    columns = np.array([place[name] for name in names])
    return graph.with_(features=graph.features[:, columns], feature_names=tuple(names), encoder=graph.encoder)


def check_columns(wanted: Sequence[str], given: Sequence[str]) -> None:
    """Refuses columns that are missing or unknown, by name."""
    known, there = set(wanted), set(given)
    missing = [name for name in wanted if name not in there]
    unknown = [name for name in given if name not in known]
    if not missing and not unknown:
        return
    parts = []
    if missing:
        parts.append(f"lack {len(missing)} columns that the model was trained on ({_some(missing)})")
    if unknown:
        parts.append(f"have {len(unknown)} columns that the model does not know ({_some(unknown)})")
    fix = "give the same columns as in training, in any order"
    if unknown and not missing:
        fix = f"leave them out with --ignore {','.join(unknown[:5])}"
    raise ValueError(f"the features {' and '.join(parts)}: {fix}")


def _some(names: Sequence[str]) -> str:
    return ", ".join(map(repr, names[:5])) + (", ..." if len(names) > 5 else "")
