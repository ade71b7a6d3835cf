"""``python -m benchmarks``: what ``dfnets bench`` measures, on every device of this machine."""

from __future__ import annotations

from pathlib import Path

import torch

from dfnets.engine import bench

for device in ["cpu", *(["cuda"] if torch.cuda.is_available() else [])]:
    bench.run(device, Path("reports"))
