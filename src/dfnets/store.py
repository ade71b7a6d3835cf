"""The store: one SQLite file with one row per run, so that a study that was killed continues where it stopped."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

import numpy as np

from dfnets import checksums

# "DFN2" as a number: SQLite keeps it in the header of the file. Earlier stores ("DFN1") lack the correct nodes.
APPLICATION = 0x44464E32
OLD_APPLICATION = 0x44464E31
IDENTITY = ("code", "dataset", "data", "protocol", "split", "model", "config", "seed")


@dataclass(frozen=True)
class Run:
    """One training with one seed, or one measurement; the first eight fields identify it.

    Attributes:
        code: the version of the code that its numbers depend on, see :mod:`dfnets.studies.running.code_version`.
        dataset, data: name and fingerprint of the graph.
        protocol, split: name and fingerprint of the split.
        config: the hyper-parameters that differ from their defaults, as canonical JSON, see :func:`canonical`; the
            defaults themselves belong to the version of the code.
        status: ``"done"`` or ``"failed"``, then ``reason`` says why.
        validation, final, oracle: test accuracy in percent by that selection rule; None where there is none.
        validation_accuracy: of the epoch that the rule ``validation`` takes.
        seconds: the run's share of the time of all that were trained with it.
        together: how many were trained with it as one problem.
        memory: the most bytes that they held on a GPU.
        correct: one bit per test node, in the order of the split, packed by :func:`pack_bits`: whether the network of
            the rule ``validation`` (``final`` where there are no validation nodes) got its class right. Two runs on the
            same split can so be compared node by node.
        tested: the number of test nodes.
        settings: all hyper-parameters, for a reader.
        measures: what else a study measures.
    """

    code: str
    dataset: str
    data: str
    protocol: str
    split: str
    model: str
    config: str
    seed: int
    status: str = "done"
    reason: str = ""
    validation: float | None = None
    final: float | None = None
    oracle: float | None = None
    validation_accuracy: float | None = None
    epochs: int | None = None
    seconds: float | None = None
    together: int | None = None
    memory: int | None = None
    correct: bytes = b""
    tested: int = 0
    machine: str = ""
    versions: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    measures: Mapping[str, Any] = field(default_factory=dict)
    finished: str = ""

    @property
    def key(self) -> str:
        """The digest that identifies the run."""
        return key(**{name: getattr(self, name) for name in IDENTITY})


def canonical(value: Any) -> str:
    """The one JSON text of a value.

    >>> canonical({"b": (1, 2), "a": None})
    '{"a":null,"b":[1,2]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def pack_bits(values: np.ndarray) -> bytes:
    """Booleans as bytes, eight of them in each: 125 bytes for the 1,000 test nodes of a citation network.

    >>> unpack_bits(pack_bits(np.array([True, False, True])), 3)
    array([ True, False,  True])
    """
    return np.packbits(np.asarray(values, dtype=bool)).tobytes()


def unpack_bits(packed: bytes, count: int) -> np.ndarray:
    """The ``count`` booleans that :func:`pack_bits` packed."""
    return np.unpackbits(np.frombuffer(packed, dtype=np.uint8), count=count).astype(bool)


def key(**identity: Any) -> str:
    """The digest that identifies a run."""
    assert set(identity) == set(IDENTITY)
    return checksums.of_bytes(canonical(identity).encode())[:32]


