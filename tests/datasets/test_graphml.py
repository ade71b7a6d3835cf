import networkx
import pytest

from dfnets.datasets.graphml import read_graphml


def written(tmp_path, body, head=""):
    path = tmp_path / "graph.graphml"
    path.write_text(
        f'<?xml version="1.0"?>\n{head}<graphml xmlns="http://graphml.graphdrawing.org/xmlns">\n{body}\n</graphml>\n'
    )
    return path


@pytest.mark.parametrize("directed", [False, True])
def test_what_networkx_writes(tmp_path, directed):
    graph = networkx.karate_club_graph()
    graph = graph.to_directed() if directed else graph
    path = tmp_path / "karate.graphml"
    networkx.write_graphml(graph, path)
    read = read_graphml(path)
    assert read.directed == directed
    assert read.nodes == [str(node) for node in graph]
    expected = [(str(i), str(j), float(w)) for i, j, w in graph.edges(data="weight")]
    assert list(zip(read.sources, read.targets, read.weights, strict=True)) == expected


def test_defaults_and_lines(tmp_path):
    path = written(
        tmp_path,
        """<key id="d0" for="edge" attr.name="cost"><default>2.5</default></key>
<key id="d1" for="node" attr.name="weight"/>
<graph edgedefault="undirected">
<node id="a"><data key="d1">7</data></node><node id="b"/>
<edge source="a" target="b"/>
<edge source="b" target="b"><data key="d0">4</data></edge>
</graph>""",
    )
    assert read_graphml(path, "cost") == (["a", "b"], ["a", "b"], ["b", "b"], [2.5, 4.0], [7, 8], False, "cost")
    assert read_graphml(path).weights == [1.0, 1.0]


def test_a_weight_that_is_asked_for_must_be_there(tmp_path):
    with pytest.raises(ValueError, match=r"weight='cost': .*graph\.graphml declares no such attribute of edges"):
        read_graphml(written(tmp_path, "<graph/>"), "cost")


LAUGHS = "<!DOCTYPE graphml [\n" + '<!ENTITY l0 "ha">\n'
LAUGHS += "".join(f'<!ENTITY l{k} "{f"&l{k - 1};" * 10}">\n' for k in range(1, 10)) + "]>\n"


@pytest.mark.parametrize(
    ("head", "body", "message"),
    [
        (LAUGHS, '<node id="&l9;"/>', r"line 2: remove the document type declaration \(<!DOCTYPE\)"),
        (
            '<!DOCTYPE g [<!ENTITY x SYSTEM "file:///etc/passwd">]>\n',
            '<node id="a">&x;</node>',
            "line 2: remove the doc",
        ),
        ("", '<graph>\n<node name="a"/></graph>', "line 4: <node> has no id"),
        ("", '<graph><edge source="a"/></graph>', "line 3: <edge> has no target"),
        ("", "<graph><hyperedge/></graph>", "line 3: a hyperedge joins more than two nodes"),
        ("", "<graph>", "line 4, column 3: mismatched tag"),
        ("", "&undefined;", "line 3, column 1: undefined entity"),
        (
            "",
            '<key id="d" for="edge" attr.name="weight"/><graph>\n'
            '<edge source="a" target="b"><data key="d">much</data></edge></graph>',
            "line 4: the weight 'much' is not a number",
        ),
        (
            "",
            '<key id="d" for="edge" attr.name="weight"><default>-1</default></key>'
            '<graph><edge source="a" target="b"/></graph>',
            "line 3: '-1' is no weight: a weight is finite and not negative",
        ),
    ],
)
def test_what_is_wrong_is_named_by_line(tmp_path, head, body, message):
    with pytest.raises(ValueError, match=rf"graph\.graphml, {message}"):
        read_graphml(written(tmp_path, body, head))
