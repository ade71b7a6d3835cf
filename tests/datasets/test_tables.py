import csv
import gzip
import io
import string

import numpy as np
import pandas
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from dfnets.datasets.tables import column_of, open_table

# Everything that quoting is for, and text beyond ASCII; blanks at the ends of a cell are not kept.
cells = st.text(string.ascii_letters + string.digits + " ,;\t\"'é漢-\n", max_size=6).map(str.strip)


@settings(deadline=None, max_examples=40, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(rows=st.lists(st.tuples(cells, cells, st.floats(-1e6, 1e6)), min_size=1), suffix=st.sampled_from(["csv", "tsv"]))
def test_delimited_text_against_the_standard_library(tmp_path, rows, suffix):
    path = tmp_path / f"table.{suffix}"
    with path.open("w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file, delimiter="," if suffix == "csv" else "\t", quoting=csv.QUOTE_NONNUMERIC)
        writer.writerows([("one", "two", "number"), *rows])
    table = open_table(path)
    assert table.columns == ["one", "two", "number"]
    factors, (numbers,) = table.read(["two", "one"], ["number"])
    for factor, column in zip(factors, (1, 0), strict=True):
        assert [factor.values[int(code)].as_py() for code in factor.codes] == [row[column] for row in rows]
        assert len(set(factor.values.to_pylist())) == len(factor.values)
    np.testing.assert_array_equal(numbers, [row[2] for row in rows])


@pytest.mark.parametrize("kind", ["string", "large_string[pyarrow]", "category", "int64"])
def test_parquet_of_any_kind_of_id(tmp_path, kind):
    path = tmp_path / "table.parquet"
    ids = ["10", "7", "10", "3"]
    frame = pandas.DataFrame({"id": pandas.Series(ids).astype(kind), "x": [1, 2, 3, 4], "y": [0.5, None, 1, 2]})
    frame.to_parquet(path, row_group_size=2)
    (factor,), numbers = open_table(path).read(["id"], ["x", "y"])
    assert [factor.values[int(code)].as_py() for code in factor.codes] == ids
    np.testing.assert_array_equal(np.stack(numbers, axis=1), frame[["x", "y"]].to_numpy(dtype=float))


def test_many_blocks_are_one_column(tmp_path):
    """More than a megabyte is parsed in several blocks, each with a dictionary of its own."""
    path = tmp_path / "long.csv"
    ids = np.random.default_rng(0).integers(0, 5000, 200_000).astype(str)
    path.write_text("id,number\n" + "".join(f"{name},{k}\n" for k, name in enumerate(ids)))
    (factor,), (numbers,) = open_table(path).read(["id"], ["number"])
    np.testing.assert_array_equal(factor.values.to_numpy(zero_copy_only=False)[factor.codes], ids)
    np.testing.assert_array_equal(numbers, np.arange(200_000))


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
    table = open_table(path)
    (factor,), (numbers,) = table.read(["1"], ["2"])
    assert (factor.values.to_pylist(), numbers.tolist()) == (["a", "b"], [1.0, 2.0])
    assert table.place(1) == "line 2"


@pytest.mark.parametrize("packed", [False, True])
def test_newlines_in_quoted_cells_beyond_the_first_block(tmp_path, packed):
    """Arrow parses a megabyte at a time; a row must not begin inside a cell."""
    rng = np.random.default_rng(0)
    ids = [f"no{k}\nde, {k % 7}\n" if rng.random() < 0.5 else f"node {k}" for k in range(60_000)]
    buffer = io.StringIO(newline="")
    writer = csv.writer(buffer)
    writer.writerows([("the\nid", "number"), *zip(ids, range(len(ids)), strict=True)])
    raw = buffer.getvalue().encode()
    assert len(raw) > 2**20
    path = tmp_path / ("table.csv.gz" if packed else "table.csv")
    path.write_bytes(gzip.compress(raw, 1) if packed else raw)
    table = open_table(path)
    assert table.columns == ["the id", "number"]
    (factor,), (numbers,) = table.read(["the id"], ["number"])
    np.testing.assert_array_equal(numbers, np.arange(len(ids)))
    assert factor.values.take(factor.codes).to_pylist() == [name.strip() for name in ids]
    line = 1 + sum(name.count("\n") + 1 for name in ["the\nid", *ids[:50_000]])
    assert table.place(50_000) == f"line {line}"


def test_cells_of_any_length(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("id,text,number\na," + "x" * 3_000_000 + ",1\nb,y,2\n")
    (_, texts), (numbers,) = open_table(path).read(["id", "text"], ["number"])
    assert [len(text) for text in texts.values.to_pylist()] == [3_000_000, 1]
    assert numbers.tolist() == [1, 2]


def test_what_is_not_ascii_only_after_the_sample(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes(b"id,x\n" + b"".join(b"node%d,1\n" % k for k in range(40_000)) + b"caf\xe9,2\n")
    (ids,), _ = open_table(path).read(["id"], ["x"])
    assert ids.values[40_000].as_py() == "café"


def test_what_spreadsheets_leave_behind(tmp_path):
    """A column without name and cells, rows without cells, a byte order mark, blanks."""
    path = tmp_path / "table.csv"
    path.write_bytes(b"\xef\xbb\xbfid;x;;\r\n a ;1;;\r\nb;2;;\r\n;;;\r\n;;;\r\n")
    table = open_table(path)
    assert table.columns == ["id", "x"]
    (ids,), (numbers,) = table.read(["id"], ["x"])
    assert (ids.values.to_pylist(), numbers.tolist()) == (["a", "b"], [1, 2])


def test_the_names_that_others_leave_out(tmp_path):
    """pandas does not name its index, and R not even its place."""
    path = tmp_path / "table.csv"
    for content, separator in ((",x,y\na,1,2\nb,3,4\n", ","), ('"x" "y"\n"a" 1 2\n"b" 3 4\n', " ")):
        path.write_text(content)
        table = open_table(path)
        assert table.columns == ["id", "x", "y"]
        (ids,), numbers = table.read(["id"], ["x", "y"])
        assert ids.values.to_pylist() == ["a", "b"], separator
        assert [column.tolist() for column in numbers] == [[1, 3], [2, 4]]


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (b"", ", line 1 is empty: the file has no columns"),
        (b"# only\n# comments\n", ", line 1 is empty"),
        (b",,\n,,\n", " is empty: the file has no columns"),
        (b"  \n \n", ", line 1 is empty"),
        (b"id,id\n1,2\n", ", line 1 names column 'id' more than once"),
        (b"id,x\na,1\nb\n", r", line 3: it has 1 columns, but the file has 2 \(id, x\)"),
        (b"id,x\na,1\nb,2,3\n", ", line 3: it has 3 columns, but the file has 2"),
        (b"id,x\na,1\nb,1;2\n", ", line 3, column 'x': '1;2' is not a number"),
        (b"# from a tool\n\nid,x\na,1\nb,much\n", ", line 5, column 'x': 'much' is not a number"),
        (b"id,x\na,1\nb,1 234\n", ", line 3, column 'x': '1 234' has thousands separators"),
    ],
)
def test_what_is_wrong_in_text_is_named_by_line_and_column(tmp_path, content, message):
    path = tmp_path / "table.csv"
    path.write_bytes(content)
    with pytest.raises(ValueError, match=rf"table\.csv{message}"):
        open_table(path).read(["id"], ["x"])


def test_what_is_wrong_in_parquet_is_named_by_row_and_column(tmp_path):
    path = tmp_path / "table.parquet"
    path.write_bytes(b"not this")
    with pytest.raises(ValueError, match=r"table\.parquet is not a readable Parquet file"):
        open_table(path)
    pandas.DataFrame({"id": ["a", None], "x": ["1", "2"], "list": [[1], [2]]}).to_parquet(path)
    table = open_table(path)
    assert table.text_columns(["id", "x"]) == ["id", "x"]
    with pytest.raises(ValueError, match=r"table\.parquet, column 'x': it holds .*string, not numbers"):
        table.read(["id"], ["x"])
    with pytest.raises(ValueError, match=r"column 'list': it holds list<.*; a cell is a text or a number"):
        table.read(["list"], [])
    assert table.read(["id"], [])[0][0].codes.tolist() == [0, -1]
    with pytest.raises(ValueError, match=r"table\.parquet, row 2, column 'id': None is missing"):
        table.fail(1, "id", "is missing")


def test_columns_in_any_case(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text("Weight,TARGET,x\n1,2,3\n")
    table = open_table(path)
    assert column_of(table, "weight", "weight", 0) == "Weight"
    assert column_of(table, "target", None, 2, ("to", "target")) == "TARGET"
    assert column_of(table, "id", None, 0, ("id",)) == "Weight"
    with pytest.raises(ValueError, match="it has no column 4 to be the label"):
        column_of(table, "label", None, 3)
