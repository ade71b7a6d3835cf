"""``dfnets bench``: the engine's speed and memory on this machine, beside its peers."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer


def bench_command(
    device: Annotated[str, typer.Option(help="cpu, cuda, or auto: cuda where there is one.")] = "auto",
    out: Annotated[Path, typer.Option(help="The folder that gets engine-DEVICE.json and engine-DEVICE.png.")] = Path(
        "reports"
    ),
    quick: Annotated[
        bool, typer.Option("--quick", help="Small graphs: seconds, not minutes; the ratios are rough.")
    ] = False,
    docs: Annotated[
        Path | None,
        typer.Option(help="A Markdown page that gets the tables, between <!-- bench DEVICE --> and its end mark."),
    ] = None,
) -> None:
    """Measure the engine side by side with SciPy, torch, cuSPARSE and PyTorch Geometric."""
    import torch

    from dfnets.engine import bench

    there = ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]
    if device == "auto":
        device = there[-1]
    if device not in there:
        raise typer.BadParameter(
            f"{device!r} is not here; it can be one of auto, {', '.join(there)}", param_hint="--device"
        )
    bench.run(device, out, quick=quick, docs=docs)
