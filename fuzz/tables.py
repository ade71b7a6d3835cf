"""Mutated tables of edges, features and labels, and GraphML."""

from __future__ import annotations

import gzip
import io
import json
import random
from collections.abc import Iterator
from typing import Any

import numpy as np

from dfnets.datasets import files
from fuzz.format import Format, Read
from fuzz.mutate import damaged


def formats() -> Iterator[Format]:
    import pandas

    ends = [(a, b) for a in range(8) for b in range(8) if (a * b) % 3 == 1]
    rows = "".join(f'a{a},"b{b}",{(a + 1) / 7:.3f}\n' for a, b in ends)
    csv = f"from,to,weight\n{rows}".encode()
    names = sorted({f"a{a}" for a, _ in ends} | {f"b{b}" for _, b in ends})
    nodes = "id,size,colour,town\n" + "".join(f"{n},{k / 7:.4f},{k % 3},t{k % 2}\n" for k, n in enumerate(names))
    lines = "".join(json.dumps({"source": f"a{a}", "target": f"b{b}", "weight": 1.5}) + "\n" for a, b in ends)
    graphml = (
        '<?xml version="1.0" encoding="UTF-8"?>\n<graphml xmlns="http://graphml.graphdrawing.org/xmlns">'
        '<key id="w" for="edge" attr.name="weight" attr.type="double"/><graph edgedefault="undirected">'
        + "".join(f'<node id="{name}"/>' for name in names)
        + "".join(f'<edge source="a{a}" target="b{b}"><data key="w">2.5</data></edge>\n' for a, b in ends)
        + "</graph></graphml>"
    )
    edges = {"e.csv": csv}
    yield _text("edges .csv", "e.csv", csv, lambda at: files.read(at / "e.csv"))
    yield _text("edges .tsv", "e.tsv", csv.replace(b",", b"\t"), lambda at: files.read(at / "e.tsv"))
    yield _text("edges .jsonl", "e.jsonl", lines.encode(), lambda at: files.read(at / "e.jsonl"))
    yield _text("edges .graphml", "e.graphml", graphml.encode(), lambda at: files.read(at / "e.graphml"))
    yield _text("features .csv", "x.csv", nodes.encode(), lambda at: files.read(at / "e.csv", at / "x.csv"), edges)
    yield _text(
        "labels .csv",
        "y.csv",
        nodes.encode(),
        lambda at: files.read(at / "e.csv", labels=at / "y.csv", label="town"),
        edges,
    )
    yield Format(
        "edges .csv.gz",
        {"e.csv.gz": gzip.compress(csv)},
        lambda rng: {"e.csv.gz": _damaged_gzip(csv, rng)},
        lambda at: files.read(at / "e.csv.gz"),
    )
    ends_text = {"from": [f"a{a}" for a, _ in ends], "to": [f"b{b}" for _, b in ends], "weight": 1.0}
    frame = pandas.DataFrame(ends_text)
    yield Format(
        "edges .parquet",
        {"e.parquet": _written(frame)},
        lambda rng: {"e.parquet": _parquet(frame, rng)},
        lambda at: files.read(at / "e.parquet"),
    )
    table = pandas.DataFrame({"id": names, "size": np.arange(len(names)) / 7})
    yield Format(
        "features .parquet",
        {"x.parquet": _written(table), **edges},
        lambda rng: {"x.parquet": _parquet(table, rng), **edges},
        lambda at: files.read(at / "e.csv", at / "x.parquet"),
    )


def _text(name: str, file: str, content: bytes, read: Read, others: dict[str, bytes] | None = None) -> Format:
    """A format whose files are damaged as bytes; ``others`` lie beside them, whole."""
    beside = others or {}
    return Format(name, {file: content, **beside}, lambda rng: {file: damaged(content, rng), **beside}, read)


def _written(frame: Any) -> bytes:
    buffer = io.BytesIO()
    frame.to_parquet(buffer)
    return buffer.getvalue()


def _damaged_gzip(content: bytes, rng: random.Random) -> bytes:
    if rng.random() < 0.5:
        return damaged(gzip.compress(content), rng)
    return gzip.compress(damaged(content, rng))


def _parquet(frame: Any, rng: random.Random) -> bytes:
    """Damaged bytes, or a whole file whose columns are of other types."""
    import pyarrow as pa
    from pyarrow import parquet

    if rng.random() < 0.5:
        return damaged(_written(frame), rng)
    n = len(frame)
    strange = [
        pa.array([[1, 2]] * n),
        pa.array([{"a": 1}] * n),
        pa.array([b"\xff"] * n),
        pa.array([None] * n),
        pa.array([True] * n),
        pa.array(range(n), pa.timestamp("s")),
        pa.array(range(n), pa.decimal128(10, 2)),
        pa.array(["a"] * n).dictionary_encode(),
        pa.array([float("nan")] * n),
        pa.array([2**63 - 1] * n),
    ]
    columns = {name: pa.array(frame[name]) for name in frame.columns}
    columns[rng.choice(list(columns))] = rng.choice(strange)
    if rng.random() < 0.2:
        del columns[rng.choice(list(columns))]
    buffer = io.BytesIO()
    parquet.write_table(pa.table(columns), buffer)
    return buffer.getvalue()
