"""The two chains that everything is made of, written once for every back end and both array libraries.

With signals X_s (n, k) and a table C (number of signals, m + 1) of coefficients, row s of degree m_s:

- :func:`horner` computes sum_s sum_j C[s, j] L~^j X_s by Horner's rule: m fused products for one signal or for two.
- :func:`adjoint` walks the powers g_j = L~^j g of one signal once, m products, and gives both sum_j C[s, j] g_j for
  each row of a table, and the inner products <g_j, X_s>.

L~ is symmetric, so these two are each other's derivatives, without a transpose: see :mod:`dfnets.engine.autograd`.
Beside inputs and outputs, each holds at most two signals.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dfnets.engine.backends import Backend
from dfnets.engine.operator import Operator


def horner(backend: Backend, operator: Operator, signals: Sequence[Any], table: Any, degrees: Sequence[int]) -> Any:
    """sum_s sum_j C[s, j] L~^j X_s for one or two signals (n, k); ``table`` is (len(signals), >= m + 1)."""
    m = max(degrees)
    leading = [s for s, degree in enumerate(degrees) if degree == m]
    weights = backend.zeros(signals[0], m + 1, 5)
    weights[:, 0] = 1
    for s in range(len(signals)):
        weights[:, 1 + s] = table[s, : m + 1]
    free: list[Any] = []
    if len(leading) == 1 and m > 0:
        # c_m has one term: its coefficient rides on the first product, and c_m is never formed.
        x = signals[leading[0]]
        weights[m - 1, 0] = table[leading[0], m]
    else:
        x = backend.empty_like(signals[0])
        y = signals[1] if len(leading) == 2 else None
        backend.combine(weights[m, 1 + leading[0]], signals[leading[0]], weights[m, 2], y, x)
        free.append(x)
    for j in reversed(range(m)):
        terms = [signal if degree >= j else None for signal, degree in zip(signals, degrees, strict=True)]
        out = _other(free, x, backend)
        backend.step(operator, weights[j], x, terms[0], terms[1] if len(terms) == 2 else None, out, None, None)
        x = out
    return x


def adjoint(
    backend: Backend, operator: Operator, g: Any, table: Any, signals: Sequence[Any], degrees: Sequence[int]
) -> tuple[list[Any], Any]:
    """([sum_j C[s, j] L~^j g for each row s], <L~^j g, X_t> as (number of signals, m + 1)), for up to two of each.

    ``table`` is (number of rows, m + 1); ``degrees`` are those of its rows, then those of the signals.
    """
    count, m = len(table), max(degrees)
    weights = backend.zeros(g, table.shape[1], 5)
    weights[:, 0] = 1
    sums = [backend.empty_like(g) for _ in range(count)]
    for s, total in enumerate(sums):
        weights[:, 3 + s] = table[s]
        backend.combine(weights[0, 3 + s], g, None, None, total)
    products = backend.zeros(g, len(signals), table.shape[1])
    for t, signal in enumerate(signals):
        products[t, 0] = backend.inner(g, signal)
    x = g
    free: list[Any] = []
    for j in range(1, m + 1):
        into = [total if degree >= j else None for total, degree in zip(sums, degrees, strict=False)] + [None, None]
        # The last power is stored only if an inner product reads it.
        kept = j < m or m in degrees[count:]
        out = _other(free, x, backend) if kept else None
        backend.step(operator, weights[j], x, None, None, out, into[0], into[1])
        for t, signal in enumerate(signals):
            if degrees[count + t] >= j:
                products[t, j] = backend.inner(out, signal)
        x = out
    return sums, products


def _other(free: list[Any], x: Any, backend: Backend) -> Any:
    """A buffer of the chain's own that is not x; the first two calls allocate, the rest take turns."""
    for buffer in free:
        if buffer is not x:
            return buffer
    free.append(backend.empty_like(x))
    return free[-1]
