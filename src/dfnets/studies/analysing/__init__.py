"""Analysing: runs become estimates, paired comparisons, and verdicts on the paper's claims."""

from dfnets.studies.analysing.results import Results

__all__ = ["Results"]
