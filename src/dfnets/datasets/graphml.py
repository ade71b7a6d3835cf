"""GraphML: nodes, edges and their weights, by the standard library's parser and without entities."""

from __future__ import annotations

import math
from pathlib import Path
from typing import NamedTuple, NoReturn
from xml.etree import ElementTree
from xml.parsers import expat

from dfnets.datasets.dialect import open_bytes

# The line of an element travels among its attributes, under a name that XML does not allow.
_LINE = " line"


class GraphMLEdges(NamedTuple):
    """What a GraphML file says of a graph; ``lines`` are the places of the edges, for messages."""

    nodes: list[str]
    sources: list[str]
    targets: list[str]
    weights: list[float]
    lines: list[int]
    directed: bool
    weighted_by: str | None


def read_graphml(path: Path, weight: str | None = None) -> GraphMLEdges:
    """The nodes and edges of a file.

    Args:
        weight: the attribute that is the weight of an edge, "weight" in any case if left out. An edge that does not
            have it has its default, or 1.
    """
    root = _tree(path)
    key, name, default = _weight_key(root, weight or "weight")
    if weight is not None and key is None:
        raise ValueError(f"weight={weight!r}: {path} declares no such attribute of edges")
    for hyperedge in root.iter("hyperedge"):
        _fail(path, hyperedge, "a hyperedge joins more than two nodes: replace it by edges")
    edges = list(root.iter("edge"))
    weights = []
    for edge in edges:
        text = next((data.text or "" for data in edge.findall("data") if data.get("key") == key), default)
        weights.append(_weight(path, edge, text))
    return GraphMLEdges(
        [_attribute(path, node, "id") for node in root.iter("node")],
        [_attribute(path, edge, "source") for edge in edges],
        [_attribute(path, edge, "target") for edge in edges],
        weights,
        [int(edge.attrib[_LINE]) for edge in edges],
        any(graph.get("edgedefault") == "directed" for graph in root.iter("graph"))
        or any(edge.get("directed") == "true" for edge in edges),
        name,
    )


def _weight(path: Path, edge: ElementTree.Element, text: str) -> float:
    try:
        value = float(text)
    except ValueError:
        _fail(path, edge, f"the weight {text!r} is not a number")
    if not 0 <= value < math.inf:
        _fail(path, edge, f"{text!r} is no weight: a weight is finite and not negative")
    return value


def _weight_key(root: ElementTree.Element, weight: str) -> tuple[str | None, str | None, str]:
    """The id under which edges have their weight, its name, and the weight of an edge that has none."""
    for key in root.iter("key"):
        name = key.get("attr.name", "")
        if name.casefold() == weight.casefold() and key.get("for") in ("edge", "all"):
            return key.get("id"), name, key.findtext("default", "1")
    return None, None, "1"


def _tree(path: Path) -> ElementTree.Element:
    builder = ElementTree.TreeBuilder()
    # With a separator every tag comes as "namespace name"; the bare name is what counts.
    parser = expat.ParserCreate(namespace_separator=" ")

    def start(tag: str, attributes: dict[str, str]) -> None:
        builder.start(tag.rsplit(" ", 1)[-1], {**attributes, _LINE: str(parser.CurrentLineNumber)})

    def refuse(*_: object) -> NoReturn:
        # It can define entities that unfold to gigabytes or read other files, and GraphML needs none.
        raise ValueError(f"{path}, line {parser.CurrentLineNumber}: remove the document type declaration (<!DOCTYPE)")

    parser.StartDoctypeDeclHandler = refuse
    parser.StartElementHandler = start
    parser.EndElementHandler = lambda tag: builder.end(tag.rsplit(" ", 1)[-1])
    parser.CharacterDataHandler = builder.data
    try:
        with open_bytes(path) as file:
            parser.ParseFile(file)
    except expat.ExpatError as error:
        reason = expat.errors.messages[error.code]
        raise ValueError(f"{path}, line {error.lineno}, column {error.offset + 1}: {reason}") from None
    except LookupError as error:
        raise ValueError(f"{path}: {error}; save it in UTF-8") from None
    except ValueError as error:
        if str(error).startswith(str(path)):
            raise
        raise ValueError(f"{path}: {error}; save it in UTF-8") from None
    return builder.close()


def _attribute(path: Path, element: ElementTree.Element, name: str) -> str:
    return element.get(name) or _fail(path, element, f"<{element.tag}> has no {name}")


def _fail(path: Path, element: ElementTree.Element, why: str) -> NoReturn:
    raise ValueError(f"{path}, line {element.attrib[_LINE]}: {why}")
