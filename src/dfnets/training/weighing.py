"""What each member of an ensemble is worth, by validation nodes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import torch
from torch import Tensor

from dfnets.training.calibration import penalised, tempered, tempered_losses
from dfnets.training.choice import mixture_shares
from dfnets.training.objective import Nodes

# What a member's logits may be divided by: a network with a strong penalty is right long before it is sure.
TEMPERATURES = np.geomspace(0.1, 5.0, 25)
# What the first member and every other count for before any validation node has spoken, in nodes. A useless one keeps
# about that much, so with a few dozen nodes a handful of them would be heard if it were more.
FIRST, OTHERS = 3.0, 0.25
# More validation nodes than that say nothing new about a handful of numbers.
MOST_NODES = 1000


def member_weights(
    logits: Sequence[Tensor], labels: np.ndarray, nodes: Sequence[Nodes]
) -> tuple[np.ndarray, np.ndarray]:
    """(R, M) weights and (R, M) temperatures of M members, for each replica by its own validation nodes.

    A member's temperature is the one with the least cross-entropy, so that none is heard more because it is sure of
    itself. The weights are those under which the true classes are most likely; the first member counts for ``FIRST``
    nodes beforehand and the others for ``OTHERS``.

    Args:
        logits: M times (n, R, classes).
        labels: (n,) classes.
        nodes: of each replica.
    """
    prior = np.array([FIRST] + [OTHERS] * (len(logits) - 1))
    weights, temperatures = [], []
    for r, own in enumerate(nodes):
        some = own.validation[np.linspace(0, len(own.validation) - 1, min(len(own.validation), MOST_NODES)).astype(int)]
        likely, chosen = [], []
        for member in logits:
            rows = member[torch.as_tensor(some, device=member.device), r].double()
            said = torch.softmax(rows, dim=-1).cpu().numpy()
            losses = tempered_losses(said, labels[some], TEMPERATURES)
            best = float(TEMPERATURES[penalised(losses, TEMPERATURES).argmin()])
            likely.append(tempered(said, best)[np.arange(len(some)), labels[some]])
            chosen.append(best)
        weights.append(mixture_shares(np.stack(likely), prior))
        temperatures.append(chosen)
    return np.stack(weights), np.array(temperatures)
