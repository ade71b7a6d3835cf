"""Tables in pages: filled from results, the same from objects and from files, and never typed by hand."""

from __future__ import annotations

import json
import re
from pathlib import Path

import pytest

from dfnets.report import blocks, tables
from dfnets.studies.showing.document import Table

ROOT = Path(__file__).parents[2]
TABLE = Table(
    "t", "T", ["model", "mean", "p", "runs"], [["gcn|x", 81.23456, 1.5e-7, 10], ["gat", None, 0.02345, 2]], "N."
)
PAGE = "before\n<!-- table: t -->\nold\n<!-- end of table -->\nafter\n"


def test_a_block_is_replaced_and_nothing_else() -> None:
    filled = blocks.fill(PAGE, {"t": TABLE})
    assert filled.startswith("before\n<!-- table: t -->\n| model | mean | p | runs |\n")
    assert "| gcn\\|x | 81.23 | 1.5e-07 | 10 |\n| gat | – | 0.0234 | 2 |\n\nN.\n<!-- end" in filled
    assert filled.endswith("<!-- end of table -->\nafter\n")
    assert blocks.fill(filled, {"t": TABLE}) == filled


def test_columns_can_be_chosen() -> None:
    page = PAGE.replace("table: t", "table: t columns: p; model")
    assert "| 1.5e-07 | gcn\\|x |" in blocks.fill(page, {"t": TABLE})
    with pytest.raises(ValueError, match="has no column 'speed', only model, mean"):
        blocks.fill(PAGE.replace("table: t", "table: t columns: speed"), {"t": TABLE})


def test_a_table_reads_the_same_from_its_file(tmp_path: Path) -> None:
    tables.write(TABLE, tmp_path)
    (tmp_path / "about.json").write_text(json.dumps({"notes": {"t": "N."}}))
    assert blocks.fill(PAGE, blocks.read_tables(tmp_path)) == blocks.fill(PAGE, {"t": TABLE})


def test_tables_of_an_earlier_run_are_named_by_their_folder(tmp_path: Path) -> None:
    for folder in (tmp_path, tmp_path / "earlier"):
        folder.mkdir(exist_ok=True)
        (folder / "about.json").write_text('{"notes": {}}')
    (tmp_path / "t.csv").write_text("a\nnew\n")
    (tmp_path / "earlier" / "t.csv").write_text("a\nold\n")
    page = "<!-- table: earlier/t -->\n<!-- end of table -->\n<!-- table: t -->\n<!-- end of table -->\n"
    filled = blocks.fill(page, blocks.read_tables(tmp_path))
    assert filled.index("| old |") < filled.index("| new |")


def test_pages_without_blocks_and_unknown_tables_are_refused(tmp_path: Path) -> None:
    page = tmp_path / "page.md"
    page.write_text("no block")
    with pytest.raises(ValueError, match="has no block"):
        blocks.update(page, {})
    with pytest.raises(ValueError, match="table 't' of a page is not one of other"):
        blocks.fill(PAGE, {"other": TABLE})


@pytest.mark.parametrize("name", ["README.md", "docs/findings.md"])
def test_the_committed_pages_agree_with_the_committed_results(name: str) -> None:
    text = (ROOT / name).read_text(encoding="utf-8")
    assert blocks.BLOCK.search(text)
    assert blocks.fill(text, blocks.read_tables(ROOT / "results")) == text


def test_findings_have_no_figures_outside_their_blocks() -> None:
    text = blocks.BLOCK.sub("", (ROOT / "docs" / "findings.md").read_text(encoding="utf-8"))
    without_versions = re.sub(r"\d+\.\d+\.\d+", "", text)
    assert not re.findall(r"\d+\.\d+", without_versions)
