"""The chains that everything is made of, written once for every back end and both array libraries.

With signals X_s (n, k), a table C (number of signals, m + 1) of coefficients, row s of degree m_s, and S = scale L~:

- :func:`horner` computes sum_s sum_j C[s, j] L~^j X_s by Horner's rule, m fused products for any number of signals.
- :func:`clenshaw` computes sum_s sum_j C[s, j] T_j(S) X_s by Clenshaw's recurrence, T_j the Chebyshev polynomials.
- :func:`adjoint` walks g_j = L~^j g, or g_j = T_j(S) g, of one signal once, m products, and gives both
  sum_j C[s, j] g_j for each row of a table, and the inner products <g_j, X_s>.

L~ is symmetric, so the adjoint is the derivative of the two others and they of it, without a transpose: see
:mod:`dfnets.engine.autograd`. Signals come as a list of stacks (count, n, k); a second stack has one signal, and
Clenshaw's recurrence takes one stack. Beside inputs and outputs, each chain holds at most two signals. Where a back end
prefers few columns at once, the columns are cut into blocks, and each goes through the whole chain by itself: what one
product leaves in a cache, the next one finds there, and threads need not meet after every product.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from dfnets.engine import threads
from dfnets.engine.backends import Backend
from dfnets.engine.operator import Operator


def polynomial(
    backend: Backend,
    operator: Operator,
    basis: str,
    scale: float,
    signals: Sequence[Any],
    table: Any,
    degrees: Sequence[int],
) -> Any:
    """:func:`horner` for the basis ``"power"`` (whose scale is 1), :func:`clenshaw` for ``"chebyshev"``."""
    _, n, k = signals[0].shape
    width = backend.columns_at_once(signals[0])
    out = backend.empty(signals[0], n, k) if width < k else None

    def chain(stacks: Sequence[Any]) -> Any:
        if basis == "power":
            return horner(backend, operator, stacks, table, degrees)
        return clenshaw(backend, operator, scale, stacks[0], table)

    if out is None:
        return chain(signals)

    def block(first: int) -> None:
        columns = slice(first, first + width)
        out[:, columns] = chain([stack[:, :, columns].copy() for stack in signals])

    threads.share(block, range(0, k, width))
    return out


def horner(backend: Backend, operator: Operator, signals: Sequence[Any], table: Any, degrees: Sequence[int]) -> Any:
    """sum_s sum_j C[s, j] L~^j X_s for a stack of signals, or for a stack and one signal more, the last of the table.

    b_m = c_m and b_j = L~ b_{j+1} + c_j, where c_j = sum_s C[s, j] X_s is never formed: the result is b_0.
    """
    y, m = signals[0], max(degrees)
    z = signals[1][0] if len(signals) == 2 else None
    count = len(y)
    weights = backend.zeros(y, m + 1, _padded(2 + count))
    weights[:, 0] = 1
    weights[:, 2 : 2 + count] = table[:count, : m + 1].T
    if z is not None:
        weights[:, 1] = table[count, : m + 1]
    leading = [s for s, degree in enumerate(degrees) if degree == m]
    free: list[Any] = []
    if len(leading) == 1 and m > 0:
        # c_m has one term: its coefficient rides on the first product, and c_m is never formed.
        x = y[leading[0]] if leading[0] < count else z
        weights[m - 1, 0] = table[leading[0], m]
    else:
        x = _other(free, y[0], backend)
        backend.combine(weights[m], y, z, x)
    if m > 0 and getattr(backend, "walk", None) is not None:
        for s, degree in enumerate(degrees):
            weights[degree + 1 :, 2 + s if s < count else 1] = 0
        return _walk(backend, operator, weights[:m], x, y, z, free, -1)
    for j in reversed(range(m)):
        out = _other(free, x, backend)
        terms = y if max(degrees[:count]) >= j else None
        backend.step(operator, weights[j], x, terms, z if z is not None and degrees[count] >= j else None, out, None)
        x = out
    return x


def clenshaw(backend: Backend, operator: Operator, scale: float, y: Any, table: Any) -> Any:
    """sum_s sum_j C[s, j] T_j(S) X_s for a stack of signals, with S = scale L~.

    b_m = c_m and b_j = 2 S b_{j+1} - b_{j+2} + c_j, c_j = sum_s C[s, j] X_s, but b_0 = S b_1 - b_2 + c_0 is the result.
    b_j takes the place of b_{j+2} in memory.
    """
    m = table.shape[1] - 1
    weights = backend.zeros(y, m + 1, _padded(2 + len(y)))
    weights[:, 0] = 2 * scale
    weights[0, 0] = scale
    weights[:, 1] = -1
    weights[:, 2 : 2 + len(y)] = table.T
    free: list[Any] = []
    formed = len(y) > 1 or m == 0
    if not formed:
        # b_m = C[0, m] X is never formed: it rides on the first product, and on the signal's own term in the second.
        x = y[0]
        weights[m - 1, 0] *= table[0, m]
        if m > 1:
            weights[m - 2, 2] -= table[0, m]
    else:
        x = _other(free, y[0], backend)
        backend.combine(weights[m], y, None, x)
    if m > 0 and getattr(backend, "walk", None) is not None:
        return _walk(backend, operator, weights[:m], x, y, None, free, 1 if formed else 2)
    before = None
    for j in reversed(range(m)):
        out = _other(free, x, backend)
        backend.step(operator, weights[j], x, y, before, out, None)
        x, before = out, x if formed or j < m - 1 else None
    return x


def _walk(
    backend: Any, operator: Operator, weights: Any, x: Any, y: Any, z: Any, free: list[Any], recurrent: int
) -> Any:
    """The result of all steps by one call, of a back end that can take several at once; ``free`` holds x or nothing."""
    formed = bool(free)
    out = _other(free, x, backend)
    spare = None if len(weights) == 1 else x if formed else backend.empty(x, *x.shape)
    backend.walk(operator, weights, x, y, z, out, spare, recurrent)
    return out if len(weights) % 2 == 1 else spare


def adjoint(
    backend: Backend,
    operator: Operator,
    basis: str,
    scale: float,
    g: Any,
    table: Any,
    signals: Sequence[Any],
    degrees: Sequence[int],
) -> tuple[Any, Any]:
    """(sum_j C[s, j] g_j as a stack (number of rows, n, k), <g_j, X_t> as (number of signals, m + 1)).

    g_j = L~^j g, or T_j(S) g with S = scale L~. ``table`` is (number of rows, m + 1); ``degrees`` are those of its
    rows, then those of the signals.
    """
    n, k = g.shape
    width = backend.columns_at_once(g)
    if width >= k:
        return _adjoint(backend, operator, basis, scale, g, table, signals, degrees)
    sums = backend.empty(g, len(table), n, k)
    products: dict[int, Any] = {}

    def block(first: int) -> None:
        columns = slice(first, first + width)
        stacks = [stack[:, :, columns].copy() for stack in signals]
        part, products[first] = _adjoint(backend, operator, basis, scale, g[:, columns].copy(), table, stacks, degrees)
        sums[:, :, columns] = part

    threads.share(block, range(0, k, width))
    return sums, sum(products[first] for first in range(0, k, width))


def _adjoint(
    backend: Backend,
    operator: Operator,
    basis: str,
    scale: float,
    g: Any,
    table: Any,
    signals: Sequence[Any],
    degrees: Sequence[int],
) -> tuple[Any, Any]:
    count, m = len(table), max(degrees)
    power = basis == "power"
    weights = backend.zeros(g, table.shape[1], _padded(2 + 2 * count))
    weights[:, 0] = 1 if power else 2 * scale
    weights[:, 1] = -1
    weights[:, 2 : 2 + count] = table.T
    if m > 0:
        # The first step starts the sums with the terms of degree 0.
        weights[1, 2 + count : 2 + 2 * count] = table[:, 0]
        weights[1, 0] = scale
    sums = backend.empty(g, count, *g.shape)
    products = backend.zeros(g, len(degrees) - count, table.shape[1])
    each = [signal for stack in signals for signal in stack]
    for t, signal in enumerate(each):
        products[t, 0] = backend.inner(g, signal)
    if m == 0:
        for s in range(count):
            backend.combine(weights[0, s:], g[None], None, sums[s])
    x, before = g, None
    free: list[Any] = []
    for j in range(1, m + 1):
        # The last one is stored only if an inner product reads it.
        out = _other(free, x, backend) if j < m or m in degrees[count:] else None
        total = sums if count and (j == 1 or max(degrees[:count]) >= j) else None
        backend.step(operator, weights[j], x, None, before, out, total, j == 1)
        for t, signal in enumerate(each):
            if degrees[count + t] >= j:
                products[t, j] = backend.inner(out, signal)
        x, before = out, None if power else x
    return sums, products


def _padded(count: int) -> int:
    """So many numbers in a row that every row of weights starts at a multiple of 16 bytes, as kernels like it."""
    return -(-count // 4) * 4


def _other(free: list[Any], x: Any, backend: Backend) -> Any:
    """A buffer of the chain's own that is not x; the first two calls allocate, the rest take turns."""
    for buffer in free:
        if buffer is not x:
            return buffer
    free.append(backend.empty(x, *x.shape))
    return free[-1]
