"""The fused step for CPUs: a row's sums live in vector registers from the first neighbour to the last store.

A compiler that sees ``for c in range(k): total[c] += a * x[j, c]`` sends the sums through memory at every neighbour.
Here a block of columns is one LLVM vector value, which the code generator keeps in registers. Vector type, instructions
and kernels share one file because Numba's disk cache watches only the file of the kernel: in another file, a changed
instruction would leave a stale kernel behind.
"""

# Numba gives meaning to these functions: their arguments are its own, and it infers the types when they are called.
# ruff: noqa: ARG001
# mypy: disable-error-code="no-untyped-def, attr-defined, call-arg, var-annotated"

from __future__ import annotations

from typing import Any

import numpy as np
from llvmlite import ir
from numba import prange, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from dfnets.compiled import njit

# Columns of one block, in bytes: 4 of 32 registers of AVX-512, 8 of 16 of AVX2, so that sums never spill.
BLOCK = 256
# How many neighbours early a block of x is asked for. Only whole blocks are: they gain up to 10% by it, 16 columns lose
# 8 to 45%, and in between nothing shows above a noise of 8%.
AHEAD = 16
# Entries in a piece of a parallel loop at least, and pieces at most: even loads, and no cost on small graphs.
PIECE, PIECES = 4096, 256
# NaN and infinity must stay what they are, and sums in their order: the only licence is a * b + c with one rounding.
CONTRACT = ("contract",)


class Vector(types.Type):
    """``lanes`` neighbouring columns of a row; where masked, only the first ``count`` of them are touched in memory."""

    def __init__(self, dtype: types.Type, lanes: int, masked: bool) -> None:
        self.dtype, self.lanes, self.masked = dtype, lanes, masked
        self.itemsize = dtype.bitwidth // 8
        super().__init__(name=f"Vector({dtype}, {lanes}, {masked})")


@register_model(Vector)
class VectorModel(models.PrimitiveModel):
    def __init__(self, manager: Any, vector: Vector) -> None:
        scalar = ir.FloatType() if vector.dtype == types.float32 else ir.DoubleType()
        super().__init__(manager, vector, ir.VectorType(scalar, vector.lanes))


