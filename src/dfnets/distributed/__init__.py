"""The same filters on many processes, over ``torch.distributed`` (gloo on CPUs), started by ``torchrun``.

There are two ways. Where the graph fits into each process, the *columns* of the signals are shared out and nothing is
sent while filtering (:func:`apply_columns`). Where it does not, the *rows* of the graph are: each process holds the
nodes of one part and, at every product, gets the values of the nodes that border on it (:class:`RowBlockShift`), so
that ``filter.apply`` and the engine run on it as they do on any other shift.
"""

from __future__ import annotations

from dfnets.distributed.columns import apply_columns
from dfnets.distributed.folder import PartitionFolder, write_partition
from dfnets.distributed.partitioning import partition
from dfnets.distributed.row_blocks import RowBlockShift

__all__ = ["PartitionFolder", "RowBlockShift", "apply_columns", "partition", "write_partition"]
