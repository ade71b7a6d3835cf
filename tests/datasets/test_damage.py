"""Files with bytes changed, left out or put in: read, or refused in words that name the file; nothing else."""

from __future__ import annotations

import gzip
import warnings

import networkx
import numpy as np
import pandas
import scipy.sparse as sp
from scipy.io import mmwrite

from dfnets.datasets.files import read

INSERTED = [b'"', b",", b"\n", b"\r", b"\0", b";", b"1e999", b"nan", b"-", b"\xff", b"\t", b"#", b"1,234"]


def damaged(rng, raw):
    content = bytearray(raw)
    for _ in range(rng.integers(1, 4)):
        at = int(rng.integers(len(content) + 1))
        kind = rng.integers(4)
        if kind == 0:
            content[at : at + 1] = bytes([rng.integers(256)])
        elif kind == 1:
            del content[at : at + int(rng.integers(1, 30))]
        elif kind == 2:
            content[at:at] = INSERTED[rng.integers(len(INSERTED))]
        else:
            content[at:at] = content[at : at + 50]
    return bytes(content)


def test_damage_of_every_format(tmp_path):
    rng = np.random.default_rng(0)
    ids = [f"n{k}" for k in range(30)]
    edges = pandas.DataFrame({"source": ids, "target": ids[3:] + ids[:3], "weight": rng.random(30).round(3)})
    graph = networkx.from_pandas_edgelist(edges, edge_attr="weight")
    edges.to_csv(tmp_path / "e.csv", index=False)
    edges.to_csv(tmp_path / "quoted.csv", index=False, sep=";", decimal=",", quoting=1, encoding="utf-16")
    (tmp_path / "e.csv.gz").write_bytes(gzip.compress((tmp_path / "e.csv").read_bytes()))
    edges.to_csv(tmp_path / "e.txt", index=False, sep=" ", header=False)
    edges.to_parquet(tmp_path / "e.parquet")
    edges.to_json(tmp_path / "e.jsonl", orient="records", lines=True)
    networkx.write_graphml(graph, tmp_path / "e.graphml")
    adjacency = networkx.to_scipy_sparse_array(graph)
    mmwrite(tmp_path / "e.mtx", sp.coo_array(adjacency))
    sp.save_npz(tmp_path / "e.npz", adjacency)
    read_after_all, unnamed = 0, []
    for path in sorted(tmp_path.iterdir()):
        whole, bad = path.read_bytes(), tmp_path / f"bad-{path.name}"
        for _ in range(60):
            bad.write_bytes(damaged(rng, whole))
            try:
                with warnings.catch_warnings():
                    warnings.simplefilter("ignore")
                    read(bad)
                read_after_all += 1
            except (ValueError, OSError) as error:
                if str(bad) not in str(error):
                    unnamed.append(f"{path.name}: {type(error).__name__}: {error}")
    assert unnamed == []
    # Most damage leaves rows of another length; some only changes an id or a digit.
    assert 20 < read_after_all < 300
