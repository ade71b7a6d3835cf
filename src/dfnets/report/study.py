"""The report of all studies: one page, and beside it every table and figure as files."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from dfnets import models
from dfnets.atomic import replacing
from dfnets.report import figures, tables
from dfnets.report.page import Page
from dfnets.store import Run, Store
from dfnets.studies import STUDIES, code
from dfnets.studies.plan import Group, Study
from dfnets.studies.results import Results
from dfnets.studies.shown import Figure, Part, Table, Text, cell

LONG = 40


def write(
    store: str | os.PathLike[str],
    out: str | os.PathLike[str] = "reports/study",
    *,
    quick: bool | None = None,
    results_folder: str | os.PathLike[str] | None = None,
) -> Path:
    """Writes ``index.html`` into ``out``, figures (PNG, PDF) and tables (CSV, LaTeX) into folders of it.

    Args:
        quick: report the first look; None takes the one of which more is there.
        results_folder: also write the tables as CSV there, with ``about.json``.

    Returns:
        the path of the page.
    """
    if not Path(store).exists():
        raise ValueError(f"store={str(store)!r} is not there; `dfnets reproduce` makes it")
    opened = Store(store)
    quick = _mostly_quick(opened) if quick is None else quick
    results = Results(opened, quick=quick)
    shown = {name: study.show(results) for name, study in STUDIES.items()}
    out = Path(out)
    for folder in ("figures", "tables"):
        (out / folder).mkdir(parents=True, exist_ok=True)
    for part in (part for parts in shown.values() for part in parts):
        if isinstance(part, Table):
            tables.write(part, out / "tables")
        elif isinstance(part, Figure):
            figures.for_print(part, out / "figures")
    about = describe(opened.runs(), results)
    if results_folder is not None:
        _commit(shown, about, Path(results_folder))
    return _page(shown, about, quick).write(out / "index.html")


def describe(runs: Sequence[Run], results: Results) -> dict[str, Any]:
    """Where the numbers come from: command, versions, machines, and how much of the plan is there."""
    plan = [group for study in STUDIES.values() for group in study.plan(results.quick)]
    samples = [results.of(group) for group in plan]
    used = {run.key: run for sample in samples for run in sample.runs}
    machines = Counter(run.machine for run in used.values())
    versions = Counter(", ".join(f"{k} {v}" for k, v in run.versions.items() if v) for run in used.values())
    return {
        "command": "dfnets reproduce all" + (" --quick" if results.quick else ""),
        "report": "dfnets report --tables results",
        "runs": len(used),
        "runs in the store": len(runs),
        "planned runs": sum(group.seeds for group in _once(plan)),
        "failed": sum(run.status == "failed" for run in used.values()),
        "of older code": sum(len(sample.runs) for sample in samples if not sample.current),
        "not registered": sorted({group.model for group in plan if not group.registered}),
        "hours of computing": round(sum(run.seconds or 0 for run in used.values()) / 3600, 2),
        "machines": [f"{name} ({count} runs)" for name, count in machines.most_common()],
        "versions": [f"{name} ({count} runs)" for name, count in versions.most_common()],
        "code": {name: sorted({run.code for run in used.values() if run.model == name}) for name in _names(used)},
        "code here": {name: code.of_model(name) for name in models.names()},
    }


def _once(plan: Sequence[Group]) -> list[Group]:
    """Groups without those that are in another one."""
    widest: dict[tuple[str, ...], Group] = {}
    for group in plan:
        if group.registered:
            identity = (group.model, group.dataset, group.protocol_name, group.config)
            widest[identity] = max(group, widest.get(identity, group), key=lambda g: g.seeds)
    return list(widest.values())


def _names(used: dict[str, Run]) -> list[str]:
    return sorted({run.model for run in used.values()})


def _mostly_quick(store: Store) -> bool:
    share = {}
    for quick in (False, True):
        results = Results(store, quick=quick)
        share[quick] = results.share([group for study in STUDIES.values() for group in study.plan(quick)])
    return share[True] > share[False] and share[False] < 0.5


def _commit(shown: dict[str, list[Part]], about: dict[str, Any], folder: Path) -> None:
    folder.mkdir(parents=True, exist_ok=True)
    for part in (part for parts in shown.values() for part in parts):
        if isinstance(part, Table):
            with replacing(folder / f"{part.name}.csv") as temporary:
                temporary.write_text(tables.as_csv(part), encoding="utf-8", newline="")
    with replacing(folder / "about.json") as temporary:
        temporary.write_text(json.dumps(about, indent=2) + "\n", encoding="utf-8")


def _page(shown: dict[str, list[Part]], about: dict[str, Any], quick: bool) -> Page:
    page = Page(
        "What of the paper holds",
        "DFNets: Spectral CNNs for Graphs with Feedback-Looped Filters (Wijesinghe and Wang, 2019): every table and "
        "figure run again, beside what the paper prints.",
    )
    if quick:
        page.text("A first look (--quick): few seeds and points. What it leaves out is said at each study.")
    for name, parts in shown.items():
        _add(page, STUDIES[name], parts, quick)
    page.heading("Settings")
    page.text(
        "Numbers come from runs in a store; a version of the code is a digest of all modules that a run imports, "
        "without comments and docstrings."
    )
    rows = [(key, _words(value)) for key, value in about.items() if key not in ("code", "code here")]
    page.table(["what", "value"], rows)
    page.subheading("Versions of the code")
    versions = [(name, ", ".join(found), about["code here"].get(name, "")) for name, found in about["code"].items()]
    page.table(["model or filter", "of its runs", "here now"], versions, folded=len(versions) > LONG)
    return page


def _add(page: Page, study: Study, parts: Sequence[Part], quick: bool) -> None:
    page.heading(study.title)
    if quick:
        page.text(f"This first look: {study.quick}.")
    for part in parts:
        if isinstance(part, Text):
            page.text(part.text)
            continue
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
    return "; ".join(map(str, value)) or "none" if isinstance(value, list) else str(value)
