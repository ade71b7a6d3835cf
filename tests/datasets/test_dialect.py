"""How a file is written: whatever the dialect, the same graph, ids and weights come out."""

from __future__ import annotations

import csv
import gzip
import io
import string

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from dfnets import Graph
from dfnets.datasets.dialect import TableOptions, has_thousands, is_number, recognise
from dfnets.datasets.files import read_graph

HEADERS = [("source", "target", "weight"), ("From", "To", "Weight"), ("Src", "DST", "WEIGHT"), None]
texts = st.text(string.ascii_letters + "éüñß -_.", min_size=1, max_size=8).map(str.strip).filter(bool)
names = st.one_of(texts, st.integers(0, 40).map(str), st.integers(0, 99).map("{:03d}".format))


@st.composite
def edge_lists(draw):
    """(source, target, weight) with distinct pairs."""
    ids = draw(st.lists(names, min_size=2, max_size=12, unique=True))
    weights = st.floats(0.001, 1e6, allow_nan=False).map(lambda value: round(value, 4))
    pairs = draw(st.lists(st.tuples(*[st.integers(0, len(ids) - 1)] * 2), min_size=3, max_size=20, unique_by=frozenset))
    return [(ids[i], ids[j], draw(weights)) for i, j in pairs]


@st.composite
def dialects(draw):
    return {
        "separator": draw(st.sampled_from(",;\t|")),
        "encoding": draw(st.sampled_from(["utf-8", "utf-8-sig", "utf-16", "utf-16-le", "latin-1"])),
        "end": draw(st.sampled_from(["\n", "\r\n"])),
        "decimal": draw(st.sampled_from([".", ","])),
        "header": draw(st.sampled_from(HEADERS)),
        "quoting": draw(st.sampled_from([csv.QUOTE_MINIMAL, csv.QUOTE_ALL])),
        "packed": draw(st.booleans()),
    }


def write(path, edges, dialect):
    buffer = io.StringIO(newline="")
    writer = csv.writer(
        buffer, delimiter=dialect["separator"], lineterminator=dialect["end"], quoting=dialect["quoting"]
    )
    if dialect["header"]:
        writer.writerow(dialect["header"])
    writer.writerows((a, b, repr(w).replace(".", dialect["decimal"])) for a, b, w in edges)
    raw = buffer.getvalue().encode(dialect["encoding"])
    path.write_bytes(gzip.compress(raw) if dialect["packed"] else raw)


@settings(deadline=None, max_examples=150, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(edges=edge_lists(), dialect=dialects())
def test_every_dialect_gives_the_same_graph(tmp_path, edges, dialect):
    # Numbers of three decimals with a comma could be thousands, which is refused in words; see below.
    assume(dialect["decimal"] == "." or dialect["separator"] == ";" or not all_thousands(edges))
    path = tmp_path / ("edges.csv.gz" if dialect["packed"] else "edges.csv")
    write(path, edges, dialect)
    graph = read_graph(path)
    sources, targets, weights = zip(*edges, strict=True)
    expected = Graph.from_edges(list(sources), list(targets), weights)
    ids = [str(one) for one in (range(graph.num_nodes) if graph.node_ids is None else graph.node_ids)]
    assert sorted(ids) == sorted(expected.node_ids)
    order = [ids.index(name) for name in expected.node_ids]
    np.testing.assert_array_equal(graph.adjacency.toarray()[np.ix_(order, order)], expected.adjacency.toarray())


def all_thousands(edges):
    return all(has_thousands(repr(w).replace(".", ",")) for *_, w in edges)


def test_a_comma_that_could_be_either_is_refused(tmp_path):
    path = tmp_path / "edges.csv"
    path.write_text("a\tb\tweight\nu\tv\t1,234\nv\tw\t2,500\n")
    with pytest.raises(ValueError, match=r"line 2, column 'weight': '1,234' has thousands separators, .*say --decimal"):
        read_graph(path)
    assert read_graph(path, decimal=",").adjacency[0, 1] == 1.234


@pytest.mark.parametrize(
    ("lines", "header"),
    [
        ("id,x\na,1\n", True),
        ("Name,Label\na,Ulm\n", True),
        ("Name,Town\na,Ulm\n", None),
        ("to,be\nor,not\n", None),
        ("class,1\nb,2\n", False),
        (",0,1\na,1,2\n", True),
        ("person,0,1,2\na,5,6,7\n", True),
        ("person,age\na,5\nb,\n", True),
        ("a,1\nb,2\n", False),
        ("3,red\n4,blue\n", False),
        ("a,?\nb,2\n", None),
        ("a,red\nb,blue\n", None),
    ],
)
def test_header(tmp_path, lines, header):
    path = tmp_path / "table.csv"
    path.write_text(lines)
    found = recognise(path, TableOptions())
    assert (found.header, found.sure) == (header is not False, header is not None)
    assert not recognise(path, TableOptions(header=False)).header


def test_what_was_recognised_in_words(tmp_path):
    path = tmp_path / "table.csv"
    path.write_bytes("id;x\nzoë;1,5\n".encode("cp1252"))
    assert str(recognise(path, TableOptions())) == "separated by semicolons, decimal commas, encoding cp1252"
    path.write_text("id,x\nzoë,1.5\n", encoding="utf-8")
    assert str(recognise(path, TableOptions())) == ""


def test_spaces_separate_only_where_nothing_else_does(tmp_path):
    path = tmp_path / "table.txt"
    for content, cells in (
        ("a b,c d\n", ["a b", "c d"]),
        ("  a   b\n", ["a", "b"]),
        ("# of SNAP\n1\t2\n", ["1", "2"]),
    ):
        path.write_text(content)
        assert recognise(path, TableOptions()).first == cells


def test_numbers():
    assert [is_number(cell) for cell in ("1", "-1.5e3", "nan", "1,5", "1_000", "x", "")] == [1, 1, 1, 0, 0, 0, 0]
    assert [is_number(cell, ",") for cell in ("1", "1,5", "1.5")] == [True, True, False]
    assert [has_thousands(c) for c in ("1,234", "1.234.567,8", "12 345", "0,125", "1234", "1,23")] == [1, 1, 1, 0, 0, 0]


@pytest.mark.parametrize("options", [{"separator": "ab"}, {"separator": '"'}, {"decimal": "·"}])
def test_options_that_cannot_be(options):
    with pytest.raises(ValueError, match=rf"{next(iter(options))}=.*--{next(iter(options))}"):
        TableOptions(**options)
    assert TableOptions(separator="tab").separator == "\t"


@pytest.mark.parametrize("first", ["DST,DST,1.0", "from,to,2.5"])
def test_an_edge_between_words_that_columns_have_is_no_header(tmp_path, first):
    (tmp_path / "edges.csv").write_text(f"{first}\nA,{first.split(',')[0]},1.0\nA,A,1.0\n")
    graph = read_graph(tmp_path / "edges.csv")
    assert graph.num_nodes == len({*first.split(",")[:2], "A"})
    assert graph.num_edges == 3
