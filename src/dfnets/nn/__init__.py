"""Layers: feedback-looped convolution, dense blocks, attention. Each runs R independent replicas at once."""

from dfnets.nn.attention import Neighbours, SelfAttention
from dfnets.nn.constraints import unit_norm_
from dfnets.nn.conv import FeedbackLoopedConv
from dfnets.nn.dense import DenseBlock, Readout
from dfnets.nn.dropout import Dropout
from dfnets.nn.features import Features
from dfnets.nn.linear import Linear
from dfnets.nn.norm import FoldedBatchNorm, Moments

__all__ = [
    "DenseBlock",
    "Dropout",
    "Features",
    "FeedbackLoopedConv",
    "FoldedBatchNorm",
    "Linear",
    "Moments",
    "Neighbours",
    "Readout",
    "SelfAttention",
    "unit_norm_",
]
