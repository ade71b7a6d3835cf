"""The first layer of DFNetPlus as one product with filtered features: with gains, bands and scales in its weights."""

from __future__ import annotations

from torch import Tensor

from dfnets.nn import Linear, batched


def scaled_layer(
    layer: Linear, active: list[int], mask: Tensor, gain: Tensor | None, moments: tuple[Tensor, Tensor] | None
) -> tuple[Tensor, Tensor]:
    """(R, f, K, h) weights of the K responses in use, and the (R, h) bias.

    Args:
        layer: has weights for all responses.
        active: the places of those in use.
        mask: (R, responses) 1 where a replica uses a response, and 0 elsewhere.
        gain: (R, f) factors of the columns of X, if any.
        moments: (R, responses, f) means and inverse deviations of filtered columns that are to be standardised.
    """
    assert layer.bias is not None
    bias: Tensor = layer.bias
    weight = layer.weight.unflatten(2, (mask.shape[1], -1))[:, :, active]
    weight = weight * mask[:, None, active, None]
    if gain is not None:
        weight = weight * gain[:, :, None, None]
    if moments is not None:
        mean, scale = moments
        # (Z - mean) / deviation times Theta is Z (Theta / deviation), and one row for all nodes.
        weight = weight * scale[:, active].transpose(1, 2)[..., None]
        for place, k in enumerate(active):
            # One response after the other: those that only other replicas use then add zeros, and round nothing.
            bias = bias - batched.matmul(mean[None, :, k], weight[:, :, place])[0]
    return weight, bias
