"""Small grey images in a page: as nodes of their graph, and in a row with a word under each."""

from __future__ import annotations

import base64
import io
from collections.abc import Sequence
from html import escape

import numpy as np
import scipy.sparse as sp

from dfnets.datasets.splits import Split
from dfnets.graph import Graph

SIDE = 8
SIZE = 1000
# How large an image is drawn, in units of the network's width.
DOT = 14

STYLE = """<style>
  .digits { position: relative; } .digits svg { width: 100%; height: auto; background: #1b2129; border-radius: 6px; }
  .digits path { stroke: #fff; stroke-opacity: .07; fill: none; }
  .digits image { image-rendering: pixelated; } .digits rect { fill: none; stroke-width: 2.5; }
  .digits rect.given { stroke: #56B4E9; } .digits rect.missed { stroke: #ff6b4a; }
  .digits .look { position: absolute; right: .6rem; top: .6rem; background: var(--paper); border: 1px solid var(--line);
    border-radius: 6px; padding: .5rem; font-size: .85rem; width: 9.2rem; min-height: 11.5rem; }
  .digits .look img { width: 8rem; height: 8rem; image-rendering: pixelated; display: block; }
  .strip { display: flex; flex-wrap: wrap; gap: .5rem; padding: 0; margin: .6rem 0; list-style: none; }
  .strip li { text-align: center; font-size: .8rem; }
  .strip img { width: 2.6rem; height: 2.6rem; image-rendering: pixelated; display: block; }
  @media (max-width: 40rem) {
    .digits .look { position: static; width: auto; min-height: 0; display: flex; gap: .8rem; } }
</style>"""

SCRIPT = """<script>
for (const box of document.querySelectorAll(".digits")) {
  const look = box.querySelector(".look");
  box.addEventListener("pointerover", (event) => {
    const picture = event.target.closest("image");
    if (!picture) return;
    look.querySelector("img").src = picture.getAttribute("href");
    look.querySelector("span").textContent = picture.firstChild.textContent;
  });
}
</script>"""


def encoded(pixels: np.ndarray) -> list[str]:
    """Each row of (n, 64) grey values from 0 to 16 as the address of a PNG that holds it."""
    from PIL import Image

    addresses = []
    for row in np.clip(pixels / 16 * 255, 0, 255).astype(np.uint8).reshape(len(pixels), SIDE, SIDE):
        file = io.BytesIO()
        Image.fromarray(row).save(file, "png", optimize=True)
        addresses.append("data:image/png;base64," + base64.b64encode(file.getvalue()).decode())
    return addresses


def strip(pictures: Sequence[str], nodes: np.ndarray, words: Sequence[str]) -> str:
    """Images in a row, each with its word under it."""
    cells = (
        f'<li><img src="{pictures[node]}" alt="image {node}">{escape(word)}</li>'
        for node, word in zip(nodes, words, strict=True)
    )
    return f'<ul class="strip">{"".join(cells)}</ul>'


def network(
    graph: Graph,
    pictures: Sequence[str],
    places: np.ndarray,
    guessed: np.ndarray,
    probabilities: np.ndarray,
    split: Split,
) -> str:
    """All images at their places, joined to their neighbours; pointing at one shows it large."""
    assert graph.labels is not None
    spread = places - places.min(axis=0)
    at = DOT + spread / spread.max(axis=0) * (SIZE - 2 * DOT)
    edges = sp.triu(graph.adjacency, k=1).tocoo()
    lines = "".join(
        f"M{at[a, 0]:.0f} {at[a, 1]:.0f}L{at[b, 0]:.0f} {at[b, 1]:.0f}"
        for a, b in zip(edges.row, edges.col, strict=True)
    )
    given, tested = set(split.train.tolist()), set(split.test.tolist())
    drawn, frames = [], []
    for node, (x, y) in enumerate(at):
        true, guess = int(graph.labels[node]), int(guessed[node])
        words = f"digit {true}, predicted {guess} ({100 * probabilities[node, guess]:.0f} %)"
        corner = f'x="{x - DOT / 2:.0f}" y="{y - DOT / 2:.0f}" width="{DOT}" height="{DOT}"'
        drawn.append(f'<image {corner} href="{pictures[node]}"><title>{words}</title></image>')
        kind = "given" if node in given else "missed" if node in tested and guess != true else None
        if kind:
            frames.append(f'<rect {corner} class="{kind}"/>')
    svg = (
        f'<svg viewBox="0 0 {SIZE} {SIZE}" role="img" aria-label="All images, '
        f'each near those that the network takes for alike"><path d="{lines}"/>{"".join(drawn)}{"".join(frames)}</svg>'
    )
    look = (
        f'<div class="look"><img src="{pictures[0]}" alt="the image pointed at"><span>Point at an image.</span></div>'
    )
    return f'{STYLE}<div class="digits">{svg}{look}</div>{SCRIPT}'
