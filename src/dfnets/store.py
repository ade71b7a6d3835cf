"""The store: one SQLite file, one row a run, so that a study that was killed goes on where it stopped."""

from __future__ import annotations

import json
import os
import sqlite3
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict, dataclass, field, fields
from pathlib import Path
from typing import Any

from dfnets import checksums

# "DFN1" as a number: SQLite keeps it in the file's header.
APPLICATION = 0x44464E31
IDENTITY = ("code", "dataset", "data", "protocol", "split", "model", "config", "seed")


@dataclass(frozen=True)
class Run:
    """One training with one seed, or one measurement; the first eight fields are what it is known by.

    Attributes:
        code: the version of the code that its numbers depend on, see :mod:`dfnets.studies.code`.
        dataset, data: name and fingerprint of the graph.
        protocol, split: name and fingerprint of the split.
        config: the hyper-parameters that differ from their defaults, as canonical JSON, see :func:`canonical`; what the
            defaults are is part of the code.
        status: ``"done"`` or ``"failed"``, then ``reason`` says why.
        validation, final, oracle: test accuracy in percent by that selection rule; None where there is none.
        validation_accuracy: of the epoch that the rule ``validation`` takes.
        seconds: the run's share of the time of all that were trained with it.
        together: how many were trained with it as one problem.
        memory: the most bytes that they held on a GPU.
        settings: all hyper-parameters, to be read.
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
    machine: str = ""
    versions: Mapping[str, Any] = field(default_factory=dict)
    settings: Mapping[str, Any] = field(default_factory=dict)
    measures: Mapping[str, Any] = field(default_factory=dict)
    finished: str = ""

    @property
    def key(self) -> str:
        return key(**{name: getattr(self, name) for name in IDENTITY})


def canonical(value: Any) -> str:
    """The one JSON text of a value.

    >>> canonical({"b": (1, 2), "a": None})
    '{"a":null,"b":[1,2]}'
    """
    return json.dumps(value, sort_keys=True, separators=(",", ":"), allow_nan=False)


def key(**identity: Any) -> str:
    """The digest that a run is known by."""
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
        with FileLock(f"{self.path}.lock"), self._speaking():
            self._connection = sqlite3.connect(self.path, timeout=120, isolation_level=None)
            self._connection.row_factory = sqlite3.Row
            self._open()

    def _open(self) -> None:
        marks = [self._connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("application_id", "quick_check")]
        if marks[1] != "ok":
            raise sqlite3.DatabaseError(marks[1])
        tables = self._connection.execute("SELECT count(*) FROM sqlite_master").fetchone()[0]
        if marks[0] != APPLICATION and tables:
            raise ValueError(f"{self.path} is an SQLite file of something else; give another name")
        self._connection.execute("PRAGMA journal_mode = WAL")
        self._connection.execute("PRAGMA synchronous = FULL")
        if not tables:
            columns = ", ".join(f'"{f.name}"' for f in fields(Run))
            self._connection.execute(f"PRAGMA application_id = {APPLICATION}")
            self._connection.execute(f"CREATE TABLE IF NOT EXISTS runs (key TEXT PRIMARY KEY, {columns})")

    def add(self, runs: Iterable[Run]) -> None:
        """Writes runs, all of them or none; one that is there already stays as it is."""
        rows = [self._row(run) for run in runs]
        if not rows:
            return
        names = ", ".join(f'"{name}"' for name in rows[0])
        marks = ", ".join("?" * len(rows[0]))
        with self._speaking(), self._transaction():
            self._connection.executemany(
                f"INSERT OR IGNORE INTO runs ({names}) VALUES ({marks})", [list(row.values()) for row in rows]
            )

    def runs(self, **wanted: Any) -> list[Run]:
        """The runs whose columns have these values, in the order in which they were added."""
        where = " AND ".join(f'"{name}" = ?' for name in wanted) or "1"
        with self._speaking():
            rows = self._connection.execute(f"SELECT * FROM runs WHERE {where} ORDER BY rowid", list(wanted.values()))
            return [_run(row) for row in rows]

    def keys(self) -> set[str]:
        """The keys of all runs."""
        with self._speaking():
            return {row[0] for row in self._connection.execute("SELECT key FROM runs")}

    def identities(self) -> set[tuple[Any, ...]]:
        """(code, dataset, protocol, model, config, seed) of all runs: what is known without the data at hand."""
        with self._speaking():
            rows = self._connection.execute("SELECT code, dataset, protocol, model, config, seed FROM runs")
            return {tuple(row) for row in rows}

    def forget_failures(self) -> int:
        """Removes failed runs, so that they are tried again; how many there were."""
        with self._speaking(), self._transaction():
            return self._connection.execute("DELETE FROM runs WHERE status = 'failed'").rowcount

    def close(self) -> None:
        """The last process to close a store leaves one file; before, recent rows are in the one that ends in -wal."""
        self._connection.close()

    def __enter__(self) -> Store:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def __len__(self) -> int:
        with self._speaking():
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
    def _speaking(self) -> Iterator[None]:
        """Turns SQLite's errors into ones that say what to do."""
        try:
            yield
        except sqlite3.OperationalError as error:
            if "full" in str(error) or "disk I/O" in str(error):
                raise OSError(
                    f"{self.path} cannot be written ({error}): every run stored before is still there; "
                    "make room on the disk and start again"
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
        values[name] = json.loads(values[name])
    return Run(**values)
