"""The studio's server: five small answers in JSON, and one page, for whoever has the token, on this machine only."""

from __future__ import annotations

import asyncio
import json
import multiprocessing
import secrets
import socket
import tempfile
from collections.abc import Callable, Mapping
from concurrent.futures import ProcessPoolExecutor
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import numpy as np
from pydantic import BaseModel, ConfigDict, ValidationError
from starlette.applications import Starlette
from starlette.concurrency import run_in_threadpool
from starlette.middleware import Middleware
from starlette.middleware.trustedhost import TrustedHostMiddleware
from starlette.requests import Request
from starlette.responses import FileResponse, JSONResponse, Response
from starlette.routing import Route

from dfnets.filters import FeedbackLoopedFilter, load
from dfnets.studio import describe
from dfnets.studio.scenes import SCENES, Scene
from dfnets.studio.settings import Settings, settings_of

HOST = "127.0.0.1"
STATIC = Path(__file__).parent / "static"
PAGES = ("index.html", "studio.css", "studio.js", "charts.js", "editor.js", "network.js", "lanes.js")
# What takes longer than a frame; it is solved in a process of its own, so that dragging stays smooth meanwhile.
SLOW = ("iterative", "minimax")
LARGEST_BODY = 1 << 20
MOST_PAGES = 32
HEADERS = {
    "Content-Security-Policy": "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
    "Cache-Control": "no-store",
}


class Application(BaseModel):
    """A filter by its coefficients, and the signal that it shall be applied to."""

    model_config = ConfigDict(extra="forbid", allow_inf_nan=False)

    scene: str
    noise: float
    psi: list[float]
    phi: list[float]
    centre: float
    interval: tuple[float, float]
    final: bool = False


class Studio:
    """The state behind one page: its scenes, made when they are first looked at, and the solver's process."""

    def __init__(self, scenes: Mapping[str, Callable[[], Scene]]) -> None:
        self.makers = dict(scenes)
        self.scenes: dict[str, Scene] = {}
        self.newest: dict[str, int] = {}
        self.turn = asyncio.Lock()
        self.solver = ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn"))

    def scene(self, name: str) -> Scene:
        """A scene by its name; it is made once."""
        if name not in self.makers:
            raise ValueError(f"there is no graph {name!r}; there are {', '.join(self.makers)}")
        if name not in self.scenes:
            self.scenes[name] = self.makers[name]()
        return self.scenes[name]

    async def graph(self, request: Request) -> Response:
        """GET: the names of all graphs, or what it takes to draw one."""
        name = request.path_params.get("name")
        if name is None:
            return JSONResponse({"names": list(self.makers)})
        return JSONResponse(await run_in_threadpool(lambda: self.scene(name).content()))

    async def design(self, request: Request) -> Response:
        """POST settings, which page asks, and its count of requests: the filter.

        Of slow designs that wait for their turn, only the newest of a page is solved.
        """
        body = await _body(request)
        page, sequence = str(body.pop("page", "")), int(body.pop("sequence", 0))
        settings = Settings.model_validate(body)
        # Pages that were closed are forgotten, the oldest first.
        self.newest = dict([*self.newest.items(), (page, max(sequence, self.newest.get(page, 0)))][-MOST_PAGES:])
        if settings.method in SLOW:
            async with self.turn:
                if page and sequence < self.newest.get(page, 0):
                    return JSONResponse({"error": "superseded by a newer request"}, status_code=409)
                f = await self._solved(settings)
        else:
            f = await run_in_threadpool(settings.design)
        answer = await run_in_threadpool(describe.curves, f)
        return JSONResponse(answer | {"python": settings.python(), "command": settings.command()})

    async def _solved(self, settings: Settings) -> FeedbackLoopedFilter:
        """The design in the solver's process. Its coefficients come back; a response holds a function, which cannot."""
        parameters = await asyncio.get_running_loop().run_in_executor(self.solver, Settings.parameters, settings)
        return settings.filter(parameters)

    async def apply(self, request: Request) -> Response:
        """POST a filter, a graph and a noise: the signal before and after, with what that took."""
        asked = Application.model_validate(await _body(request))
        return JSONResponse(await run_in_threadpool(self._applied, asked))

    def _applied(self, asked: Application) -> dict[str, Any]:
        scene = self.scene(asked.scene)
        f = FeedbackLoopedFilter(asked.psi, asked.phi, asked.centre, asked.interval)
        shift = f.shift_of(scene.shift)
        noisy = scene.noisy(asked.noise)
        done = f.apply(shift, noisy, tol=describe.TOLERANCE, details=True)
        return {
            "before": describe.numbers(noisy[scene.drawn], 5),
            "after": describe.numbers(done.signal[scene.drawn], 5),
            "error_before": _relative_error(noisy, scene.signal),
            "error_after": _relative_error(done.signal, scene.signal),
            "method": done.method,
            "products": done.products,
            "error": describe.finite(done.error),
            "costs": describe.costs(f, shift),
            "measured": describe.measured(f, shift, noisy) if asked.final else None,
        }

    async def save(self, request: Request) -> Response:
        """POST settings: the file that ``dfnets design --save`` writes."""
        f = await self._solved(Settings.model_validate(await _body(request)))
        with tempfile.TemporaryDirectory() as folder:
            f.save(Path(folder) / "filter.json")
            return Response((Path(folder) / "filter.json").read_text(), media_type="application/json")

    async def open(self, request: Request) -> Response:
        """POST a filter file: the settings that it was designed with, and its coefficients."""
        body = await _body(request)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "the file"
            path.write_text(json.dumps(body))
            f = load(path)
        if not isinstance(f, FeedbackLoopedFilter):
            raise ValueError(f"this file holds a {f.kind!r} filter; the studio designs feedback-looped ones")
        settings = settings_of(f).model_dump(exclude_unset=True)
        return JSONResponse({"settings": settings, "psi": f.psi.tolist(), "phi": f.phi.tolist()})


