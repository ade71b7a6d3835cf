"""What a run found: a section in Markdown for each measurement, a JSON file and a figure."""

from __future__ import annotations

import json
import os
import platform
from collections.abc import Iterator, Sequence
from importlib.metadata import PackageNotFoundError, version
from itertools import groupby
from pathlib import Path
from typing import Any

import numpy as np
import torch

from dfnets.atomic import replacing
from dfnets.engine.bench.peers import OURS
from dfnets.plots import save_figure

Record = dict[str, Any]
Results = dict[str, Any]


def machine(device: str) -> dict[str, str]:
    """The hardware and the versions that the numbers hold for."""
    packages = {}
    for name in ("torch", "triton", "numba", "numpy", "scipy", "torch_geometric"):
        try:
            packages[name] = version(name)
        except PackageNotFoundError:
            packages[name] = "absent"
    names = {"cpu": f"{_processor()}, {torch.get_num_threads()} threads"}
    if device == "cpu" and packages["numba"] != "absent":
        from dfnets.engine import kernels

        names["cpu"] += f", vectors of {kernels.BLOCK} bytes ({kernels.INSTRUCTIONS})"
    hardware = names.get(device) or torch.cuda.get_device_name()
    return {"device": device, "hardware": hardware, "python": platform.python_version(), **packages}


def head(results: Results) -> str:
    parts = ", ".join(f"{name} {value}" for name, value in results["machine"].items())
    return f"{parts}\n\nA copy moves {results['copy'] / 1e9:.0f} GB/s, read and written."


def steps(results: Results) -> str:
    title = "One step, L~ x + c: milliseconds (and MB that a call allocates, where they are enough to tell)."
    return f"{title}\n\n{_table(_steps(results['steps'], results['copy']))}"


def summary(results: Results) -> str:
    """Over all graphs, for each width: how many times faster than the fastest peer, on average and at worst."""
    title = "Times faster than the fastest peer: geometric mean over the graphs, and the worst of them."
    return f"{title}\n\n{_table(_summary(results['steps']))}"


def scaling(results: Results) -> str:
    rows = results["scaling"]
    return "\n\n".join(["Growth of one step.", _table(_scaling(rows)), *_exponents(rows)])


def chains(results: Results) -> str:
    title = "A layer of 5 hops: milliseconds, and peak memory of both passes in signals of (n, k)."
    return f"{title}\n\n{_table(_chains(results['chains']))}"


def write_docs(results: Results, path: Path) -> None:
    """Put the tables between the two marks ``<!-- bench DEVICE -->`` and ``<!-- end of bench DEVICE -->`` of a page."""
    device = results["machine"]["device"]
    first, last = f"<!-- bench {device} -->", f"<!-- end of bench {device} -->"
    text = path.read_text()
    if first not in text or last not in text:
        raise ValueError(f"{path} has no marks {first} and {last} for the tables to go between")
    tables = [head, summary, steps, scaling, chains]
    body = "\n\n".join(table(results) for table in tables)
    before, _, rest = text.partition(first)
    path.write_text(f"{before}{first}\n\n{body}\n\n{last}{rest.partition(last)[2]}")


def save(results: Results, folder: Path) -> list[Path]:
    """engine-DEVICE.json and engine-DEVICE.png in the folder."""
    folder.mkdir(parents=True, exist_ok=True)
    stem = f"engine-{results['machine']['device']}"
    data, figure = folder / f"{stem}.json", folder / f"{stem}.png"
    with replacing(data) as temporary:
        temporary.write_text(json.dumps(results, indent=1) + "\n")
    _draw(results, figure)
    return [data, figure]


def exponent(records: Sequence[Record], quantity: str) -> float:
    """e in quantity ~ entries^e, by least squares on logarithms."""
    entries, values = (np.log([record[key] for record in records]) for key in ("entries", quantity))
    return float(np.polyfit(entries, values, 1)[0])


def cases(records: Sequence[Record]) -> Iterator[dict[str, Record]]:
    """The records of one graph, width and dtype by contender; ours is always there."""
    for _, group in groupby(records, key=lambda r: (r["graph"], r["columns"], r["dtype"])):
        yield {record["contender"]: record for record in group}


def speedup(case: dict[str, Record], *, without: str = "") -> float | None:
    """How many times faster ours is than the fastest peer; None where it had none.

    Args:
        without: leaves out the peers whose name ends like that.
    """
    peers = [r["seconds"] for name, r in case.items() if name != OURS and not (without and name.endswith(without))]
    return min(peers) / case[OURS]["seconds"] if peers else None


def _summary(records: Sequence[Record]) -> Iterator[list[str]]:
    """The fused product of the vendor, ``addmm``, is the strongest peer: with it, and without."""
    yield ["columns", "graphs", "mean", "worst", "worst on", "mean without addmm", "worst without addmm"]
    compared = [case for case in cases(records) if speedup(case) is not None]
    for width in sorted({case[OURS]["columns"] for case in compared}):
        own = [case for case in compared if case[OURS]["columns"] == width]
        everyone, others = ([speedup(case, without=left) or np.nan for case in own] for left in ("", "addmm"))
        yield [
            str(width),
            str(len(own)),
            f"{np.exp(np.mean(np.log(everyone))):.2f}",
            f"{min(everyone):.2f}",
            own[int(np.argmin(everyone))][OURS]["graph"],
            f"{np.exp(np.mean(np.log(others))):.2f}",
            f"{min(others):.2f}",
        ]


