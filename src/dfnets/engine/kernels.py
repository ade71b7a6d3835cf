"""The fused step for CPUs: a row's sums live in vector registers from the first neighbour to the last store.

A compiler that sees ``for c in range(k): total[c] += a * x[j, c]`` sends the sums through memory at every neighbour.
Here a block of columns is one LLVM vector value, which the code generator keeps in registers.

Long because vector type, instructions and kernels share one file: Numba's disk cache watches only the file of the
kernel, and in another file a changed instruction would leave a stale kernel behind.
"""

# Numba gives meaning to these functions: their arguments are its own, and it infers the types when they are called.
# ruff: noqa: ARG001
# mypy: disable-error-code="no-untyped-def, attr-defined, call-arg, var-annotated"

from __future__ import annotations

import ctypes
import sys
from typing import Any

import numpy as np
from llvmlite import binding, ir
from numba import config, types
from numba.core import cgutils
from numba.extending import intrinsic, models, register_model

from dfnets.compiled import njit
from dfnets.engine.schedules import WINDOW


def _wide_registers() -> bool:
    """Whether the code is generated for 32 registers of 64 bytes (AVX-512), on this CPU or on one named to Numba."""
    features = config.CPU_FEATURES
    if features is None:
        host = config.CPU_NAME in (None, "host", binding.get_host_cpu_name())
        features = binding.get_host_cpu_features().flatten() if host else ""
    return "+avx512f" in features


# Columns of one block, in bytes. A row has four sums of this size, and they must not spill: 16 of the 32 registers of
# AVX-512, or 8 of the 16 of AVX2. A column is summed alike whatever the block, so the bits do not depend on it.
BLOCK, INSTRUCTIONS = (256, "AVX-512") if _wide_registers() else (64, "AVX2 or less")
# How many neighbours early a block of x is asked for. Only blocks of 256 bytes are: they gain up to 10% by it, 16
# columns lose 8 to 45%, and in between nothing shows above a noise of 8%.
AHEAD = 16
# Entries of a mean row from which the end of a row is summed without branches.
SHORT = 6
# The name under which the compiled code finds the system's function for it.
GIVE_WAY = "dfnets_give_way"
# NaN and infinity must stay what they are, and sums in their order: the only licence is a * b + c with one rounding.
CONTRACT = ("contract",)


def _let_find(name: str) -> None:
    """Make the system's function that yields the processor known to compiled code, kept or new."""
    function = ctypes.windll.kernel32.SwitchToThread if sys.platform == "win32" else ctypes.CDLL(None).sched_yield
    address = ctypes.cast(function, ctypes.c_void_p).value
    binding.add_symbol(name, address)


_let_find(GIVE_WAY)


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
def ask(typing, data, offset):
    """Ask for data[offset] as in :func:`prefetch`."""

    def generate(context, builder, signature, arguments):
        _prefetch(builder, *arguments)
        return context.get_dummy_value()

    return types.none(data, types.int64), generate


@intrinsic
def claim(typing, counter):
    """Add one to what the pointer points to, as one indivisible operation, and give what was there before."""

    def generate(context, builder, signature, arguments):
        return builder.atomic_rmw("add", arguments[0], ir.Constant(ir.IntType(64), 1), "seq_cst")

    return types.int64(counter), generate


@intrinsic
def held(typing, counter):
    """What the pointer points to, as other threads have left it."""

    def generate(context, builder, signature, arguments):
        return builder.load_atomic(arguments[0], "seq_cst", 8)

    return types.int64(counter), generate


@intrinsic
def give_way(typing):
    """Let another thread have this core for a moment, if one is waiting for it."""

    def generate(context, builder, signature, arguments):
        declaration = ir.FunctionType(ir.IntType(32), [])
        builder.call(cgutils.get_or_insert_function(builder.module, declaration, GIVE_WAY), [])
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def stay_apart(typing):
    """Keep the function that says this from being merged into its caller, whose values would take its registers."""

    def generate(context, builder, signature, arguments):
        builder.function.attributes.add("noinline")
        return context.get_dummy_value()

    return types.none(), generate


