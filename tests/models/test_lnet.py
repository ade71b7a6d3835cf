"""LanczosNet against dense matrices."""

from __future__ import annotations

import torch
from spectral import CPU, adjacency, logits, made, small_graph, x


def test_ritz_pairs_of_all_steps_are_the_operator() -> None:
    model, graph = made("lnet", steps=24), small_graph()
    inputs = model.prepare(graph, CPU)
    low_rank = inputs.vectors @ torch.diag(inputs.values) @ inputs.vectors.T
    torch.testing.assert_close(low_rank, adjacency(graph), atol=1e-5, rtol=1e-5)


def test_equals_the_formula() -> None:
    short, long = (0, 1, 3), (2, 5)
    model, graph = made("lnet", units=(4,), steps=6, short=short, long=long), small_graph()
    s, inputs = adjacency(graph), model.prepare(graph, CPU)
    powers = torch.stack([inputs.values**power for power in long], dim=1)
    h = x(graph)
    for kernel in model.kernels:
        torch.nn.init.normal_(kernel.second.weight)
    for layer, kernel in zip(model.layers, model.kernels, strict=True):
        first, second = kernel.first, kernel.second
        gains = powers + torch.relu(powers @ first.weight[1] + first.bias[1]) @ second.weight[1] * kernel.scale
        operators = [torch.linalg.matrix_power(s, power) for power in short]
        operators += [inputs.vectors @ torch.diag(gain) @ inputs.vectors.T for gain in gains.T]
        weights = layer.weight[1].split(layer.out_channels, dim=1)
        h = torch.relu(h) if layer is not model.layers[0] else h
        h = sum(m @ h @ weight for m, weight in zip(operators, weights, strict=True)) + layer.bias[1]
    torch.testing.assert_close(logits(model)[:, 1], h.detach(), atol=1e-5, rtol=1e-4)
