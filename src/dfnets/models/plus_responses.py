"""The responses of DFNetPlus, and the bands of frequencies that they make up."""

from __future__ import annotations

from dfnets.filters import FeedbackLoopedFilter
from dfnets.models.plus_config import DFNetPlusConfig
from dfnets.nn.filter_bank import restart_filter


def responses(config: DFNetPlusConfig) -> tuple[list[FeedbackLoopedFilter], dict[str, range]]:
    """The filters that may be used, and by the name of each band the places of its own among them.

    >>> responses(DFNetPlusConfig())[1]
    {'low': range(0, 2), 'all': range(2, 3), 'high': range(2, 4)}
    >>> responses(DFNetPlusConfig(band="high"))[1]
    {'high': range(0, 2)}
    """
    low, high = [restart_filter(a) for a in config.low], [restart_filter(a, high=True) for a in config.high]
    everything = [*low, restart_filter(1.0), *high]
    k, count = len(low), len(everything)
    bands = {"low": range(k), "all": range(k, k + 1), "high": range(k, count)}
    if config.band is None:
        return everything, bands
    own = [everything[place] for place in bands[config.band]]
    return own, {config.band: range(len(own))}
