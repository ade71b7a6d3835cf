"""Training: several seeds as one wide problem, selection rules, checkpoints, model folders."""

from dfnets.training.fitting import Result, fit
from dfnets.training.history import History
from dfnets.training.loop import DivergedError
from dfnets.training.mini_batch import MiniBatch
from dfnets.training.own_graph import CrossValidated, train
from dfnets.training.predictions import Predictions
from dfnets.training.selection import RULES, Accuracy
from dfnets.training.trained import TrainedModel

load = TrainedModel.load

__all__ = [
    "RULES",
    "Accuracy",
    "CrossValidated",
    "DivergedError",
    "History",
    "MiniBatch",
    "Predictions",
    "Result",
    "TrainedModel",
    "fit",
    "load",
    "train",
]
