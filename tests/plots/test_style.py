"""Figures as SVG for a page."""

from __future__ import annotations

from xml.etree import ElementTree

import dfnets
from dfnets import plots


def test_an_svg_is_whole_says_what_it_is_and_follows_the_page() -> None:
    figure = dfnets.ChebyshevFilter.fit(dfnets.responses.heat(2.0), 8).plot()
    text = plots.as_svg(figure, 'gain & "frequency"', "first")
    root = ElementTree.fromstring(text)
    assert root.attrib["role"] == "img"
    assert root.attrib["aria-label"] == 'gain & "frequency"'
    assert "width" not in root.attrib
    assert "currentColor" in text
    assert "#000000" not in text
    assert ">frequency<" in text
    other = plots.as_svg(dfnets.ChebyshevFilter.fit(dfnets.responses.heat(1.0), 8).plot(), "", "second")
    ids = [{e.attrib["id"] for e in ElementTree.fromstring(t).iter() if "id" in e.attrib} for t in (text, other)]
    assert not ids[0] & ids[1]