@intrinsic
def offset(typing, address, count):
    """The pointer to the element that stands ``count`` elements further on."""

    def generate(context, builder, signature, arguments):
        return builder.gep(arguments[0], [arguments[1]])

    return address(address, types.int64), generate


@intrinsic
def add(typing, first, second):
    """first + second."""

    def generate(context, builder, signature, arguments):
        return builder.fadd(*arguments)

    return first(first, first), generate


@intrinsic
def scaled(typing, vector, factor):
    """factor * vector."""

    def generate(context, builder, signature, arguments):
        value, scalar = arguments
        return builder.fmul(_splat(builder, scalar, vector.lanes), value)

    return vector(vector, vector.dtype), generate


@intrinsic
def lanes(typing, vector):
    """How many columns are in a vector, as a constant."""

    def generate(context, builder, signature, arguments):
        return ir.Constant(ir.IntType(64), vector.lanes)

    return types.int64(vector), generate


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
def load_if(typing, wanted, like, data, offset, count):
    """:func:`load` where ``wanted``, else zeros; without a branch: zeros lie in memory too."""

    def generate(context, builder, signature, arguments):
        condition, _, start, at, active = arguments
        vector = context.get_value_type(like)
        place = _place(builder, start, at, vector)
        place = builder.select(condition, place, _zeros_in_memory(builder, vector))
        if not like.masked:
            return builder.load(place, align=like.itemsize)
        operands = [place, _i32(like.itemsize), _mask(builder, active, like.lanes), ir.Constant(vector, None)]
        return _call(builder, "llvm.masked.load", like, vector, operands)

    return like(types.boolean, like, data, types.int64, types.int64), generate


@intrinsic
def load_first(typing, like, data, offset, count):
    """The first ``count`` lanes of data[offset : offset + lanes], and zeros."""

    def generate(context, builder, signature, arguments):
        _, start, at, active = arguments
        vector = context.get_value_type(like)
        mask = _mask(builder, active, like.lanes)
        operands = [_place(builder, start, at, vector), _i32(like.itemsize), mask, ir.Constant(vector, None)]
        return _call(builder, "llvm.masked.load", like, vector, operands)

    return like(like, data, types.int64, types.int64), generate


@intrinsic
def gather(typing, like, data, indices, offset):
    """data[indices[offset + l]] in lane l, by one load for each: gather instructions are slow on many processors."""

    def generate(context, builder, signature, arguments):
        _, start, places, at = arguments
        numbers = [builder.load(builder.gep(places, [builder.add(at, _i64(lane))])) for lane in range(like.lanes)]
        return _collect(builder, context.get_value_type(like), start, numbers)

    return like(like, data, indices, types.int64), generate


