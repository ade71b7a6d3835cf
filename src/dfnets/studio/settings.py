"""What a person has set in the studio: the arguments of a design, as JSON, as Python and as a command."""

from __future__ import annotations

import json
from typing import Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from dfnets import responses
from dfnets.filters import FeedbackLoopedFilter, design
from dfnets.responses import Response

# Which settings make each response; the order is that of the response's own arguments.
ARGUMENTS = {
    "low_pass": ("cut",),
    "high_pass": ("cut",),
    "band_pass": ("low", "high"),
    "heat": ("time",),
    "pagerank": ("restart",),
    "interpolated": ("frequencies", "gains"),
}


class Settings(BaseModel):
    """The arguments of :func:`dfnets.design` that the page can set; those of other responses are kept, not used."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    response: Literal["low_pass", "high_pass", "band_pass", "heat", "pagerank", "interpolated"] = "low_pass"
    cut: float = 0.5
    low: float = 0.4
    high: float = 0.9
    time: float = 3.0
    restart: float = 0.1
    frequencies: list[float] = Field(default=[0.0, 2.0], max_length=101)
    gains: list[float] = Field(default=[1.0, 0.0], max_length=101)
    p: int = 5
    q: int = 3
    gamma: float = 0.9
    method: Literal["least-squares", "refit", "iterative", "minimax"] = "iterative"
    centre: Literal["middle", "free"] | float = "middle"
    interval: tuple[float, float] = (0.0, 2.0)
    transition: float = 0.1

    def wanted(self) -> Response:
        """The response that these settings ask for."""
        return responses.make(self.response, {name: getattr(self, name) for name in ARGUMENTS[self.response]})

    def design(self) -> FeedbackLoopedFilter:
        """The filter that these settings give."""
        return design(
            self.wanted(),
            self.p,
            self.q,
            self.gamma,
            method=self.method,
            centre=self.centre,
            interval=self.interval,
            transition=self.transition,
        )

    def parameters(self) -> dict[str, Any]:
        """The coefficients of that filter and how they were found, as JSON or another process can take them."""
        return self.design().parameters()

    def filter(self, parameters: dict[str, Any]) -> FeedbackLoopedFilter:
        """The filter with these :meth:`parameters`."""
        return FeedbackLoopedFilter.from_parameters(
            parameters, interval=self.interval, target=self.wanted(), transition=self.transition
        )

    def python(self) -> str:
        """Python lines that give exactly this filter: every number is written so that it reads back as itself."""
        wanted = ", ".join(repr(getattr(self, name)) for name in ARGUMENTS[self.response])
        return (
            "import dfnets\n\n"
            "f = dfnets.design(\n"
            f"    dfnets.responses.{self.response}({wanted}),\n"
            f"    p={self.p}, q={self.q}, gamma={self.gamma!r}, method={json.dumps(self.method)},\n"
            f"    centre={json.dumps(self.centre)}, interval={self.interval!r}, transition={self.transition!r},\n"
            ")\n"
        )

    def command(self) -> str:
        """The command line that gives exactly this filter."""
        if self.response == "interpolated":
            pairs = zip(self.frequencies, self.gains, strict=True)
            wanted = "--points " + ",".join(f"{frequency!r}:{gain!r}" for frequency, gain in pairs)
        else:
            wanted = " ".join(f"--{name} {getattr(self, name)!r}" for name in ARGUMENTS[self.response])
        low, high = self.interval
        return (
            f"dfnets design --response {self.response.replace('_', '-')} {wanted} -p {self.p} -q {self.q} "
            f"--gamma {self.gamma!r} --method {self.method} --centre {self.centre} --interval {low!r} {high!r} "
            f"--transition {self.transition!r} --save filter.json"
        )


def settings_of(f: FeedbackLoopedFilter) -> Settings:
    """The settings that a saved filter was designed with, as far as its file tells."""
    if f.target is None or f.target.name not in ARGUMENTS:
        raise ValueError("this filter has no target response to go on with: design one with dfnets.design and save it")
    if f.provenance.get("convention", "consistent") != "consistent":
        raise ValueError("this filter follows the convention 'published', which the studio does not design")
    wanted: dict[str, Any] = {
        name: list(value) if isinstance(value, tuple) else value for name, value in f.target.parameters.items()
    }
    method = f.provenance.get("method", "iterative")
    centre: Any = f.centre
    if f.centre == sum(f.interval) / 2:
        centre = "middle"
    elif method == "minimax":
        centre = "free"
    return Settings(
        response=f.target.name,  # type: ignore[arg-type]
        p=f.p,
        q=f.q,
        gamma=f.provenance.get("gamma") or 0.9,
        method=method,
        centre=centre,
        interval=f.interval,
        transition=f.transition,
        **wanted,
    )
