"""The pickles of the Planetoid files, read by an interpreter that can make numbers, texts, lists and arrays only.

A pickle is a program: Python's own reader looks up whatever it names and calls it, and even an allow-list of harmless
names can be escaped, because setting the state of a NumPy data type decides how later bytes are understood. Nothing
that a file names is called here. A class or function is a name on a list; what would have been made by it is checked
against the one layout that those files have, and made by us.
"""

from __future__ import annotations

import math
import pickle
import pickletools
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any, NoReturn

import numpy as np
import scipy.sparse as sp

from dfnets.datasets.csr import csr_array


class RefusedPickle(pickle.UnpicklingError):
    """The pickle is damaged, or it asks for something that no dataset needs; nothing that it names was called."""


def loads(data: bytes, file: str) -> Any:
    """The array, sparse matrix or neighbour lists in a pickle; ``file`` is its name for messages.

    Returns:
        a NumPy array of numbers, a ``csr_array``, or what is made of dicts, lists, tuples, numbers and texts.

    Raises:
        RefusedPickle: when it names any other class or function, or is not as the Planetoid files are.
    """
    try:
        return _Machine().run(data)
    except RefusedPickle as error:
        raise RefusedPickle(f"{file} is refused: {error}") from None
    # Every way in which a program can be nonsense: values missing, of the wrong kind, or too large.
    except (ValueError, TypeError, LookupError, ArithmeticError, AttributeError, RecursionError) as error:
        raise RefusedPickle(f"{file} is refused: it is damaged ({error})") from None


# All that those files name, under the names of the Python 2 that wrote them and of today.
_NAMES = {
    ("__builtin__", "list"): "list",
    ("builtins", "list"): "list",
    ("collections", "defaultdict"): "defaultdict",
    ("numpy", "dtype"): "dtype",
    ("numpy", "ndarray"): "ndarray",
    ("numpy.core.multiarray", "_reconstruct"): "reconstruct",
    ("numpy._core.multiarray", "_reconstruct"): "reconstruct",
    ("scipy.sparse.csr", "csr_matrix"): "csr_matrix",
    ("scipy.sparse._csr", "csr_matrix"): "csr_matrix",
}
_NUMBERS = {"i1", "i2", "i4", "i8", "u1", "u2", "u4", "u8", "f4", "f8", "b1"}


@dataclass(frozen=True)
class _Name:
    """A class or function that was named, and is never called."""

    name: str


@dataclass(eq=False)
class _DataType:
    """``numpy.dtype("f4", 0, 1)``, and then a state that says nothing but the order of the bytes."""

    code: str
    order: str = "|"

    def build(self, state: Any) -> None:
        version, order, *rest = state
        # What would make records, sub-arrays or references of it. The last number is flags: none, for numbers.
        if version not in (3, 4) or order not in ("<", ">", "|", "=") or rest[:6] != [None, None, None, -1, -1, 0]:
            raise RefusedPickle("it describes an array of something else than plain numbers")
        self.order = order

    def numpy(self) -> np.dtype:
        return np.dtype(self.order + self.code)


@dataclass(eq=False)
class _Array:
    """An empty array that gets its state later: shape, type and bytes."""

    value: np.ndarray | None = None

    def build(self, state: Any) -> None:
        _, shape, kind, fortran, content = state
        if not isinstance(kind, _DataType) or not isinstance(content, str | bytes):
            raise RefusedPickle("it describes an array of something else than plain numbers")
        dtype = kind.numpy()
        # Python 2's strings hold the bytes of an array; as text each stands for the letter of its number.
        raw = content.encode("latin1") if isinstance(content, str) else content
        if not all(type(size) is int and size >= 0 for size in shape) or len(raw) != dtype.itemsize * math.prod(shape):
            raise RefusedPickle(f"its {len(raw)} bytes are no array of shape {shape} and type {dtype}")
        flat = np.frombuffer(raw, dtype)
        self.value = flat.reshape(shape, order="F" if fortran else "C").astype(dtype.newbyteorder("="))


@dataclass(eq=False)
class _Csr:
    """A sparse matrix that gets its state later: a dict of its attributes."""

    value: sp.csr_array | None = None

    def build(self, state: Any) -> None:
        parts = {name: _value(state[name]) for name in ("data", "indices", "indptr")}
        shape = state["_shape"] if "_shape" in state else state["shape"]
        self.value = csr_array(**parts, shape=shape, name="the matrix")


def _value(made: Any) -> Any:
    """The array or matrix that was made, once it has its state; everything else is its own value."""
    if isinstance(made, _Array | _Csr):
        if made.value is None:
            raise RefusedPickle("it ends before an array has its content")
        return made.value
    if isinstance(made, _Name | _DataType):
        raise RefusedPickle("it holds a class where a value belongs")
    return made


