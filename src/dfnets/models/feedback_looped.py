"""The feedback-looped layer alone, for the comparison of filters in the appendix of Wijesinghe and Wang (2019)."""

from __future__ import annotations

from typing import Any, ClassVar

from dfnets.models.dfnet import DFNet
from dfnets.models.tuned import tuned


class FeedbackLooped(DFNet):
    """DFNet without dense connections: each layer reads the one before it, and X through Q."""

    presets: ClassVar = {name: {**preset, "dense": False} for name, preset in DFNet.presets.items()}
    of_dataset: ClassVar[Any] = tuned("feedback-looped")
