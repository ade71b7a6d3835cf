"""The README's results are those of results/."""

from __future__ import annotations

from pathlib import Path

import pytest
from studies.synthetic import runs

from dfnets.report import tables
from dfnets.studies import baselines, readme
from dfnets.studies.results import Results
from dfnets.studies.shown import Table

ROOT = Path(__file__).parents[2]


@pytest.mark.skipif(not (ROOT / "results" / "about.json").exists(), reason="no full run is committed yet")
def test_the_readme_agrees_with_the_committed_results() -> None:
    text = (ROOT / "README.md").read_text(encoding="utf-8")
    between = text.partition(readme.BEGIN)[2].partition(readme.END)[0]
    assert between.strip() == readme.section(ROOT / "results").strip()


def test_the_table_comes_from_the_results(tmp_path: Path) -> None:
    means = {("dfnet", "planetoid"): 82.6, ("dfnet", "authors"): 85.6, ("gcn", "planetoid"): 81.5}
    rows = [run for (model, split), mean in means.items() for run in runs(baselines.group(model, "cora", split), mean)]
    for part in baselines.show(Results(rows)):
        if isinstance(part, Table):
            tables.write(part, tmp_path)
    (tmp_path / "about.json").write_text('{"command": "dfnets reproduce all", "report": "dfnets report"}')
    page = tmp_path / "README.md"
    page.write_text(f"before\n{readme.BEGIN}\nold\n{readme.END}\nafter\n")
    readme.update(page, tmp_path)
    lines = page.read_text().splitlines()
    assert lines[0] == "before"
    assert lines[-1] == "after"
    rows = {
        tuple(cell.strip() for cell in line.split("|")[1:3]): line.split("|")[3] for line in lines if line[:1] == "|"
    }
    assert rows["DFNet", "`planetoid`"].strip().startswith("82.")
    assert rows["DFNet", "`planetoid`"].strip().endswith("(10) [85.2]")
    assert rows["DFNet", "`authors`"].strip().startswith("85.")
    assert rows["GAT", "`planetoid`"].strip() == "not run [83.0]"
    page.write_text("no marks")
    with pytest.raises(ValueError, match="lacks the lines"):
        readme.update(page, tmp_path)
