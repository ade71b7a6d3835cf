import csv
import string

import numpy as np
import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dfnets.datasets.tables import open_table

# Everything that quoting is for, and text beyond ASCII; line ends inside a cell are not read.
cells = st.text(string.ascii_letters + string.digits + " ,;\t\"'é漢-", max_size=6)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(cells, cells, st.floats(-1e6, 1e6)), min_size=1), suffix=st.sampled_from(["csv", "tsv"]))
def test_delimited_text_against_the_standard_library(tmp_path, rows, suffix):
    path = tmp_path / f"table.{suffix}"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="," if suffix == "csv" else "\t", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerows([("one", "two", "number"), *rows])
    table = open_table(path)
    assert table.columns == ["one", "two", "number"]
    factors, matrix = table.read(["two", "one"], ["number"])
    for factor, column in zip(factors, (1, 0), strict=True):
        assert [factor.values[int(code)].as_py() for code in factor.codes] == [row[column] for row in rows]
        assert len(set(factor.values.to_pylist())) == len(factor.values)
    np.testing.assert_array_equal(matrix[:, 0], [row[2] for row in rows])


@pytest.mark.parametrize("kind", ["string", "large_string[pyarrow]", "category", "int64"])
def test_parquet_of_any_kind_of_id(tmp_path, kind):
    path = tmp_path / "table.parquet"
    ids = ["10", "7", "10", "3"]
    frame = pandas.DataFrame({"id": pandas.Series(ids).astype(kind), "x": [1, 2, 3, 4], "y": [0.5, None, 1, 2]})
    frame.to_parquet(path, row_group_size=2)
    (factor,), matrix = open_table(path).read(["id"], ["x", "y"])
    assert [factor.values[int(code)].as_py() for code in factor.codes] == ids
    np.testing.assert_array_equal(matrix, frame[["x", "y"]].to_numpy(dtype=float))


def test_many_blocks_are_one_column(tmp_path):
    """More than a megabyte is parsed in several blocks, each with a dictionary of its own."""
    path = tmp_path / "long.csv"
    ids = np.random.default_rng(0).integers(0, 5000, 200_000).astype(str)
    path.write_text("id,number\n" + "".join(f"{name},{k}\n" for k, name in enumerate(ids)))
    (factor,), matrix = open_table(path).read(["id"], ["number"])
    np.testing.assert_array_equal(factor.values.to_numpy(zero_copy_only=False)[factor.codes], ids)
    np.testing.assert_array_equal(matrix[:, 0], np.arange(200_000))


def test_a_byte_order_mark_and_blank_lines_do_not_shift_the_count(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xef\xbb\xbfid,x\r\na,1\r\n\r\nb,oops\r\n")
    table = open_table(path)
    assert table.columns == ["id", "x"]
    with pytest.raises(ValueError, match=r"table\.csv, line 4, column 'x': 'oops' is not a number"):
        table.read(["id"], ["x"])
    assert table.place(1) == "line 4"
    with pytest.raises(ValueError, match=r"line 4, column 'id': 'b' is odd"):
        table.fail(1, "id", "is odd")


def test_no_header(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("a,1\nb,2\n")
    table = open_table(path, header=False)
    (factor,), matrix = table.read(["1"], ["2"])
    assert (factor.values.to_pylist(), matrix.tolist()) == (["a", "b"], [[1.0], [2.0]])
    assert table.place(1) == "line 2"


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", "line 1 is empty: the file has no columns"),
        (b"\na,b\n", "line 1 is empty"),
        (b"1,2\n3,4\n", "line 1 holds numbers, not the names of columns: pass header=False"),
        (b"a,a\n1,2\n", "line 1 names column 'a' more than once"),
        (b"id,x\na,1\nb\n", r"line 3: it has 1 columns, but the file has 2 \(id, x\)"),
        (b"id,x\na,1\nb,2,3\n", "line 3: it has 3 columns, but the file has 2"),
        (b"id,x\na,1\n\xe9,2\n", "line 3, column 'id': the text is not UTF-8"),
        (b"id,x\na,1\nb,1;2\n", "line 3, column 'x': '1;2' is not a number"),
    ],
)
def test_what_is_wrong_in_text_is_named_by_line_and_column(tmp_path, content, message):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"table\.csv, {message}"):
        open_table(path).read(["id"], ["x"])


def test_what_is_wrong_in_parquet_is_named_by_row_and_column(tmp_path):
    path = tmp_path / "table.parquet"
    path.write_bytes(b"not this")
    with pytest.raises(ValueError, match=r"table\.parquet is not a Parquet file"):
        open_table(path)
    pandas.DataFrame({"id": ["a", None], "x": ["1", "2"]}).to_parquet(path)
    table = open_table(path)
    with pytest.raises(ValueError, match=r"table\.parquet, column 'x': it holds .*string, not numbers"):
        table.read(["id"], ["x"])
    assert table.read(["id"], [])[0][0].codes.tolist() == [0, -1]
    with pytest.raises(ValueError, match=r"table\.parquet, row 2, column 'id': None is missing"):
        table.fail(1, "id", "is missing")


def test_other_suffixes_and_missing_files(tmp_path):
    with pytest.raises(ValueError, match=r"table\.xlsx: a table ends in \.csv, \.tsv or \.parquet, not in '\.xlsx'"):
        open_table(tmp_path / "table.xlsx")
    for suffix in ("csv", "parquet"):
        with pytest.raises(FileNotFoundError, match=f"table.{suffix}"):
            open_table(tmp_path / f"table.{suffix}")
