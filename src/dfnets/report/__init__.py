"""Reports: one HTML page each, with everything in it."""

from dfnets.report.page import Page

__all__ = ["Page"]