@intrinsic(prefer_literal=True)
def zeros(typing, array, size, masked):
    """A vector of zeros of the array's dtype, ``size`` bytes long and of one lane at least."""
    lanes = max(1, size.literal_value * 8 // array.dtype.bitwidth)
    vector = Vector(array.dtype, lanes, masked.literal_value)

    def generate(context, builder, signature, arguments):
        return ir.Constant(context.get_value_type(vector), None)

    return vector(array, size, masked), generate


@intrinsic
def pointer(typing, array):
    """Where the array's data begin; null for an array of size 0.

    Kernels pass pointers, not arrays: an array is counted by whoever holds it, and threads that count the same array
    at every row wait for each other.
    """
    address = types.CPointer(array.dtype)

    def generate(context, builder, signature, arguments):
        view = context.make_array(array)(context, builder, arguments[0])
        empty = builder.icmp_signed("==", view.nitems, ir.Constant(view.nitems.type, 0))
        return builder.select(empty, ir.Constant(view.data.type, None), view.data)

    return address(array), generate


@intrinsic
def given(typing, address):
    """Whether a pointer is not null."""

    def generate(context, builder, signature, arguments):
        return cgutils.is_not_null(builder, arguments[0])

    return types.boolean(address), generate


@intrinsic
def fma(typing, total, factor, vector):
    """total + factor * vector."""

    def generate(context, builder, signature, arguments):
        addend, scalar, value = arguments
        product = builder.fmul(_splat(builder, scalar, total.lanes), value, flags=CONTRACT)
        return builder.fadd(product, addend, flags=CONTRACT)

    return total(total, total.dtype, total), generate


@intrinsic
def load(typing, like, data, offset, count):
    """data[offset : offset + lanes] as a vector."""

    def generate(context, builder, signature, arguments):
        _, start, at, active = arguments
        vector = context.get_value_type(like)
        place = _place(builder, start, at, vector)
        if not like.masked:
            return builder.load(place, align=like.itemsize)
        operands = [place, _i32(like.itemsize), _mask(builder, active, like.lanes), ir.Constant(vector, None)]
        return _call(builder, "llvm.masked.load", like, vector, operands)

    return like(like, data, types.int64, types.int64), generate


@intrinsic
def store(typing, vector, data, offset, count):
    """data[offset : offset + lanes] = vector."""

    def generate(context, builder, signature, arguments):
        value, start, at, active = arguments
        place = _place(builder, start, at, value.type)
        if vector.masked:
            operands = [value, place, _i32(vector.itemsize), _mask(builder, active, vector.lanes)]
            _call(builder, "llvm.masked.store", vector, ir.VoidType(), operands)
        else:
            builder.store(value, place, align=vector.itemsize)
        return context.get_dummy_value()

    return types.none(vector, data, types.int64, types.int64), generate


@intrinsic
def prefetch(typing, like, data, offset):
    """Ask for data[offset : offset + lanes], line by line, if that is a whole block; harmless wherever it points."""
    size = like.lanes * like.itemsize

    def generate(context, builder, signature, arguments):
        _, first, at = arguments
        byte = ir.IntType(8)
        declaration = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), *[ir.IntType(32)] * 3])
        function = cgutils.get_or_insert_function(builder.module, declaration, "llvm.prefetch.p0i8")
        for column in range(0, like.lanes if size == BLOCK else 0, 64 // like.itemsize):
            place = _place(builder, first, builder.add(at, ir.Constant(at.type, column)), byte)
            builder.call(function, [place, _i32(0), _i32(3), _i32(1)])  # to read, into every cache, as data
        return context.get_dummy_value()

    return types.none(like, data, types.int64), generate


def _place(builder, data, offset, target):
    return builder.bitcast(builder.gep(data, [offset]), target.as_pointer())


def _splat(builder, scalar, lanes):
    vector = ir.Constant(ir.VectorType(scalar.type, lanes), ir.Undefined)
    vector = builder.insert_element(vector, scalar, _i32(0))
    return builder.shuffle_vector(vector, vector, ir.Constant(ir.VectorType(ir.IntType(32), lanes), None))


def _mask(builder, active, lanes):
    """Lanes 0 .. active - 1. It never changes within a call, so the compiler computes it once."""
    number = ir.IntType(32)
    lane = ir.Constant(ir.VectorType(number, lanes), list(range(lanes)))
    return builder.icmp_signed("<", lane, _splat(builder, builder.trunc(active, number), lanes))


def _call(builder, name, vector, result, operands):
    suffix = f"v{vector.lanes}f{vector.dtype.bitwidth}"
    declaration = ir.FunctionType(result, [operand.type for operand in operands])
    function = cgutils.get_or_insert_function(builder.module, declaration, f"{name}.{suffix}.p0{suffix}")
    return builder.call(function, operands)


def _i32(value):
    return ir.Constant(ir.IntType(32), value)


@njit
def row_block(zero, column, i, k, graph, weights, signals):
    """Row i, one block of columns of :func:`step`; the vector ``zero`` says how wide the block is."""
    indptr, indices, values, diagonal, centre, last = graph
    x, y, z, out, u, v = signals
    count = k - column
    total = zero
    for entry in range(indptr[i], indptr[i + 1]):
        prefetch(zero, x, np.int64(indices[min(entry + AHEAD, last)]) * k + column)
        total = fma(total, values[entry], load(zero, x, np.int64(indices[entry]) * k + column, count))
    at = i * k + column
    total = fma(zero, weights[0], fma(total, diagonal[i] - centre, load(zero, x, at, count)))
    if given(y):
        total = fma(total, weights[1], load(zero, y, at, count))
    if given(z):
        total = fma(total, weights[2], load(zero, z, at, count))
    if given(out):
        store(total, out, at, count)
    if given(u):
        store(fma(load(zero, u, at, count), weights[3], total), u, at, count)
    if given(v):
        store(fma(load(zero, v, at, count), weights[4], total), v, at, count)


@njit
def rows(block, width, tail, first, stop, k, graph, weights, signals):
    """Rows first .. stop - 1: blocks of ``width`` columns, then what is left as one tail.

    Blocks are the inner loop, so that a neighbour's page is looked up once, not once a block: 1.2 to 1.6 times faster
    at 128 columns and more.
    """
    whole = k // width * width
    for i in range(first, stop):
        for column in range(0, whole, width):
            row_block(block, column, i, k, graph, weights, signals)
        if whole < k:
            row_block(tail, whole, i, k, graph, weights, signals)


@njit
def first_row(indptr, work):
    """The first row before which at least ``work`` stands, by bisection; a row counts as 4 entries."""
    low, high = 0, indptr.size - 1
    while low < high:
        middle = (low + high) // 2
        if indptr[middle] + 4 * middle < work:
            low = middle + 1
        else:
            high = middle
    return low


def _step(size: int, masked: bool) -> Any:
    """The kernel whose tail is ``size`` bytes wide, masked or filled exactly."""

    @njit(parallel=True, cache=True)
    def step(indptr, indices, values, diagonal, centre, weights, x, y, z, out, u, v):
        """total = w0 (A + diag(d - centre)) x + w1 y + w2 z; out = total; u += w3 total; v += w4 total.

        A (n, n) is ``values`` in CSR form, d (n,) the ``diagonal``. Signals are (n, k), C-contiguous, of one dtype;
        those of size 0 are absent. A row is summed by one thread in the order of its entries, so the bits of the result
        do not depend on the number of threads; the pieces hold equal work, so hubs do not unbalance them.
        """
        graph = (pointer(indptr), pointer(indices), pointer(values), pointer(diagonal), centre, indices.size - 1)
        signals = (pointer(x), pointer(y), pointer(z), pointer(out), pointer(u), pointer(v))
        factors = pointer(weights)
        n, k = x.shape
        work = np.int64(indptr[n]) + 4 * n
        pieces = min(work // PIECE + 1, PIECES)
        for piece in prange(pieces):
            first, stop = first_row(indptr, work * piece // pieces), first_row(indptr, work * (piece + 1) // pieces)
            block, tail = zeros(x, BLOCK, False), zeros(x, size, masked)
            rows(block, BLOCK // x.itemsize, tail, first, stop, k, graph, factors, signals)

    return step


# One kernel a tail, compiled when a signal of such a width first comes. An exact tail is up to 1.4 times faster than a
# masked one at 16 columns, and a single column 1.5 to 1.8 times faster as a number than as a vector.
_TAILS = [(1, False), (64, False), (128, False), (64, True), (128, True), (256, True)]
_STEPS = {tail: _step(*tail) for tail in _TAILS}


def step_for(k: int, itemsize: int) -> Any:
    """The kernel for signals of k columns."""
    left = k * itemsize % BLOCK
    if k == 1:
        return _STEPS[1, False]
    if left in (64, 128):
        return _STEPS[left, False]
    return _STEPS[256 if left > 128 else 128 if left > 64 else 64, left > 0]


@njit(parallel=True, cache=True)
def combine(a, x, b, y, out):
    """out = a x + b y, flat arrays of one length."""
    for i in prange(x.size):
        out[i] = a * x[i] + b * y[i]


# Reassociation lets the compiler sum in vector lanes. It decides that once, when it compiles, and leaves NaN alone.
@njit(fastmath={"reassoc", "contract"})
def inner_piece(x, y):
    total = 0.0
    for i in range(x.size):
        total += np.float64(x[i]) * np.float64(y[i])
    return total


@njit(parallel=True, cache=True)
def inner(x, y):
    """Sums of x * y in double precision, a piece each. Pieces do not depend on the number of threads.

    They are not added up here: a sum over an array is another parallel loop in such a function, in an order of its own.
    """
    pieces = min(x.size // PIECE + 1, PIECES)
    sums = np.empty(pieces)
    for piece in prange(pieces):
        first, stop = x.size * piece // pieces, x.size * (piece + 1) // pieces
        sums[piece] = inner_piece(x[first:stop], y[first:stop])
    return sums
