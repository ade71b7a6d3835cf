"""Small tensors on a device that the host must know, without waiting for them in every step."""

from __future__ import annotations

from torch import Tensor


class ReadOnce:
    """The numbers of the columns of a tensor in which some entry is not zero, read again only when it has changed.

    >>> import torch
    >>> ReadOnce()(torch.tensor([[1, 0, 0], [1, 0, 1]])), ReadOnce()(torch.tensor([False, True]))
    ([0, 2], [1])
    """

    def __init__(self) -> None:
        self._seen: tuple[int, int] | None = None
        self._columns: list[int] = []

    def __call__(self, tensor: Tensor) -> list[int]:
        """The numbers, of a vector those of its entries."""
        seen = (tensor.data_ptr(), tensor._version)
        if self._seen != seen:
            self._seen, self._columns = seen, tensor.nonzero()[:, -1].unique().tolist()
        return self._columns
