"""The options that say how a person's files are written, the same for every command that reads them."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from dataclasses import asdict, dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, get_type_hints

import typer

if TYPE_CHECKING:
    from dfnets.datasets.files import Reading

_PANEL = "How your files are written (recognised where you do not say)"


def _option(*names: str, help: str) -> Any:
    return typer.Option(*names, help=help, rich_help_panel=_PANEL)


@dataclass(frozen=True)
class FileOptions:
    """What a person says of their files; :func:`dfnets.datasets.files.read` has the meaning of each."""

    source: Annotated[str | None, _option("--source-column", help="One end of an edge.")] = None
    target: Annotated[str | None, _option("--target-column", help="Its other end.")] = None
    weight: Annotated[str | None, _option("--weight-column", help="The weights of edges.")] = None
    id: Annotated[str | None, _option("--id-column", help="The ids in tables of nodes.")] = None
    label: Annotated[str | None, _option("--label-column", help="The classes.")] = None
    ignore: Annotated[str | None, _option("--ignore", help="Columns that are no features: a,b.")] = None
    coordinates: Annotated[str | None, _option("--coordinates", help="Columns that say where nodes are: x,y.")] = None
    header: Annotated[bool | None, _option("--header/--no-header", help="Whether the first row has names.")] = None
    separator: Annotated[str | None, _option("--separator", help="Between cells: , ; | tab or space.")] = None
    decimal: Annotated[str | None, _option("--decimal", help="The decimal point: . or ,")] = None
    missing: Annotated[
        list[str] | None, _option("--missing", help="A cell that stands for no value; may be repeated.")
    ] = None
    duplicates: Annotated[
        str, _option("--duplicates", help="An edge with several weights: refuse, sum, max or mean.")
    ] = "refuse"
    directed: Annotated[
        str, _option("--directed", help="A graph with directions: refuse, or the max or mean of both.")
    ] = "refuse"

    def arguments(self) -> dict[str, Any]:
        """The arguments of :func:`dfnets.datasets.files.read`."""
        given = asdict(self)
        for name in ("ignore", "coordinates"):
            given[name] = [] if given[name] is None else [part.strip() for part in given[name].split(",")]
        return given

    def read(self, edges: Path, features: Path | None = None, labels: Path | None = None, **more: Any) -> Reading:
        """The graph in these files, and what was understood of them."""
        from dfnets.datasets import files

        return files.read(edges, features, labels, **{**self.arguments(), **more})


def takes_files(command: Callable[..., None]) -> Callable[..., None]:
    """Gives a command the options of :class:`FileOptions`; it gets them as its last argument, ``files``."""
    hints = get_type_hints(FileOptions, include_extras=True)
    own = [one for one in inspect.signature(command, eval_str=True).parameters.values() if one.name != "files"]
    options = [
        inspect.Parameter(name, inspect.Parameter.KEYWORD_ONLY, default=getattr(FileOptions, name), annotation=hint)
        for name, hint in hints.items()
    ]

    @wraps(command)
    def with_options(**given: Any) -> None:
        files = FileOptions(**{name: given.pop(name) for name in hints})
        command(**given, files=files)

    with_options.__signature__ = inspect.Signature([*own, *options])  # type: ignore[attr-defined]
    with_options.__annotations__ = {one.name: one.annotation for one in (*own, *options)}
    return with_options