def make_app(token: str, scenes: Mapping[str, Callable[[], Scene]] | None = None) -> Starlette:
    """The application. Every address begins with the token; any other is not found."""
    studio = Studio(scenes or SCENES)

    @asynccontextmanager
    async def lifespan(_: Starlette) -> Any:
        # The first task starts the process, so that the first slow design does not wait for its imports.
        studio.solver.submit(Settings)
        yield
        studio.solver.shutdown(wait=False, cancel_futures=True)

    def page(request: Request) -> Response:
        name = request.path_params.get("page", "") or "index.html"
        return FileResponse(STATIC / name) if name in PAGES else Response("not found", 404)

    routes = [
        Route(f"/{token}/graph", studio.graph),
        Route(f"/{token}/graph/{{name}}", studio.graph),
        Route(f"/{token}/design", studio.design, methods=["POST"]),
        Route(f"/{token}/apply", studio.apply, methods=["POST"]),
        Route(f"/{token}/save", studio.save, methods=["POST"]),
        Route(f"/{token}/open", studio.open, methods=["POST"]),
        Route(f"/{token}/", page),
        Route(f"/{token}/{{page}}", page),
    ]
    # Another site that points its own name at this machine is refused by its Host header.
    hosts = Middleware(TrustedHostMiddleware, allowed_hosts=[HOST, "localhost"])
    errors: Any = {ValueError: _refused, ArithmeticError: _refused}
    return Starlette(routes=routes, middleware=[hosts], exception_handlers=errors, lifespan=lifespan)


async def _body(request: Request) -> dict[str, Any]:
    received = bytearray()
    async for chunk in request.stream():
        received += chunk
        if len(received) > LARGEST_BODY:
            raise ValueError(f"the request is larger than {LARGEST_BODY} bytes")
    body = json.loads(received)
    if not isinstance(body, dict):
        raise ValueError("the request must be a JSON object")
    return body


async def _refused(_: Request, error: Exception) -> Response:
    """Bad input, in words, for the page to show."""
    if isinstance(error, ValidationError):
        text = "; ".join(f"{'.'.join(map(str, entry['loc']))}: {entry['msg']}" for entry in error.errors())
    else:
        text = str(error)
    return JSONResponse({"error": text}, status_code=422)


def _relative_error(signal: np.ndarray, clean: np.ndarray) -> float | None:
    """norm(signal - clean) / norm(clean - its mean)."""
    size = float(np.linalg.norm(clean - clean.mean()))
    return describe.finite(float(np.linalg.norm(signal - clean)) / size) if size else None


def serve(
    scenes: Mapping[str, Callable[[], Scene]], port: int = 0, ready: Callable[[str], None] = lambda _: None
) -> None:
    """Serve the studio on 127.0.0.1 until it is interrupted; ``ready`` is given its address."""
    import uvicorn

    token = secrets.token_urlsafe(24)
    with _listener(port) as listener:
        ready(f"http://{HOST}:{listener.getsockname()[1]}/{token}/")
        config = uvicorn.Config(make_app(token, scenes), log_level="warning", headers=list(HEADERS.items()))
        uvicorn.Server(config).run(sockets=[listener])


def _listener(port: int) -> socket.socket:
    """A listening socket on this machine only; port 0 takes a free one.

    It says that it speaks TCP, because asyncio turns off the waiting for full packets (40 ms per answer) only then.
    """
    listener = socket.socket(socket.AF_INET, socket.SOCK_STREAM, socket.IPPROTO_TCP)
    try:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        listener.bind((HOST, port))
        listener.listen()
    except BaseException:
        listener.close()
        raise
    return listener
