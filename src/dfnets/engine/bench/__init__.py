"""Speed and memory of the engine, side by side with its peers, in one run: ``dfnets bench``."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from dfnets.engine.bench import report, suites, timing


def run(
    device: str,
    folder: Path,
    *,
    quick: bool = False,
    docs: Path | None = None,
    say: Callable[[str], None] = print,
) -> report.Results:
    """Measure on ``device`` (``"cpu"`` or ``"cuda"``), say what is found, write JSON and a figure to the folder.

    Args:
        docs: a page with marks for the tables, which are written there too (:func:`report.write_docs`).
    """
    size = suites.SIZES[device, quick]
    results: report.Results = {"machine": report.machine(device), "copy": timing.copy_bandwidth(device)}
    say(report.head(results))
    results["steps"] = list(suites.steps(device, size, say))
    say(f"\n{report.steps(results)}")
    say(f"\n{report.summary(results)}")
    results["scaling"] = list(suites.scaling(device, size))
    say(f"\n{report.scaling(results)}")
    results["chains"] = list(suites.chains(device, size))
    say(f"\n{report.chains(results)}\n")
    for path in report.save(results, folder):
        say(f"wrote {path}")
    if docs is not None:
        report.write_docs(results, docs)
        say(f"wrote {docs}")
    return results
