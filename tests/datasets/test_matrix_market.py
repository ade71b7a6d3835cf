"""Matrix Market: what SciPy writes is read, and a damaged file is refused."""

from __future__ import annotations

import gzip

import numpy as np
import pytest
import scipy.sparse as sp
from conftest import random_graph
from scipy.io import mmwrite

from dfnets.datasets.files import read_graph
from dfnets.datasets.matrix_market import read_matrix_market


@pytest.mark.parametrize("symmetry", ["symmetric", "general"])
@pytest.mark.parametrize("field", ["real", "integer", "pattern"])
def test_what_scipy_writes(tmp_path, symmetry, field):
    matrix = random_graph(30, 4, 0).adjacency
    matrix.data = np.ceil(matrix.data)
    matrix = sp.coo_array(matrix + sp.eye_array(30))
    if field == "pattern":
        matrix.data[:] = 1
    path = tmp_path / "a.mtx"
    mmwrite(path, matrix, comment="by\na test", field=field, symmetry=symmetry)
    np.testing.assert_array_equal(read_matrix_market(path).toarray(), matrix.toarray())
    packed = tmp_path / "b.mtx.gz"
    packed.write_bytes(gzip.compress(path.read_bytes()))
    np.testing.assert_array_equal(read_graph(packed).adjacency.toarray(), matrix.toarray())


HEAD = "%%MatrixMarket matrix coordinate real symmetric\n"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "its first line is not"),
        (HEAD.replace("real", "complex"), "complex and symmetric is no graph"),
        (HEAD.replace("coordinate", "array"), "its first line is not"),
        (HEAD, "it lacks the line with the numbers"),
        (HEAD + "3 3 2\n2 1 1\n", "it has 1 entries, but says 2; it is cut off"),
        (HEAD + "3 3 1\n", "it has 0 entries, but says 1"),
        (HEAD + "3 3 1\n4 1 1\n", "entry 1 is in row 4 of 3"),
        (HEAD + "3 3 1\n1 0 1\n", "entry 1 is in column 0 of 3"),
        (HEAD + "3 3 1\n1 1.5 1\n", r"entry 1 is in column 1\.5 of 3"),
        (HEAD + "3 3 1\n1 x 1\n", "is not a readable Matrix Market file"),
        (HEAD + "3 3 1\n2 1 -1\n", r"adjacency\[0, 1\] = -1"),
        (HEAD + "3 4 1\n2 1 1\n", "it must be square"),
    ],
)
def test_damage_is_refused(tmp_path, content, message):
    path = tmp_path / "a.mtx"
    path.write_text(content)
    with pytest.raises(ValueError, match=rf"a\.mtx.*{message}"):
        read_graph(path)
