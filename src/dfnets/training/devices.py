"""Where to compute."""

from __future__ import annotations

import torch


def choose_device(device: str | torch.device | None = None) -> torch.device:
    """The device asked for; by default a CUDA device when there is one, else the CPU."""
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    chosen = torch.device(device)
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={str(device)!r}, but this machine has no CUDA device: leave it out, or pass 'cpu'")
    return chosen
