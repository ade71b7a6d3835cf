"""Models by name. A baseline is added by one line in ``MODELS``."""

from __future__ import annotations

from dfnets.models.base import Config, Model, Sizes
from dfnets.models.dfnet import DFATT, DFNet, DFNetATT, DFNetConfig
from dfnets.models.plus import DFNetPlus
from dfnets.models.plus_config import DFNetPlusConfig
from dfnets.models.registry import DEFAULT, config, get, names, presets

__all__ = [
    "DEFAULT",
    "DFATT",
    "Config",
    "DFNet",
    "DFNetATT",
    "DFNetConfig",
    "DFNetPlus",
    "DFNetPlusConfig",
    "Model",
    "Sizes",
    "config",
    "get",
    "names",
    "presets",
]
