"""DFNetPlus, trained in mini-batches: a step reads the filtered rows of its nodes, and costs what they cost."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
import torch
from torch import Tensor

from dfnets.graph import Graph
from dfnets.models.band_choice import grams_of_rows
from dfnets.models.plus_network import EPS, PlusNetwork
from dfnets.models.row_inputs import RowInputs
from dfnets.shift import Shift


class DFNetPlusOnRows(PlusNetwork):
    """The same network with the same weights, which reads :class:`RowInputs` instead of a whole graph.

    sum_k h_k(L^) M X Theta_k at some nodes is a sum over the few entries of their rows of h_k(L^), so X is filtered
    first, for these nodes only, and multiplied by Theta after that. Nodes and entries of X are dropped in these rows,
    as they are in the full graph. What is trained here is saved, and predicts, as DFNetPlus.

    Shapes: the logits are (known, R, classes), of the nodes that train, choose and test.
    """

    # Each is a row that has to be read.
    usual_unlabelled: ClassVar = 100

    def prepare(self, graph: Graph, device: torch.device, *, shift: Shift | None = None) -> Any:
        raise NotImplementedError("a network on rows is given RowInputs; to predict for a graph, make it a DFNetPlus")

    def begin(self, inputs: Any, training_labels: Sequence[tuple[np.ndarray, np.ndarray]]) -> None:
        if not self.kind.any():
            self.kind.fill_(int(inputs.source.kind))
        inputs.scaling = self.settings.scaling
        self.settle(training_labels, lambda places: self._grams_at(inputs, places))
        active = self._active()
        inputs.rows = inputs.source.rows(inputs.nodes, [self.filters[k] for k in active], inputs.scaling)
        if self.settings.standardise:
            mean, variance = (torch.tensor(part, dtype=torch.float32) for part in inputs.rows.moments())
            self.mean[:, active] = mean.to(self.mean.device)
            self.scale[:, active] = (variance + EPS).rsqrt().to(self.scale.device)

    def _grams_at(self, inputs: RowInputs, places: np.ndarray) -> np.ndarray:
        """Of all responses, at a few labelled nodes."""
        rows = inputs.source.rows(inputs.nodes[places], self.filters, inputs.scaling)
        return grams_of_rows(torch.from_numpy(rows.at(np.arange(len(places)))).transpose(0, 1))

    def forward(self, inputs: Any) -> Tensor:
        return torch.cat([self._of(torch.from_numpy(rows)[:, None, None])[:, :, 0] for rows in inputs.known_rows()])

    def logits_at(self, inputs: Any, nodes: np.ndarray) -> Tensor:
        return self._of(torch.from_numpy(inputs.rows.at(nodes))[:, None, None])[:, :, 0]

    def _augmented(self, inputs: Any, nodes: Tensor, count: int) -> Tensor:
        parts = []
        for r, stream in enumerate(self.streams):
            seeds = torch.randint(1 << 62, (count,), generator=stream, device=nodes.device).cpu().numpy()
            rate = self.settings.node_dropout if bool(self.use_consistency[r]) else 0.0
            places = nodes[:, r].cpu().numpy()
            parts.append(torch.from_numpy(inputs.rows.dropped(places, seeds, rate, self.settings.input_dropout)))
        return self._of(torch.stack(parts, dim=1))

    def _of(self, rows: Tensor) -> Tensor:
        """(B, R or 1, S, K, f) filtered rows to (B, R, S, classes) logits."""
        weight, bias, active = self._first_layer()
        kernels = weight.unflatten(2, (active, -1)).transpose(1, 2).flatten(1, 2)
        flat = rows.to(weight.device).flatten(3).expand(-1, self.replicas, -1, -1)
        hidden = torch.einsum("brsf,rfh->brsh", flat, kernels) + bias[:, None]
        return self._classified(hidden)
