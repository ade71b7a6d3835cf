"""Where to compute."""

from __future__ import annotations

import torch


def choose_device(device: str | torch.device | None = None) -> torch.device:
    """The device asked for; by default a CUDA device when there is one, else the CPU."""
    if device is None:
        return torch.device("cuda" if torch.cuda.is_available() else "cpu")
    try:
        chosen = torch.device(device)
    except RuntimeError:
        raise ValueError(f"device={str(device)!r} is not known: it is 'cpu', 'cuda' or 'cuda:1'") from None
    if chosen.type not in ("cpu", "cuda"):
        raise ValueError(f"device={str(device)!r} is not supported: it is 'cpu', 'cuda' or 'cuda:1'")
    if chosen.type == "cuda" and not torch.cuda.is_available():
        raise ValueError(f"device={str(device)!r}, but this machine has no CUDA device: leave it out, or pass 'cpu'")
    if chosen.type == "cuda" and (chosen.index or 0) >= torch.cuda.device_count():
        raise ValueError(f"device={str(device)!r}, but this machine has {torch.cuda.device_count()} CUDA devices")
    return chosen
