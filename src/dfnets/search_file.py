"""The file of a search: which search it belongs to, and what to do when it cannot be read or written."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

from dfnets.datasets import splits
from dfnets.datasets.splits import Split
from dfnets.graph import Graph

if TYPE_CHECKING:
    import optuna


def identity_of(model: str, graph: Graph, ranges: Mapping[str, Any], options: Mapping[str, Any]) -> dict[str, Any]:
    """What the trials of a search depend on, as JSON gives it back; where and how loudly it runs is no part of it."""
    protocol = options["protocol"]
    if not isinstance(protocol, str):
        protocol = [split.fingerprint for split in ([protocol] if isinstance(protocol, Split) else protocol)]
    identity = {
        "model": model,
        "graph": splits.fingerprint(graph),
        "space": {name: list(values) for name, values in ranges.items()},
        **{name: value for name, value in options.items() if name not in ("device", "progress")},
        "protocol": protocol,
    }
    return json.loads(json.dumps(identity, default=str))


def check_identity(study: optuna.Study, identity: Mapping[str, Any], file: str | os.PathLike[str]) -> None:
    """Raises unless the file is new, or holds trials of this very search."""
    stored = study.user_attrs.get("identity")
    if stored is None and not study.trials:
        study.set_user_attr("identity", identity)
        return
    if stored is None:
        raise ValueError(
            f"{file} holds trials of an earlier version, which did not say what they are of: give another file"
        )
    for name in dict.fromkeys((*identity, *stored)):
        if stored.get(name) != identity.get(name):
            raise ValueError(
                f"{file} is the file of another search: its {name} is {stored.get(name)!r}, here it is "
                f"{identity.get(name)!r}; give the same arguments, or another file"
            )


@contextmanager
def explained_errors(file: str | os.PathLike[str]) -> Iterator[None]:
    """Turns errors of the database into messages that say what to do."""
    try:
        from sqlalchemy.exc import SQLAlchemyError
    except ImportError:
        raise ImportError("dfnets search needs Optuna: pip install 'dfnets[search]'") from None
    try:
        yield
    except SQLAlchemyError as error:
        reason = str(getattr(error, "orig", None) or error).partition("\n")[0]
        if "full" in reason or "disk I/O" in reason:
            raise OSError(
                f"{file} cannot be written ({reason}): finished trials are still there; make room and search again"
            ) from None
        raise ValueError(
            f"{file} is not the file of a search, or it is damaged ({reason}): move it away, or give another name"
        ) from None
