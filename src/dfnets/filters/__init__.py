"""Filters: functions of the shift. Needs NumPy and SciPy; the products are the engine's."""

from dfnets.filters.arma import ArmaFilter
from dfnets.filters.base import Filter
from dfnets.filters.cayley import CayleyFilter
from dfnets.filters.certificate import Certificate, Errors
from dfnets.filters.chebyshev import ChebyshevFilter
from dfnets.filters.designing import design
from dfnets.filters.feedback import FeedbackLoopedFilter
from dfnets.filters.lanczos import LanczosFilter
from dfnets.filters.plan import Applied, Cost

load = Filter.load

__all__ = [
    "Applied",
    "ArmaFilter",
    "CayleyFilter",
    "Certificate",
    "ChebyshevFilter",
    "Cost",
    "Errors",
    "FeedbackLoopedFilter",
    "Filter",
    "LanczosFilter",
    "design",
    "load",
]
