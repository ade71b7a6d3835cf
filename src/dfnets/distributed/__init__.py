"""The same filters and networks on many processes, over ``torch.distributed`` (gloo on CPUs), started by ``torchrun``.

There are two ways. Where the graph fits into each process, the *columns* of the signals are shared out
(:func:`apply_columns`), or the networks that are trained (:func:`fit_replicas`), and nothing is sent meanwhile. Where
it does not, the *rows* of the graph are: each process holds the nodes of one part and, at every product, gets the
values of the nodes that border on it (:class:`RowBlockShift`), so that ``filter.apply``, the engine and the layers run
on it as they do on any other shift; :func:`fit_row_blocks` trains there.
"""

from __future__ import annotations

from dfnets.distributed.columns import apply_columns
from dfnets.distributed.fitting import RowBlockResult, fit_row_blocks
from dfnets.distributed.folder import PartitionFolder, write_partition
from dfnets.distributed.group import NotDistributedError, processes
from dfnets.distributed.partitioning import partition
from dfnets.distributed.replicas import fit_replicas, train_folds
from dfnets.distributed.row_blocks import RowBlockShift

__all__ = [
    "NotDistributedError",
    "PartitionFolder",
    "RowBlockResult",
    "RowBlockShift",
    "apply_columns",
    "fit_replicas",
    "fit_row_blocks",
    "partition",
    "processes",
    "train_folds",
    "write_partition",
]