class Store:
    """Runs in a file. Several processes may read and write it at the same time.

    A transaction is on the disk when :meth:`add` returns; a process that is killed leaves whole rows only.

    Args:
        path: of the file; made when it is not there.
    """

    def __init__(self, path: str | os.PathLike[str]) -> None:
        from filelock import FileLock

        self.path = Path(path)
        if self.path.is_dir():
            raise ValueError(f"store={str(path)!r} is a folder; give the name of a file")
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(f"{self.path}.lock"), self._explained_errors():
            self._connection = sqlite3.connect(self.path, timeout=120, isolation_level=None)
            self._connection.row_factory = sqlite3.Row
            self._open()

    def _open(self) -> None:
        marks = [self._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "quick_check")]
        if marks[1] != "ok":
            raise sqlite3.DatabaseError(marks[1])
        if marks[0] == OLD_APPLICATION:
            raise ValueError(
                f"{self.path} is a store of an earlier version, which lacks the correct nodes: move it away"
            )
        tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if marks[0] != APPLICATION and tables:
            raise ValueError(f"{self.path} is an SQLite file of something else; give another name")
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        if not tables:
            columns = ", ".join(f'"{f.name}"' for f in fields(Run))
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute(f"CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, {columns})")
        found = {row["name"] for row in self._connection.execute("PRAGMA table_info(runs)")}
        missing = [name for name in ("key", *(f.name for f in fields(Run))) if name not in found]
        if missing:
            raise sqlite3.DatabaseError(f"its runs have no column {missing[0]!r}")

    def add(self, runs: Iterable[Run]) -> None:
        """Writes runs, all of them or none; one that is stored already stays as it is."""
        rows = [self._row(run) for run in runs]
        if not rows:
            return
        names = ", ".join(f'"{name}"' for name in rows[0])
        marks = ", ".join("?" * len(rows[0]))
        with self._explained_errors(), self._transaction():
            self._connection.executemany(
                f"INSERT OR IGNORE INTO runs ({names}) VALUES ({marks})", [list(row.values()) for row in rows]
            )

    def runs(self, **wanted: Any) -> list[Run]:
        """The runs whose columns have these values, in the order in which they were added."""
        where = " AND ".join(f'"{name}" = ?' for name in wanted) or "1"
        with self._explained_errors():
            rows = self._connection.execute(f"SELECT * FROM runs WHERE {where} ORDER BY rowid", list(wanted.values()))
            return [_run(row) for row in rows]

    def keys(self) -> set[str]:
        """The keys of all runs."""
        with self._explained_errors():
            return {row[0] for row in self._connection.execute("SELECT key FROM runs")}

    def identities(self) -> set[tuple[Any, ...]]:
        """(code, dataset, protocol, model, config, seed) of all runs: what identifies them without the data at hand."""
        with self._explained_errors():
            rows = self._connection.execute("SELECT code, dataset, protocol, model, config, seed FROM runs")
            return {tuple(row) for row in rows}

    def forget_failures(self, *, diverged: bool = True) -> int:
        """Removes failed runs, so that they are run again; returns how many there were.

        Args:
            diverged: also those whose loss was no longer a number, which would be so again.
        """
        condition = "" if diverged else " AND reason NOT LIKE 'DivergedError%'"
        with self._explained_errors(), self._transaction():
            return self._connection.execute(f"DELETE FROM runs WHERE status = 'failed'{condition}").rowcount

    def close(self) -> None:
        """The last process to close a store leaves one file; before, recent rows are in the one that ends in -wal."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        with self._explained_errors():
            return self._connection.execute("SELECT count(*) FROM runs").fetchone()[0]

    def __repr__(self) -> str:
        return f"Store({str(self.path)!r}, runs={len(self)})"

    @staticmethod
    def _row(run: Run) -> dict[str, Any]:
        row = {"key": run.key, **asdict(run)}
        return {name: canonical(value) if isinstance(value, Mapping) else value for name, value in row.items()}

    @contextmanager
    def _transaction(self) -> Iterator[None]:
        # IMMEDIATE takes the write lock at once: two writers wait for each other instead of failing half-way.
        self._connection.execute("BEGIN IMMEDIATE")
        try:
            yield
            self._connection.execute("COMMIT")
        except BaseException:
            if self._connection.in_transaction:
                self._connection.execute("ROLLBACK")
            raise

    @contextmanager
    def _explained_errors(self) -> Iterator[None]:
        """Turns SQLite's errors into messages that say what to do."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "full" in str(error) or "disk I/O" in str(error):
                raise OSError(
                    f"{self.path} cannot be written ({error}): every run stored before is still there; "
                    "free some space on the disk and start again"
                ) from None
            raise OSError(f"{self.path} cannot be opened or written: {error}") from None
        except sqlite3.DatabaseError as error:
            raise ValueError(
                f"{self.path} is not a store of runs, or it is damaged ({error}): move it away and start again, "
                f"or save what is readable with: sqlite3 {self.path} .recover"
            ) from None


def _run(row: sqlite3.Row) -> Run:
    values = {f.name: row[f.name] for f in fields(Run)}
    for name in ("versions", "settings", "measures"):
        try:
            values[name] = json.loads(values[name])
        except (TypeError, ValueError) as error:
            raise sqlite3.DatabaseError(f"the {name} of a run cannot be read: {error}") from None
    return Run(**values)
