"""The spectral convolutional layer of the paper (eq. 10)."""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor, nn

from dfnets import engine
from dfnets.filters import FeedbackLoopedFilter
from dfnets.nn import batched
from dfnets.nn.batched import Generators
from dfnets.nn.constraints import unit_norm_
from dfnets.nn.features import Features
from dfnets.nn.product import multiply
from dfnets.nn.shifts import Edges, shift_for
from dfnets.shift import Shift


class FeedbackLoopedConv(nn.Module):
    """One step of the feedback loop, with trained weights (Wijesinghe and Wang, "DFNets", 2019)::

        H' = sigma(P H theta1 + Q X theta2 + b)
        P = -sum_{j=1..p} psi_j L~^j
        Q = sum_{j=0..q} phi_j L~^j

    The narrow products Y = H theta1 and Z = X theta2 come first; then P Y + Q Z is one Horner chain of max(p, q)
    products with L~, and neither P nor Q is ever formed.

    Args:
        in_channels: columns of H.
        initial_channels: columns of X, the network's input.
        out_channels: columns of the result, ``heads`` times the width of a head.
        filter: gives psi, phi and the centre of L~.
        activation: sigma; None leaves it out.
        bias: whether to add b.
        learnable: train psi and phi too, starting from the filter's.
        gamma: the bound on |P| over the filter's interval that :meth:`project_` restores when psi is learnable.
        unit_norm: whether :meth:`project_` puts the columns of theta1 and theta2, and b as a whole, on the unit sphere.
        heads: that many layers side by side: each is initialised, and its bias constrained, as a layer of its own.
        replicas: R independent copies; parameters carry R as their first dimension.

    Shapes:
        - x: (n, in_channels) or (n, R, in_channels); x_0: (n, initial_channels) dense, or :class:`Features`.
        - output: (n, out_channels) or (n, R, out_channels), as x.

    >>> from dfnets import Graph, design, responses
    >>> conv = FeedbackLoopedConv(4, 3, 2, design(responses.low_pass(0.5)))
    >>> edges = torch.tensor([[0, 1, 1, 2], [1, 0, 2, 1]])
    >>> conv(torch.ones(3, 4), torch.ones(3, 3), edges).shape
    torch.Size([3, 2])
    """

    bias: nn.Parameter | None

    def __init__(
        self,
        in_channels: int,
        initial_channels: int,
        out_channels: int,
        filter: FeedbackLoopedFilter,
        *,
        activation: Callable[[Tensor], Tensor] | None = torch.relu,
        bias: bool = True,
        learnable: bool = False,
        gamma: float = 0.9,
        unit_norm: bool = False,
        heads: int = 1,
        replicas: int = 1,
    ) -> None:
        super().__init__()
        if out_channels % heads:
            raise ValueError(f"out_channels={out_channels} must be a multiple of heads={heads}")
        if not 0 < gamma < 1:
            raise ValueError(f"gamma={gamma:g} must lie between 0 and 1")
        self.in_channels, self.initial_channels, self.out_channels = in_channels, initial_channels, out_channels
        self.filter = filter
        self.activation = activation
        self.learnable, self.gamma = learnable, gamma
        self.unit_norm = unit_norm
        self.heads, self.replicas = heads, replicas
        self.theta1 = nn.Parameter(batched.empty_weight(replicas, in_channels, out_channels))
        self.theta2 = nn.Parameter(batched.empty_weight(replicas, initial_channels, out_channels))
        self.bias = nn.Parameter(torch.empty(replicas, out_channels)) if bias else None
        if learnable:
            self.psi = nn.Parameter(torch.empty(replicas, filter.p))
            self.phi = nn.Parameter(torch.empty(replicas, filter.q + 1))
        self.reset_parameters()

    def reset_parameters(self, streams: Generators | None = None) -> None:
        """Xavier normal kernels, each replica's from its own stream; a bias of zeros; psi and phi as designed."""
        streams = [None] * self.replicas if streams is None else streams
        width = self.out_channels // self.heads
        batched.xavier_normal_(self.theta1, self.in_channels, width, streams)
        batched.xavier_normal_(self.theta2, self.initial_channels, width, streams)
        if self.bias is not None:
            nn.init.zeros_(self.bias)
        if self.learnable:
            with torch.no_grad():
                self.psi.copy_(torch.tensor(self.filter.psi).expand_as(self.psi))
                self.phi.copy_(torch.tensor(self.filter.phi).expand_as(self.phi))

    def forward(
        self, x: Tensor, x_0: Tensor | Features, edge_index: Edges, edge_weight: Tensor | None = None
    ) -> Tensor:
        """sigma(P x theta1 + Q x_0 theta2 + b).

        Args:
            edge_index: as in PyG, or a Graph, or a Shift (made once, it saves the checks of every call).
        """
        shift = shift_for(self.filter, edge_index, edge_weight, num_nodes=x.shape[0])
        initial = x_0 if isinstance(x_0, Features) else self._spread(x_0)
        out = self.propagate(multiply([self._spread(x)], self.theta1), multiply([initial], self.theta2), shift)
        return out if x.ndim == 3 else out[:, 0]

    def propagate(self, y: Tensor, z: Tensor, shift: Shift) -> Tensor:
        """sigma(P y + Q z + b) for products with theta that are made already: (n, R, out_channels) each.

        Args:
            shift: centred as the filter is.
        """
        out = self._filtered(y, z, shift)
        if self.bias is not None:
            out = batched.add_row_(out, self.bias)
        out = out.view_as(y)
        return out if self.activation is None else self.activation(out)

    def kernels(self) -> list[nn.Parameter]:
        """What mu(theta1; theta2) regularises: a penalty l2 norm(theta)^2 is Adam's ``weight_decay=2 * l2``."""
        return [self.theta1, self.theta2]

    @torch.no_grad()
    def project_(self) -> None:
        """After an optimiser's step: the unit-norm constraint, and |P| <= gamma where psi is learnt."""
        if self.unit_norm:
            unit_norm_(self.theta1)
            unit_norm_(self.theta2)
            if self.bias is not None:
                unit_norm_(self.bias.view(self.replicas * self.heads, -1))
        if self.learnable:
            for psi in self.psi:
                now = FeedbackLoopedFilter(psi.cpu().double().numpy(), [0.0], self.filter.centre, self.filter.interval)
                contraction = now.ranges(now.interval).contraction
                if contraction > self.gamma:
                    psi *= self.gamma / contraction

    def _filtered(self, y: Tensor, z: Tensor, shift: Shift) -> Tensor:
        """P y + Q z, (n, R out_channels)."""
        if not self.learnable:
            return engine.horner(shift, z.flatten(1), y.flatten(1), self.filter.phi, self.filter.psi)
        # Every replica has coefficients of its own, so it needs a chain of its own.
        chains = [
            engine.horner(shift, z[:, r].contiguous(), y[:, r].contiguous(), self.phi[r], self.psi[r])
            for r in range(self.replicas)
        ]
        return torch.cat(chains, dim=1)

    def _spread(self, x: Tensor) -> Tensor:
        """(n, c) or (n, R, c) as (n, R, c)."""
        return x if x.ndim == 3 else x[:, None].expand(-1, self.replicas, -1)

    def extra_repr(self) -> str:
        """Its sizes, for ``print``."""
        words = [f"{self.in_channels}, {self.initial_channels}, {self.out_channels}, {self.filter!r}"]
        words += ["learnable"] * self.learnable
        words += [f"heads={self.heads}"] * (self.heads > 1) + [f"replicas={self.replicas}"] * (self.replicas > 1)
        return ", ".join(words)
