"""Mutated .npz and .npy files, and the pickles of the Planetoid datasets."""

from __future__ import annotations

import io
import pickle
import random
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import scipy.sparse as sp

from dfnets import datasets
from dfnets.datasets import arrays, files, pickles
from fuzz.format import Format
from fuzz.mutate import damaged


def formats() -> Iterator[Format]:
    ring = sp.csr_array(np.roll(np.eye(9), 1, axis=1) + np.roll(np.eye(9), -1, axis=1))
    features = sp.csr_array(np.random.default_rng(0).random((9, 4)) > 0.5, dtype=np.float32)
    whole: dict[str, np.ndarray] = {
        "num_nodes": np.array(9),
        "adj_indptr": ring.indptr,
        "adj_indices": ring.indices,
        "adj_data": ring.data,
        "feat_data": features.data,
        "feat_indices": features.indices,
        "feat_indptr": features.indptr,
        "feat_shape": np.array([9, 4]),
        "is_entity": (np.arange(9) < 7).astype(np.uint8),
        "labels": np.arange(9) % 2,
        "train": np.array([0, 1]),
        "val": np.array([2, 3]),
        "test": np.array([4, 5]),
        "train_masks": np.eye(3, 9, dtype=bool),
        "val_masks": np.eye(3, 9, 3, dtype=bool),
        "test_masks": np.eye(3, 9, 6, dtype=bool),
        "node_names": np.array([f"node {k}" for k in range(9)]),
    }
    buffer = io.BytesIO()
    np.savez(buffer, **whole)
    yield Format(
        "graph .npz",
        {"g.npz": buffer.getvalue()},
        lambda rng: {"g.npz": _npz(whole, rng)},
        lambda at: datasets.load(at / "g.npz"),
    )
    edges = {"a.npz": _saved(ring)}
    yield Format(
        "edges .npz (SciPy)", edges, lambda rng: {"a.npz": _sparse(ring, rng)}, lambda at: files.read(at / "a.npz")
    )
    yield Format(
        "features .npz (SciPy)",
        {"x.npz": _saved(features), **edges},
        lambda rng: {"x.npz": _sparse(features, rng), **edges},
        lambda at: files.read(at / "a.npz", at / "x.npz"),
    )
    plain = io.BytesIO()
    np.save(plain, np.ones(3))
    yield Format(
        "array .npy",
        {"x.npy": plain.getvalue()},
        lambda rng: {"x.npy": _npy(rng)},
        lambda at: arrays.read_npy(at / "x.npy"),
    )
    values = [sp.csr_matrix(features), np.eye(4, dtype=np.int32), {k: [(k + 1) % 9, (k - 1) % 9] for k in range(9)}]
    yield Format(
        "pickle (Planetoid)",
        {"p": pickle.dumps(values[0], 3)},
        lambda rng: {"p": damaged(pickle.dumps(rng.choice(values), rng.choice([3, 4])), rng)},
        _read_pickle,
    )


def _read_pickle(at: Path) -> object:
    value = pickles.loads((at / "p").read_bytes(), "p")
    if isinstance(value, sp.csr_array):
        value.check_format(full_check=True)
        return value @ np.ones(value.shape[1])
    return value


def _saved(matrix: sp.csr_array) -> bytes:
    buffer = io.BytesIO()
    sp.save_npz(buffer, matrix)
    return buffer.getvalue()


def _sparse(matrix: sp.csr_array, rng: random.Random) -> bytes:
    saved = _saved(matrix.asformat(rng.choice(["csr", "csc", "coo"])))
    if rng.random() < 0.3:
        return damaged(saved, rng)
    return _npz(arrays.read(saved), rng)


def _npz(whole: dict[str, np.ndarray], rng: random.Random) -> bytes:
    """Damaged bytes, or a whole archive in which arrays are missing, of another shape, type or content."""
    content = dict(whole)
    for _ in range(rng.randint(0, 2)):
        name = rng.choice(list(content))
        content[name] = _another(content[name], rng)
        if rng.random() < 0.15 and len(content) > 1:
            del content[name]
    buffer = io.BytesIO()
    rng.choice([np.savez, np.savez_compressed])(buffer, **content)
    return damaged(buffer.getvalue(), rng) if rng.random() < 0.3 else buffer.getvalue()


def _another(array: np.ndarray, rng: random.Random) -> np.ndarray:
    array = np.array(array)
    match rng.randrange(8):
        case 0:
            return array.reshape(-1)[: rng.randrange(array.size + 1)]
        case 1:
            return np.stack([array, array])
        case 2:
            return (
                array.astype(rng.choice(["f4", "i1", "u8", "U3", "c8", "?"])) if array.dtype.kind in "iufb" else array
            )
        case 3:
            return np.array(rng.choice([0, -1, 2**31, 2**62, np.nan]))
        case 4:
            return np.zeros((0, *array.shape[1:]), array.dtype)
        case 5:
            return array.astype(object)
        case _:
            if array.dtype.kind in "iuf" and array.size:
                flat = array.reshape(-1).astype(np.float64 if array.dtype.kind == "f" else np.int64)
                flat[rng.randrange(flat.size)] = rng.choice([-1, 10**6, 2**31 - 1, 2**40])
                return flat.reshape(array.shape)
            return array[..., :0] if array.ndim else array


def _npy(rng: random.Random) -> bytes:
    buffer = io.BytesIO()
    np.save(buffer, rng.choice([np.arange(12.0), np.ones((3, 4), np.float32), np.array(["a", "bc"])]))
    return damaged(buffer.getvalue(), rng)
