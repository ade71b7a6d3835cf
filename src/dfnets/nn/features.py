"""X: the features that a network is given and never changes."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch
from torch import Tensor

from dfnets.nn import batched
from dfnets.nn.sparse import SparseMatrix


class Features:
    """X, (n, f), constant and the same for every replica. A sparse X is never made dense.

    Args:
        matrix: NumPy array or SciPy sparse matrix.
        device, dtype: where and in what precision to multiply.

    >>> Features(sp.eye_array(3)).times(torch.ones(2, 3, 4)).shape
    torch.Size([3, 2, 4])
    """

    def __init__(
        self,
        matrix: Any,
        *,
        device: torch.device | str = "cpu",
        dtype: torch.dtype = torch.float32,
    ) -> None:
        self.source: Any = sp.csr_array(matrix) if sp.issparse(matrix) else matrix
        self.shape: tuple[int, int] = self.source.shape
        self.device, self.dtype = torch.device(device), dtype
        self._sparse: tuple[SparseMatrix, SparseMatrix] | None = None
        if sp.issparse(matrix):
            # The gradient of the weight is X' G: a product by rows needs the transpose in CSR form, made once.
            transposed = sp.csr_array(self.source.T.tocsr())
            self._sparse = (
                SparseMatrix(self.source, self.device, dtype),
                SparseMatrix(transposed, self.device, dtype),
            )
        else:
            self._dense = torch.as_tensor(matrix, device=self.device, dtype=dtype)

    def times(self, weight: Tensor) -> Tensor:
        """X W, without gradient: (R, f, k) gives (n, R, k)."""
        count, f, k = weight.shape
        if f != self.shape[1]:
            raise ValueError(f"the weight has {f} rows, but there are {self.shape[1]} features; they must agree")
        if self._sparse is None:
            return batched.products(self._dense.expand(count, -1, -1), weight)
        out = weight.new_empty(self.shape[0], count, k)
        self._sparse[0].multiply(weight.transpose(0, 1).reshape(f, count * k), out.flatten(1))
        return out

    def transposed_times(self, x: Tensor, out: Tensor) -> None:
        """X' x into ``out``: (n, R, k) gives (f, R, k), contiguous."""
        if self._sparse is None:
            batched.products(self._dense.T.expand(x.shape[1], -1, -1), x.transpose(0, 1), out=out)
        else:
            self._sparse[1].multiply(x.flatten(1), out.flatten(1))

    @cached_property
    def moments(self) -> tuple[Tensor, Tensor]:
        """(f,) means and (f,) biased variances of the columns; zeros that are not stored count."""
        n = self.shape[0]
        mean = np.asarray(self.source.mean(axis=0, dtype=np.float64)).ravel()
        if self._sparse is None:
            variance = self.source.var(axis=0, dtype=np.float64)
        else:
            columns = self.source.tocsc()
            stored = np.diff(columns.indptr)
            gaps = (columns.data - np.repeat(mean, stored)) ** 2
            upto = np.concatenate([[0.0], np.cumsum(gaps)])
            variance = (np.diff(upto[columns.indptr]) + (n - stored) * mean**2) / n
        return self._tensor(mean), self._tensor(variance)

    def _tensor(self, values: np.ndarray) -> Tensor:
        return torch.as_tensor(values, device=self.device, dtype=self.dtype)

    def __repr__(self) -> str:
        kind = "dense" if self._sparse is None else "sparse"
        return f"Features(nodes={self.shape[0]}, features={self.shape[1]}, {kind})"
