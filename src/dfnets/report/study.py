"""The report of all studies: one page, and beside it every table and figure as files."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from dfnets.atomic import replacing
from dfnets.report import figures, tables
from dfnets.report.page import Page
from dfnets.run_file import write_runs
from dfnets.store import Store
from dfnets.studies.analysing.results import Results
from dfnets.studies.planning import Group, Plan
from dfnets.studies.showing import SHOW
from dfnets.studies.showing.document import Figure, Part, Table, Text, cell

# Tables with more rows than that are folded.
LONG = 40
# The file beside the tables that has the runs behind them; `dfnets reproduce --known` goes on from it.
RUNS = "runs.jsonl.gz"
TITLES = {"summary": "In short", "claims": "The paper's claims"}


class StudyReport:
    """Everything that the stored runs show, as data.

    Args:
        store: of the runs.
        quick: report the first look; None takes the scale of which more was run.

    Attributes:
        parts: text, tables and figures of each study.
        used: the runs that the tables are made of.
        about: where the numbers come from.
    """

    def __init__(self, store: str | os.PathLike[str], *, quick: bool | None = None) -> None:
        if not Path(store).exists():
            raise ValueError(f"store={str(store)!r} does not exist; `dfnets reproduce` makes it")
        with Store(store) as opened:
            self.results = Results(opened, Plan(quick=_mostly_quick(opened) if quick is None else quick))
            self.stored = len(opened)
        self.parts = {name: show(self.results) for name, show in SHOW.items()}
        samples = [self.results.of(group) for group in self.results.plan.groups()]
        self.used = list({run.key: run for sample in samples for run in sample.runs}.values())
        self.about = self._about({run.key for sample in samples if not sample.current for run in sample.runs})

    @property
    def tables(self) -> dict[str, Table]:
        """All tables by name."""
        return {part.name: part for parts in self.parts.values() for part in parts if isinstance(part, Table)}

    def write(self, out: str | os.PathLike[str]) -> Path:
        """Writes ``index.html``, figures (PNG, PDF) and tables (CSV, LaTeX); returns the path of the page."""
        out = Path(out)
        for folder in ("figures", "tables"):
            (out / folder).mkdir(parents=True, exist_ok=True)
        for part in (part for parts in self.parts.values() for part in parts):
            if isinstance(part, Table):
                tables.write(part, out / "tables")
            elif isinstance(part, Figure):
                figures.for_print(part, out / "figures")
        return self._page().write(out / "index.html")

    def write_tables(self, folder: str | os.PathLike[str]) -> None:
        """Writes every table as CSV into a folder, with ``about.json`` and the runs that they were made of."""
        folder = Path(folder)
        folder.mkdir(parents=True, exist_ok=True)
        for table in self.tables.values():
            with replacing(folder / f"{table.name}.csv") as temporary:
                temporary.write_text(tables.as_csv(table), encoding="utf-8", newline="")
        with replacing(folder / "about.json") as temporary:
            temporary.write_text(json.dumps(self.about, indent=2) + "\n", encoding="utf-8")
        write_runs(self.used, folder / RUNS)

    def _about(self, older: set[str]) -> dict[str, Any]:
        """Where the numbers come from: command, versions, machines, and how much of the plan was run.

        Args:
            older: the keys of runs of older code.
        """
        plan, used = self.results.plan.groups(), self.used
        machines = Counter(run.machine for run in used)
        versions = Counter(", ".join(f"{k} {v}" for k, v in run.versions.items() if v) for run in used)
        return {
            "command": "dfnets reproduce all" + (" --quick" if self.results.plan.quick else ""),
            "report": "dfnets report --tables results",
            "runs": len(used),
            "runs in the store": self.stored,
            "planned runs": sum(group.seeds for group in _distinct(plan)),
            "failed": sum(run.status == "failed" for run in used),
            "of older code": len(older),
            "not registered": sorted({group.model for group in plan if not group.registered}),
            "hours of computing": round(sum(run.seconds or 0 for run in used) / 3600, 2),
            "machines": [f"{name} ({count} runs)" for name, count in machines.most_common()],
            "versions": [f"{name} ({count} runs)" for name, count in versions.most_common()],
            "code": sorted({run.code for run in used}),
            "notes": {name: table.note for name, table in self.tables.items() if table.note},
        }

    def _page(self) -> Page:
        page = Page(
            "What of the paper holds",
            "DFNets: Spectral CNNs for Graphs with Feedback-Looped Filters (Wijesinghe and Wang, 2019): every table "
            "and figure run again, beside what the paper prints.",
        )
        studies = self.results.plan.studies
        if self.results.plan.quick:
            page.text("A first look (--quick): few seeds and points. Each study says what is left out.")
        for name, parts in self.parts.items():
            page.heading(studies[name].title if name in studies else TITLES[name])
            if self.results.plan.quick and name in studies:
                page.text(f"This first look: {studies[name].left_out}.")
            for part in parts:
                _add(page, part)
        page.heading("Settings")
        page.table(["what", "value"], [(key, _words(value)) for key, value in self.about.items() if key != "notes"])
        return page


def _distinct(plan: Sequence[Group]) -> list[Group]:
    """Groups without those whose runs are part of another one."""
    widest: dict[tuple[str, ...], Group] = {}
    for group in plan:
        if group.registered:
            identity = (group.model, group.dataset, group.protocol_name, group.config)
            widest[identity] = max(group, widest.get(identity, group), key=lambda g: g.seeds)
    return list(widest.values())


def _mostly_quick(store: Store) -> bool:
    """Whether more runs are of the first look; of the full plan, which is far longer, any number is a small share."""
    plans = {quick: Plan(quick=quick) for quick in (False, True)}
    count = {quick: Results(store, plan).stored(plan.groups()) for quick, plan in plans.items()}
    return count[True] >= count[False]


def _add(page: Page, part: Part) -> None:
    if isinstance(part, Text):
        page.text(part.text)
        return
    page.subheading(part.title)
    if part.note:
        page.text(part.note)
    if isinstance(part, Table):
        rows = [[cell(value) for value in row] for row in part.rows]
        page.table(part.columns, rows, folded=len(rows) > LONG)
    elif part.panels:
        page.figures([figures.for_page(panel) for panel in part.panels])
    else:
        page.text("Not run.")


def _words(value: Any) -> str:
    if isinstance(value, Mapping):
        return "; ".join(f"{key}: {part}" for key, part in value.items())
    return "; ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
