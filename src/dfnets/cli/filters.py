"""`dfnets design`."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated, Any

import typer

from dfnets import responses
from dfnets.cli.common import Force, check_outputs, console, read_graph, say
from dfnets.filters import design
from dfnets.shift import Shift


class ResponseName(StrEnum):
    high_pass = "high-pass"
    low_pass = "low-pass"
    band_pass = "band-pass"
    heat = "heat"
    pagerank = "pagerank"
    interpolated = "interpolated"


# Which options make each response.
OPTIONS = {
    ResponseName.high_pass: ("cut",),
    ResponseName.low_pass: ("cut",),
    ResponseName.band_pass: ("low", "high"),
    ResponseName.heat: ("time",),
    ResponseName.pagerank: ("restart",),
    ResponseName.interpolated: ("points",),
}


def design_command(
    response: Annotated[ResponseName, typer.Option(help="What the filter shall do.")] = ResponseName.low_pass,
    cut: Annotated[float | None, typer.Option(help="Cut-off frequency of high-pass and low-pass, in [0, 2].")] = None,
    low: Annotated[float | None, typer.Option(help="Lower edge of band-pass.")] = None,
    high: Annotated[float | None, typer.Option(help="Upper edge of band-pass.")] = None,
    time: Annotated[float | None, typer.Option(help="Diffusion time of heat.")] = None,
    restart: Annotated[float | None, typer.Option(help="Restart probability of pagerank.")] = None,
    points: Annotated[
        str | None, typer.Option(help="Frequency:gain pairs of interpolated, such as 0:1,0.5:1,0.8:0.")
    ] = None,
    p: Annotated[int, typer.Option("-p", help="Degree of the feedback (denominator).")] = 5,
    q: Annotated[int, typer.Option("-q", help="Degree of the feedforward (numerator).")] = 3,
    gamma: Annotated[float, typer.Option(help="Bound on |P|: the contraction of the recursion, below 1.")] = 0.9,
    method: Annotated[
        str | None,
        typer.Option(help="iterative (least true error, the default), refit, minimax, or least-squares (the paper)."),
    ] = None,
    centre: Annotated[str, typer.Option(help="middle, free (minimax only), or a frequency.")] = "middle",
    convention: Annotated[
        str, typer.Option(help="consistent, or published (the authors' code as it is).")
    ] = "consistent",
    constraint: Annotated[
        str, typer.Option(help="Where |P| <= gamma: on the interval, or at the samples.")
    ] = "interval",
    samples: Annotated[int, typer.Option(help="Frequencies that carry the error.")] = 200,
    transition: Annotated[float, typer.Option(help="Half-width of the band about a cut that does not count.")] = 0.1,
    graph: Annotated[
        str | None, typer.Option(help="Design for the spectrum of this graph (edge file or dataset), not for [0, 2].")
    ] = None,
    interval: Annotated[
        tuple[float, float] | None, typer.Option(help="The frequencies that the filter must serve; 0 2 serves all.")
    ] = None,
    tol: Annotated[float, typer.Option(help="Tolerance for the predicted costs.")] = 1e-6,
    plot: Annotated[Path | None, typer.Option(help="Write the figure here (.png, .pdf, .svg).")] = None,
    save: Annotated[Path | None, typer.Option(help="Write the filter here (.json).")] = None,
    force: Force = False,
) -> None:
    """Design a feedback-looped filter and print its certificate.

    Example: dfnets design --response low-pass --cut 0.5 -p 5 -q 3 --gamma 0.9 --plot out.png --save f.json
    """
    check_outputs(save, figure=plot, force=force)
    values = {"cut": cut, "low": low, "high": high, "time": time, "restart": restart, "points": points}
    wanted = responses.make(response, _chosen(response, values))
    if graph is not None and interval is not None:
        raise ValueError("--interval and --graph both say where the filter shall serve: give one of them")
    shift = None if graph is None else Shift(read_graph(graph), lmax="lanczos")
    try:
        where: Any = float(centre)
    except ValueError:
        where = centre
    f = design(
        wanted,
        p,
        q,
        gamma,
        method=method,  # type: ignore[arg-type]
        convention=convention,  # type: ignore[arg-type]
        centre=where,
        interval=interval or ((0.0, 2.0) if shift is None else shift.interval),
        constraint=constraint,  # type: ignore[arg-type]
        samples=samples,
        transition=transition,
    )
    # What takes long is saved before anything is printed: a closed pipe or a full device cannot lose it.
    if save is not None:
        f.save(save)
    if plot is not None:
        f.plot(plot, graph=shift)
    say(repr(f))
    console.print("psi", [float(f"{c:.8g}") for c in f.psi])
    console.print("phi", [float(f"{c:.8g}") for c in f.phi])
    console.print(f.certificate(tol=tol).table())
    if plot is not None:
        say(f"figure: {plot}")
    if save is not None:
        say(f"filter: {save}")


def _chosen(response: ResponseName, values: dict[str, Any]) -> dict[str, Any]:
    wanted = OPTIONS[response]
    given = {name for name, value in values.items() if value is not None}
    if given - set(wanted):
        raise ValueError(
            f"--{min(given - set(wanted))} does not belong to --response {response}; it takes --{' --'.join(wanted)}"
        )
    if response is ResponseName.interpolated:
        return _points(values["points"])
    defaults = {"cut": 0.5, "low": 0.5, "high": 1.0, "time": 1.0, "restart": 0.1}
    return {name: defaults[name] if values[name] is None else float(values[name]) for name in wanted}


def _points(text: str | None) -> dict[str, list[float]]:
    """The frequencies and gains of "0:1,0.5:1,0.8:0"."""
    try:
        pairs = [tuple(map(float, pair.split(":"))) for pair in (text or "").split(",")]
        frequencies, gains = zip(*pairs, strict=True)
    except ValueError:
        raise ValueError(f"--points {text!r}: it takes frequency:gain pairs, such as 0:1,0.5:1,0.8:0") from None
    return {"frequencies": list(frequencies), "gains": list(gains)}