@dataclass
class _Machine:
    """The stack and the memo of a pickle, and one method for each kind of instruction."""

    stack: list[Any] = field(default_factory=list)
    marks: list[int] = field(default_factory=list)
    memo: dict[int, Any] = field(default_factory=dict)

    def run(self, data: bytes) -> Any:
        for opcode, argument, _ in pickletools.genops(data):
            if opcode.name == "STOP":
                (result,) = self.stack
                return _value(result)
            if opcode.name in _PUSHED:
                self.stack.append(argument)
            elif opcode.name in _CONSTANTS:
                self.stack.append(_CONSTANTS[opcode.name])
            elif opcode.name in _ACTIONS:
                _ACTIONS[opcode.name](self, argument)
            elif opcode.name == "INST":
                self._refuse(*str(argument).split(" "))
            elif opcode.name not in ("PROTO", "FRAME"):
                raise RefusedPickle(f"it has the instruction {opcode.name}, which no dataset needs")
        raise RefusedPickle("it has no end")

    def _refuse(self, module: str, name: str) -> NoReturn:
        raise RefusedPickle(f"it asks for {module}.{name}, which no dataset needs")

    def name(self, argument: Any) -> None:
        # GLOBAL carries both words, STACK_GLOBAL has them on the stack.
        module, name = argument.split(" ") if argument is not None else self.pop(2)
        if (module, name) not in _NAMES:
            self._refuse(module, name)
        self.stack.append(_Name(_NAMES[module, name]))

    def call(self, _: Any) -> None:
        called, arguments = self.pop(2)
        match called, arguments:
            case _Name("reconstruct"), (_Name("ndarray"), (0,), "b" | b"b"):
                made: Any = _Array()
            case _Name("dtype"), (str(code), *_) if code in _NUMBERS:
                made = _DataType(code)
            case _Name("csr_matrix"), ():
                made = _Csr()
            case _Name("defaultdict"), (_Name("list"),):
                made = {}
            case _:
                what = called.name if isinstance(called, _Name) else type(called).__name__
                raise RefusedPickle(f"it calls {what} in a way that no dataset needs")
        self.stack.append(made)

    def build(self, _: Any) -> None:
        made, state = self.pop(2)
        if not isinstance(made, _DataType | _Array | _Csr):
            raise RefusedPickle(f"it sets the state of a {type(made).__name__}, which no dataset needs")
        made.build(state)
        self.stack.append(made)

    def pop(self, count: int) -> list[Any]:
        place = len(self.stack) - count
        if place < (self.marks[-1] if self.marks else 0):
            raise RefusedPickle("it is damaged (a value is missing)")
        taken = self.stack[place:]
        del self.stack[place:]
        return taken

    def since_mark(self) -> list[Any]:
        place = self.marks.pop()
        taken = self.stack[place:]
        del self.stack[place:]
        return taken

    def append(self, values: list[Any]) -> None:
        (target,) = self.pop(1)
        if type(target) is not list:
            raise RefusedPickle("it is damaged (it adds to what is no list)")
        target += values
        self.stack.append(target)

    def set_items(self, values: list[Any]) -> None:
        (target,) = self.pop(1)
        if type(target) is not dict or len(values) % 2:
            raise RefusedPickle("it is damaged (it adds to what is no dict)")
        target.update(zip(values[::2], map(_kept, values[1::2]), strict=True))
        self.stack.append(target)

    def put(self, key: Any) -> None:
        self.memo[len(self.memo) if key is None else int(key)] = self.stack[-1]

    def get(self, key: Any) -> None:
        self.stack.append(self.memo[int(key)])

    def push(self, made: Any) -> None:
        self.stack.append(made)

    def push_dict(self, _: Any) -> None:
        items = self.since_mark()
        self.stack.append({})
        self.set_items(items)


def _kept(value: Any) -> Any:
    """What a dict of the caller may hold: a finished array as itself."""
    return value.value if isinstance(value, _Array | _Csr) and value.value is not None else value


_PUSHED = {
    *("INT", "BININT", "BININT1", "BININT2", "LONG", "LONG1", "LONG4", "FLOAT", "BINFLOAT"),
    *("STRING", "BINSTRING", "SHORT_BINSTRING", "BINBYTES", "SHORT_BINBYTES", "BINBYTES8"),
    *("UNICODE", "BINUNICODE", "SHORT_BINUNICODE", "BINUNICODE8"),
}
_CONSTANTS = {"NONE": None, "NEWTRUE": True, "NEWFALSE": False, "EMPTY_TUPLE": ()}
_ACTIONS: dict[str, Callable[[_Machine, Any], Any]] = {
    "GLOBAL": _Machine.name,
    "STACK_GLOBAL": _Machine.name,
    "REDUCE": _Machine.call,
    "NEWOBJ": _Machine.call,
    "BUILD": _Machine.build,
    "MARK": lambda machine, _: machine.marks.append(len(machine.stack)),
    "POP": lambda machine, _: machine.pop(1),
    "EMPTY_LIST": lambda machine, _: machine.push([]),
    "EMPTY_DICT": lambda machine, _: machine.push({}),
    "DICT": _Machine.push_dict,
    "LIST": lambda machine, _: machine.push(machine.since_mark()),
    "TUPLE": lambda machine, _: machine.push(tuple(machine.since_mark())),
    "TUPLE1": lambda machine, _: machine.push(tuple(machine.pop(1))),
    "TUPLE2": lambda machine, _: machine.push(tuple(machine.pop(2))),
    "TUPLE3": lambda machine, _: machine.push(tuple(machine.pop(3))),
    "APPEND": lambda machine, _: machine.append(machine.pop(1)),
    "APPENDS": lambda machine, _: machine.append(machine.since_mark()),
    "SETITEM": lambda machine, _: machine.set_items(machine.pop(2)),
    "SETITEMS": lambda machine, _: machine.set_items(machine.since_mark()),
    "PUT": _Machine.put,
    "BINPUT": _Machine.put,
    "LONG_BINPUT": _Machine.put,
    "MEMOIZE": _Machine.put,
    "GET": _Machine.get,
    "BINGET": _Machine.get,
    "LONG_BINGET": _Machine.get,
}