def _steps(records: Sequence[Record], copy: float) -> Iterator[list[str]]:
    names = list(dict.fromkeys(record["contender"] for record in records))
    yield ["graph", "nodes", "entries", "columns", "dtype", *names, "times fastest peer", "GB/s", "of copy", "taken"]
    for case in cases(records):
        ours, ratio = case[OURS], speedup(case)
        rate = ours["moved"] / ours["seconds"]
        yield [
            ours["graph"],
            f"{ours['nodes']:,}",
            f"{ours['entries']:,}",
            str(ours["columns"]),
            ours["dtype"],
            *(_cell(case.get(name)) for name in names),
            "" if ratio is None else f"{ratio:.2f} ± {ratio * ours['within']:.2f}",
            f"{rate / 1e9:.0f}",
            f"{rate / copy:.0%}",
            ours["variant"],
        ]


def _scaling(records: Sequence[Record]) -> Iterator[list[str]]:
    yield ["graph", "nodes", "entries", "columns", "ms", "ns an entry", "MB held"]
    for record in sorted(records, key=lambda record: record["graph"]):
        yield [
            record["graph"],
            f"{record['nodes']:,}",
            f"{record['entries']:,}",
            str(record["columns"]),
            f"{record['seconds'] * 1e3:.3f}",
            f"{record['seconds'] / record['entries'] * 1e9:.3f}",
            f"{record['bytes'] / 1e6:.0f}",
        ]


def _exponents(records: Sequence[Record]) -> Iterator[str]:
    for graph in ("lattice", "random"):
        own = [record for record in records if record["graph"] == graph]
        large = [record for record in own if record["entries"] > 0.9e6]
        line = f"{graph}: memory grows as entries^{exponent(own, 'bytes'):.3f}"
        if len(large) > 1:
            line += f", time as entries^{exponent(large, 'seconds'):.3f} from 10^6 entries"
        yield line + "."


def _chains(records: Sequence[Record]) -> Iterator[list[str]]:
    yield ["contender", "nodes", "entries", "columns", "forward", "and backward", "peak", "times ours"]
    ours = next(record for record in records if record["contender"] == OURS)
    for record in records:
        yield [
            record["contender"],
            f"{record['nodes']:,}",
            f"{record['entries']:,}",
            str(record["columns"]),
            f"{record['forward'] * 1e3:.1f}",
            f"{record['both'] * 1e3:.1f}",
            "" if record["peak"] is None else f"{record['peak'] / record['signal']:.1f}",
            f"{record['forward'] / ours['forward']:.1f}, {record['both'] / ours['both']:.1f}",
        ]


def _cell(record: Record | None) -> str:
    if record is None:
        return ""
    memory = "" if record["peak"] is None else f" ({record['peak'] / 1e6:.0f})"
    return f"{record['seconds'] * 1e3:.2f}{memory}"


def _table(rows: Iterator[list[str]]) -> str:
    head, *body = rows
    widths = [max(len(row[i]) for row in (head, *body)) for i in range(len(head))]
    lines = [head, ["-" * width for width in widths], *body]
    return "\n".join("| " + " | ".join(c.ljust(w) for c, w in zip(line, widths, strict=True)) + " |" for line in lines)


def _draw(results: Results, path: Path) -> None:
    import matplotlib

    matplotlib.use("Agg")
    import matplotlib.pyplot as plt

    figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.5), layout="constrained", width_ratios=(3, 2))
    compared = [case[OURS] | {"speedup": speedup(case)} for case in cases(results["steps"]) if len(case) > 1]
    names = list(dict.fromkeys(record["graph"] for record in compared))
    widths = sorted({record["columns"] for record in compared})
    for width in widths:
        points = [(r["speedup"], names.index(r["graph"])) for r in compared if r["columns"] == width]
        left.plot(*zip(*points, strict=True), "o", label=f"{width} columns")
    left.axvline(1, color="grey", linewidth=0.8)
    left.set(xscale="log", xlabel="times faster than the fastest peer")
    left.set_yticks(range(len(names)), labels=names)
    left.invert_yaxis()
    left.legend(fontsize="small")
    for graph in ("lattice", "random"):
        own = [record for record in results["scaling"] if record["graph"] == graph]
        right.plot([r["entries"] for r in own], [r["seconds"] / r["entries"] * 1e9 for r in own], "o-", label=graph)
    right.set(xscale="log", xlabel="entries", ylabel="ns an entry, 64 columns", ylim=(0, None))
    right.legend()
    figure.suptitle(results["machine"]["hardware"])
    save_figure(figure, path)
    plt.close(figure)


def _processor() -> str:
    try:
        lines = Path("/proc/cpuinfo").read_text().splitlines()
        return next(line.partition(":")[2].strip() for line in lines if line.startswith("model name"))
    except (OSError, StopIteration):
        return platform.processor() or f"{os.cpu_count()} cores"
