"""The README's table of results, made from the committed ones in ``results/``."""

from __future__ import annotations

import csv
import json
import os
from pathlib import Path

from dfnets.atomic import replacing
from dfnets.studies.plan import CITATION, PAPER_DATASETS

BEGIN, END = "<!-- results: written by `dfnets report --readme README.md` -->", "<!-- end of results -->"
ROWS = (
    ("DFNet", "dfnet", "planetoid"),
    ("DFNet", "dfnet", "authors"),
    ("DFNet-ATT", "dfnet-att", "planetoid"),
    ("DF-ATT", "df-att", "planetoid"),
    ("DFNetPlus", "dfnet-plus", "planetoid"),
    ("GCN", "gcn", "planetoid"),
    ("GAT", "gat", "planetoid"),
    ("GCNII", "gcnii", "planetoid"),
)


def section(folder: str | os.PathLike[str]) -> str:
    """The table in Markdown, from ``baselines-runs.csv``, ``accuracy-runs.csv`` and ``about.json`` of a folder."""
    folder = Path(folder)
    rows = [row for name in ("baselines-runs", "accuracy-runs") for row in _read(folder / f"{name}.csv")]
    about = json.loads((folder / "about.json").read_text(encoding="utf-8"))
    lines = ["| | protocol | " + " | ".join(PAPER_DATASETS) + " |", "|---" * (2 + len(PAPER_DATASETS)) + "|"]
    for title, model, protocol in ROWS:
        cells = []
        for dataset in PAPER_DATASETS:
            if protocol == "authors" and dataset not in CITATION:
                cells.append("no such split")
                continue
            cells.append(_cell(rows, model, dataset, protocol))
        lines.append(f"| {title} | `{protocol}` | " + " | ".join(cells) + " |")
    note = (
        f"Test accuracy in percent, mean ± standard deviation (runs), the epoch chosen on validation nodes; in "
        f"brackets what the paper prints. Made by `{about['command']}` and `{about['report']}`; "
        f"[results/](results) has every table, the versions and the machine."
    )
    return "\n".join([*lines, "", note])


def update(readme: str | os.PathLike[str], folder: str | os.PathLike[str]) -> None:
    """Puts the table between the marks of a README."""
    path = Path(readme)
    text = path.read_text(encoding="utf-8")
    if BEGIN not in text or END not in text:
        raise ValueError(f"{path} lacks the lines {BEGIN!r} and {END!r} that the results go between")
    before, _, rest = text.partition(BEGIN)
    after = rest.partition(END)[2]
    with replacing(path) as temporary:
        temporary.write_text(f"{before}{BEGIN}\n{section(folder)}\n{END}{after}", encoding="utf-8")


def _read(path: Path) -> list[dict[str, str]]:
    if not path.exists():
        return []
    with path.open(encoding="utf-8", newline="") as file:
        return list(csv.DictReader(file))


def _cell(rows: list[dict[str, str]], model: str, dataset: str, protocol: str) -> str:
    wanted = {"model": model, "dataset": dataset, "protocol": protocol}
    planned = [
        row for row in rows if all(row[name] == value for name, value in wanted.items()) and row["case"][:4] != "part"
    ]
    own = [row for row in planned if row["rule"] == "validation"]
    printed = next(
        (row["paper"] for row in rows if row["model"] == model and row["dataset"] == dataset and row["paper"]), ""
    )
    paper = f" [{float(printed):.1f}]" if printed and model != "dfnet-plus" else ""
    if not own:
        return ("not run" if planned else "not planned") + paper
    most = max(own, key=lambda row: int(row["runs"]))
    spread = f" ± {float(most['std']):.1f}" if most["std"] else ""
    return f"{float(most['mean']):.1f}{spread} ({most['runs']}){paper}"