@intrinsic
def gather_first(typing, like, data, indices, offset, count):
    """:func:`gather` for the first ``count`` lanes, and zeros; without branches."""

    def generate(context, builder, signature, arguments):
        _, start, places, at, active = arguments
        vector = context.get_value_type(like)
        mask = _mask(builder, active, like.lanes)
        whole = ir.VectorType(places.type.pointee, like.lanes)
        suffix = f"v{like.lanes}i{indices.dtype.bitwidth}"
        operands = [
            _place(builder, places, at, whole),
            _i32(indices.dtype.bitwidth // 8),
            mask,
            ir.Constant(whole, None),
        ]
        declaration = ir.FunctionType(whole, [operand.type for operand in operands])
        function = cgutils.get_or_insert_function(builder.module, declaration, f"llvm.masked.load.{suffix}.p0{suffix}")
        loaded = builder.call(function, operands)
        numbers = [builder.extract_element(loaded, _i32(lane)) for lane in range(like.lanes)]
        # Where there is no entry stands the number 0: its value is read and left out.
        return builder.select(mask, _collect(builder, vector, start, numbers), ir.Constant(vector, None))

    return like(like, data, indices, types.int64, types.int64), generate


@intrinsic
def four(typing, vector):
    """Four zeros of the vector's dtype."""
    result = Vector(vector.dtype, 4, False)

    def generate(context, builder, signature, arguments):
        return ir.Constant(context.get_value_type(result), None)

    return result(vector), generate


@intrinsic
def fma_lanes(typing, total, first, second):
    """total + first * second, lane by lane."""

    def generate(context, builder, signature, arguments):
        addend, one, other = arguments
        return builder.fadd(builder.fmul(one, other, flags=CONTRACT), addend, flags=CONTRACT)

    return total(total, total, total), generate


@intrinsic
def joined(typing, single, sums):
    """(s0 + s1) + (s2 + s3) of four lanes, as a vector of one."""

    def generate(context, builder, signature, arguments):
        a, b, c, d = (builder.extract_element(arguments[1], _i32(lane)) for lane in range(4))
        total = builder.fadd(builder.fadd(a, b), builder.fadd(c, d))
        return _splat(builder, total, 1) if single.lanes == 1 else arguments[0]

    return single(single, sums), generate


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
        for column in range(0, like.lanes if size == 256 else 0, 64 // like.itemsize):
            _prefetch(builder, first, builder.add(at, ir.Constant(at.type, column)))
        return context.get_dummy_value()

    return types.none(like, data, types.int64), generate


def _prefetch(builder, data, offset):
    byte = ir.IntType(8)
    declaration = ir.FunctionType(ir.VoidType(), [byte.as_pointer(), *[ir.IntType(32)] * 3])
    function = cgutils.get_or_insert_function(builder.module, declaration, "llvm.prefetch.p0i8")
    builder.call(function, [_place(builder, data, offset, byte), _i32(0), _i32(3), _i32(1)])  # to read, as data


def _place(builder, data, offset, target):
    return builder.bitcast(builder.gep(data, [offset]), target.as_pointer())


def _zeros_in_memory(builder, vector):
    name = f"dfnets.zeros.{vector.count}.{vector.element}"
    module = builder.module
    if name not in module.globals:
        constant = ir.GlobalVariable(module, vector, name)
        constant.global_constant, constant.linkage = True, "internal"
        constant.initializer = ir.Constant(vector, None)
    return module.globals[name]


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


def _collect(builder, vector, data, numbers):
    """data[number] for each of the numbers, as a vector."""
    result = ir.Constant(vector, ir.Undefined)
    for lane, number in enumerate(numbers):
        at = builder.sext(number, ir.IntType(64)) if number.type.width < 64 else number
        result = builder.insert_element(result, builder.load(builder.gep(data, [at])), _i32(lane))
    return result


def _i64(value):
    return ir.Constant(ir.IntType(64), value)


def _i32(value):
    return ir.Constant(ir.IntType(32), value)


@njit(forceinline=True)
def product(zero, column, i, k, graph, x):
    """Row i of A x, one block of columns; the vector ``zero`` says how wide the block is.

    Four sums take turns: one alone would wait for its last addition at every entry. A column is summed alike at any
    width, so that the bits of a signal do not depend on the others beside it. The last entries of a row, three at most,
    are summed without asking how many they are: a wrong guess of the processor costs more than adding 0 times 0.
    """
    indptr, indices, values, _, _, _, last, short = graph
    if lanes(zero) == 1:
        return single(zero, i, graph, x)
    count = k - column
    entry, stop = indptr[i], indptr[i + 1]
    a, b, c, d = zero, zero, zero, zero
    while entry + 4 <= stop:
        for ahead in range(AHEAD, AHEAD + 4):
            prefetch(zero, x, np.int64(indices[min(entry + ahead, last)]) * k + column)
        a = fma(a, values[entry], load(zero, x, np.int64(indices[entry]) * k + column, count))
        b = fma(b, values[entry + 1], load(zero, x, np.int64(indices[entry + 1]) * k + column, count))
        c = fma(c, values[entry + 2], load(zero, x, np.int64(indices[entry + 2]) * k + column, count))
        d = fma(d, values[entry + 3], load(zero, x, np.int64(indices[entry + 3]) * k + column, count))
        entry += 4
    if lanes(zero) > 4 or short:
        if entry < stop:
            a = fma(a, values[entry], load(zero, x, np.int64(indices[entry]) * k + column, count))
        if entry + 1 < stop:
            b = fma(b, values[entry + 1], load(zero, x, np.int64(indices[entry + 1]) * k + column, count))
        if entry + 2 < stop:
            c = fma(c, values[entry + 2], load(zero, x, np.int64(indices[entry + 2]) * k + column, count))
    elif entry < stop:
        second, third = min(entry + 1, stop - 1), min(entry + 2, stop - 1)
        a = fma(a, values[entry], load(zero, x, np.int64(indices[entry]) * k + column, count))
        b = fma(b, values[second], load_if(entry + 1 < stop, zero, x, np.int64(indices[second]) * k + column, count))
        c = fma(c, values[third], load_if(entry + 2 < stop, zero, x, np.int64(indices[third]) * k + column, count))
    return add(add(a, b), add(c, d))


@njit(forceinline=True)
def single(zero, i, graph, x):
    """Row i of A x for one column: the four sums of :func:`product` are the lanes of one vector."""
    indptr, indices, values, _, _, _, _, _ = graph
    entry, stop = np.int64(indptr[i]), np.int64(indptr[i + 1])
    if entry + 1 == stop:
        return add(fma(zero, values[entry], load(zero, x, np.int64(indices[entry]), 1)), zero)
    sums = four(zero)
    while entry + 4 <= stop:
        sums = fma_lanes(sums, load(sums, values, entry, 4), gather(sums, x, indices, entry))
        entry += 4
    if entry < stop:
        sums = fma_lanes(
            sums, load_first(sums, values, entry, stop - entry), gather_first(sums, x, indices, entry, stop - entry)
        )
    return joined(zero, sums)


@njit(forceinline=True)
def row_block(zero, column, i, n, k, graph, weights, signals):
    """Row i, one block of columns of :func:`step`."""
    _, _, _, diagonal, centre, _, _, _ = graph
    x, y, addends, z, out, u, sums, first = signals
    count = k - column
    at = i * k + column
    own = load(zero, x, at, count)
    total = fma(product(zero, column, i, k, graph, x), diagonal[i] - centre, own)
    total = scaled(total, weights[0])
    if given(z) and weights[1] != 0:
        total = fma(total, weights[1], load(zero, z, at, count))
    if addends > 0 and weights[2] != 0:
        total = fma(total, weights[2], load(zero, y, at, count))
    if addends > 1:
        total = add_others(total, y, addends, at, n * k, count, weights)
    if given(out):
        store(total, out, at, count)
    if sums > 0:
        accumulate(total, own, u, sums, first, at, n * k, count, weights, 2 + addends)


@njit
def add_others(total, y, addends, at, size, count, weights):
    """total + sum_s w[2 + s] y_s for the signals after the first; ``size`` entries are in one."""
    for s in range(1, addends):
        if weights[2 + s] != 0:
            total = fma(total, weights[2 + s], load(total, y, s * size + at, count))
    return total


@njit
def accumulate(total, own, u, sums, first, at, size, count, weights, begin):
    """u_t += w[begin + t] total; where ``first``, u_t = w[begin + t] total + w[begin + sums + t] own."""
    for t in range(sums):
        place, factor = t * size + at, weights[begin + t]
        if first:
            store(fma(scaled(own, weights[begin + sums + t]), factor, total), u, place, count)
        elif factor != 0:
            store(fma(load(total, u, place, count), factor, total), u, place, count)


@njit(forceinline=True)
def row_of(place, n, graph):
    """The row whose turn it is, shorter ones of a window before longer ones.

    The row that stands a window further on in memory is asked for meanwhile: what comes from memory comes in its order.
    """
    indptr, indices, values, _, _, order, _, _ = graph
    if not given(order):
        return np.int64(place)
    ahead = min(place + WINDOW, n - 1)
    for entry in range(indptr[ahead], indptr[ahead + 1], 16):
        ask(indices, np.int64(entry))
        ask(values, np.int64(entry))
    return np.int64(order[place])


@njit
def narrow_rows(tail, begin, end, n, graph, weights, signals):
    """Rows whose columns are one vector: the width is known when this is compiled.

    The commonest steps, with one addend, with or without z, and nothing summed, have loops of their own that keep their
    pointers in registers.
    """
    x, y, addends, z, out, _, sums, _ = signals
    if addends != 1 or weights[2] == 0 or sums > 0 or not given(out):
        all_rows(tail, begin, end, n, graph, weights, signals)
    elif given(z) and weights[1] != 0:
        rows_with_two(tail, begin, end, n, graph, weights, x, y, z, out)
    else:
        rows_with_one(tail, begin, end, n, graph, weights, x, y, out)


@njit
def all_rows(tail, begin, end, n, graph, weights, signals):
    """Rows with whatever is given."""
    stay_apart()
    for place in range(begin, end):
        row_block(tail, 0, row_of(place, n, graph), n, lanes(tail), graph, weights, signals)


@njit
def rows_with_one(tail, begin, end, n, graph, weights, x, y, out):
    """out = w0 L~ x + w2 y."""
    stay_apart()
    k = lanes(tail)
    _, _, _, diagonal, centre, _, _, _ = graph
    scale, beta = weights[0], weights[2]
    for place in range(begin, end):
        i = row_of(place, n, graph)
        own = load(tail, x, i * k, k)
        total = scaled(fma(product(tail, 0, i, k, graph, x), diagonal[i] - centre, own), scale)
        store(fma(total, beta, load(tail, y, i * k, k)), out, i * k, k)


@njit
def rows_with_two(tail, begin, end, n, graph, weights, x, y, z, out):
    """out = w0 L~ x + w1 z + w2 y."""
    stay_apart()
    k = lanes(tail)
    _, _, _, diagonal, centre, _, _, _ = graph
    scale, delta, beta = weights[0], weights[1], weights[2]
    for place in range(begin, end):
        i = row_of(place, n, graph)
        own = load(tail, x, i * k, k)
        total = scaled(fma(product(tail, 0, i, k, graph, x), diagonal[i] - centre, own), scale)
        total = fma(total, delta, load(tail, z, i * k, k))
        store(fma(total, beta, load(tail, y, i * k, k)), out, i * k, k)


@njit
def rows(block, tail, begin, end, n, k, graph, weights, signals):
    """Rows in whole blocks of columns, and what is left as one tail.

    Blocks are the inner loop, so that a neighbour's page is looked up once, not once a block: 1.2 to 1.6 times faster
    at 128 columns and more.
    """
    stay_apart()
    width = lanes(block)
    whole = k // width * width
    for place in range(begin, end):
        i = row_of(place, n, graph)
        for column in range(0, whole, width):
            row_block(block, column, i, n, k, graph, weights, signals)
        if whole < k:
            row_block(tail, whole, i, n, k, graph, weights, signals)


@njit
def first_row(indptr, work):
    """The first row before which at least ``work`` stands, by bisection; a row counts as 4 entries.

    A multiple of WINDOW, so that the pieces of a parallel run are the same rows in memory and in the order.
    """
    low, high = 0, indptr.size - 1
    if work >= indptr[high] + 4 * high:
        return high
    while low < high:
        middle = (low + high) // 2
        if indptr[middle] + 4 * middle < work:
            low = middle + 1
        else:
            high = middle
    return low // WINDOW * WINDOW


def _step(size: int, masked: bool, fixed: bool) -> Any:
    """The kernel whose tail is ``size`` bytes wide, masked or filled exactly; where fixed, the tail is all there is.

    Long because the kernel is compiled as one function, and explains its 17 arguments.
    """

    @njit(nogil=True, cache=True)
    def step(
        indptr,
        indices,
        values,
        diagonal,
        centre,
        order,
        weights,
        x,
        y,
        z,
        out,
        spare,
        u,
        first,
        recurrent,
        counters,
        pieces,
    ):
        """total = w0 (A + diag(d - centre)) x + w1 z + sum_s w[2 + s] y_s; out = total; u_t += w[2 + S + t] total.

        A (n, n) is ``values`` in CSR form, d (n,) the ``diagonal``. Signals are (n, k), C-contiguous, of one dtype,
        y and u stacks (S, n, k) and (T, n, k) of them; those of size 0 are absent. Where ``first`` is set, u is not
        read: u_t = w[2 + S + t] total + w[2 + S + T + t] x. A weight of 0 leaves its signal alone.

        Each row of ``weights`` is one such step, the last one first, as in Horner's rule. The x of a step is the result
        of the step before it, and results go to ``out`` and to ``spare`` in turn. From step ``recurrent`` on, counted
        from 0 (never, if it is negative), z is the result of two steps before, whose place the new result takes.

        A step is cut into ``pieces`` of equal size, and every thread that runs this takes the next one until none is
        left: counters[0] are those taken, counters[8] those done. A row is summed by one thread in the order of
        its entries, so the bits of the result do not depend on the number of threads.
        """
        graph = (
            pointer(indptr), pointer(indices), pointer(values), pointer(diagonal), centre, pointer(order),
            indices.size - 1, indptr[diagonal.size] < SHORT * diagonal.size,
        )  # fmt: skip
        steps, length = weights.shape
        # Behind its n rows x may have those of nodes that other processes hold.
        n, k = diagonal.size, x.shape[1]
        tail = zeros(x, size, masked)
        work = np.int64(indptr[n]) + 4 * n
        taken, done = pointer(counters), pointer(counters[8:])
        piece = claim(taken)
        while piece < pieces * steps:
            number, part = piece // pieces, piece % pieces
            # The last pieces of the step before may be with other threads still.
            while held(done) < number * pieces:
                give_way()
            target, source = (pointer(out), pointer(spare)) if number % 2 == 0 else (pointer(spare), pointer(out))
            if number == 0:
                source = pointer(x)
            before = target if 0 <= recurrent <= number else pointer(z)
            signals = (source, pointer(y), y.shape[0], before, target, pointer(u), u.shape[0], first)
            factors = offset(pointer(weights), (steps - 1 - number) * length)
            start, stop = first_row(indptr, work * part // pieces), first_row(indptr, work * (part + 1) // pieces)
            if fixed:
                narrow_rows(tail, start, stop, n, graph, factors, signals)
            else:
                rows(zeros(x, BLOCK, False), tail, start, stop, n, k, graph, factors, signals)
            claim(done)
            piece = claim(taken)

    return step


# One kernel a tail, compiled when a signal of such a width first comes. Narrow signals have kernels that know their
# width; an exact tail is up to 1.4 times faster than a masked one.
_EXACT, _MASKED = (4, 8, 16, 32, 64, 128), (16, 64, 128, 256)
_FIXED = {size: _step(size, False, True) for size in _EXACT if size < BLOCK}
_TAILS = {(size, False): _step(size, False, False) for size in (64, 128) if size < BLOCK} | {
    (size, True): _step(size, True, False) for size in _MASKED if size <= BLOCK
}


def step_for(k: int, itemsize: int) -> Any:
    """The kernel for signals of k columns."""
    if k * itemsize in _FIXED:
        return _FIXED[k * itemsize]
    left = k * itemsize % BLOCK
    if (left, False) in _TAILS:
        return _TAILS[left, False]
    return _TAILS[min(size for size, masked in _TAILS if masked and size > left), True]


# Reassociation lets the compiler sum in vector lanes. It decides that once, when it compiles, and leaves NaN alone.
@njit(fastmath={"reassoc", "contract"})
def inner_piece(x, y):
    total = 0.0
    for i in range(x.size):
        total += np.float64(x[i]) * np.float64(y[i])
    return total


@njit(nogil=True, cache=True)
def inner(x, y, sums, counters, pieces):
    """sums[p] = the sum of x * y over the p-th piece in double precision; pieces are taken as in :func:`step`."""
    count = sums.size
    piece = claim(pointer(counters))
    while piece < pieces:
        for part in range(count * piece // pieces, count * (piece + 1) // pieces):
            first, stop = x.size * part // count, x.size * (part + 1) // count
            sums[part] = inner_piece(x[first:stop], y[first:stop])
        claim(pointer(counters[8:]))
        piece = claim(pointer(counters))
