"""Tables inside Markdown pages: the README and docs/findings.md have no numbers of their own, only such blocks.

A block is a comment ``<!-- table: NAME -->``, the table, and ``<!-- end of table -->``; everything between the two is
replaced by the table of that name. ``<!-- table: NAME columns: A; B -->`` shows these columns only.
"""

from __future__ import annotations

import json
import os
import re
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path

from dfnets.atomic import replacing
from dfnets.report.tables import as_markdown, read_csv
from dfnets.studies.showing.document import Table

BLOCK = re.compile(
    r"<!-- table: (?P<name>[\w/-]+)(?: columns: (?P<columns>[^>]*?))? -->\n.*?<!-- end of table -->", re.DOTALL
)


def fill(text: str, tables: Mapping[str, Table]) -> str:
    """A page with its blocks made anew."""

    def block(found: re.Match[str]) -> str:
        name = found["name"]
        if name not in tables:
            raise ValueError(f"table {name!r} of a page is not one of {', '.join(sorted(tables))}")
        table = tables[name] if found["columns"] is None else _only(tables[name], found["columns"].split("; "))
        opening = found[0].partition("\n")[0]
        return f"{opening}\n{as_markdown(table)}\n<!-- end of table -->"

    return BLOCK.sub(block, text)


def update(page: str | os.PathLike[str], tables: Mapping[str, Table]) -> int:
    """Fills the blocks of a file; returns how many there are."""
    path = Path(page)
    text = path.read_text(encoding="utf-8")
    count = len(BLOCK.findall(text))
    if not count:
        raise ValueError(
            f"{path} has no block that begins with <!-- table: NAME --> and ends with <!-- end of table -->"
        )
    with replacing(path) as temporary:
        temporary.write_text(fill(text, tables), encoding="utf-8")
    return count


def read_tables(folder: str | os.PathLike[str]) -> dict[str, Table]:
    """The tables of a folder that `dfnets report --tables` wrote, by name, with the notes of its ``about.json``.

    Those of a folder in it are named ``FOLDER/NAME``: tables of an earlier run, which this one did not make again.
    """
    found = {}
    for about in sorted(Path(folder).glob("**/about.json")):
        notes = json.loads(about.read_text(encoding="utf-8")).get("notes", {})
        for path in sorted(about.parent.glob("*.csv")):
            name = path.relative_to(folder).with_suffix("").as_posix()
            found[name] = read_csv(path, notes.get(path.stem, ""))
    return found


def _only(table: Table, columns: list[str]) -> Table:
    unknown = [name for name in columns if name not in table.columns]
    if unknown:
        raise ValueError(f"table {table.name!r} has no column {unknown[0]!r}, only {', '.join(table.columns)}")
    places = [list(table.columns).index(name) for name in columns]
    return replace(table, columns=columns, rows=[[row[i] for i in places] for row in table.rows])
