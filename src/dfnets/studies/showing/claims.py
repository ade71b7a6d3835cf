"""Which of the paper's claims hold."""

from __future__ import annotations

from dfnets.studies.analysing.claims import findings
from dfnets.studies.analysing.filter_claims import CLEAR, LINEAR
from dfnets.studies.analysing.results import Results
from dfnets.studies.analysing.verdicts import HOLDS, NARROW, NOT_REPRODUCED, REFUTED, UNDECIDED
from dfnets.studies.planning.budget import FAIR_TRIALS
from dfnets.studies.showing.document import Part, Table

NOTE = (
    "Accuracies by the rule validation. A difference counts when its 95 % interval over seeds (or draws), the one over "
    "test nodes and seeds, and its p-value, corrected by Holm over the comparisons of the claim, all say so. "
    f"'{HOLDS}': every difference is above zero. '{REFUTED}': one is below zero, and no tuning could change it. "
    f"'{NOT_REPRODUCED.format(trials='N')}': one is below zero although every model had at least {FAIR_TRIALS} trials "
    f"on validation nodes. '{UNDECIDED}': anything else, a search that was not fair included. A figure is reached when "
    f"the mean is as high, or its interval is and reaches no further than {NARROW:g} point from the mean. Linear: an "
    f"exponent between {LINEAR[0]} and {LINEAR[1]}, known to ±{CLEAR:g}."
)


def show(results: Results) -> list[Part]:
    """One row per claim, with its verdict and what was measured."""
    rows = [[claim.name, claim.text, found.verdict, found.measurement] for claim, found in findings(results)]
    return [Table("claims", "Which claims hold", ["claim", "the paper says", "verdict", "measured here"], rows, NOTE)]
