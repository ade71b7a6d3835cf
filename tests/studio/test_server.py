"""The studio's server: its answers, and what it refuses."""

from __future__ import annotations

import asyncio
import http.client
import json
import socket
from urllib.parse import urlsplit

import numpy as np
import pytest
from starlette.requests import Request

import dfnets
from dfnets.studio.scenes import SCENES
from dfnets.studio.server import Studio, _listener
from dfnets.studio.settings import Settings


def test_a_design_is_the_filter_of_its_settings(ask) -> None:
    for method in ("refit", "iterative"):
        status, answer = ask("design", {"cut": 0.4, "method": method, "sequence": 1})
        assert status == 200
        f = Settings(cut=0.4, method=method).design()
        assert answer["psi"] == f.psi.tolist()
        np.testing.assert_allclose(answer["response"], f.response(np.array(answer["frequency"])), atol=1e-5)
        assert answer["certificate"]["stable"]


def request(body: dict[str, object]) -> Request:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": json.dumps(body).encode(), "more_body": False}

    return Request({"type": "http", "method": "POST", "path": "/design", "headers": []}, receive)


def test_a_slow_design_that_was_overtaken_while_it_waited_is_not_solved() -> None:
    async def three_designs_of_one_page_and_one_of_another() -> list[int]:
        studio = Studio(SCENES)
        asked = []
        async with studio.turn:  # an earlier design is being solved
            for page, sequence in (("one tab", 1), ("one tab", 2), ("one tab", 3), ("another tab", 1)):
                body = {"method": "minimax", "cut": 0.4 + 0.1 * sequence, "page": page, "sequence": sequence}
                asked.append(asyncio.create_task(studio.design(request(body))))
            while len(studio.newest) < 2:
                await asyncio.sleep(0)
        try:
            return [answer.status_code for answer in await asyncio.gather(*asked)]
        finally:
            studio.solver.shutdown()

    assert asyncio.run(three_designs_of_one_page_and_one_of_another()) == [409, 409, 200, 200]


def test_answers_do_not_wait_for_a_full_packet() -> None:
    """Without TCP_NODELAY each answer took 40 ms longer: its head went out at once, its body on the acknowledgement."""

    async def option_of_a_connection() -> int:
        accepted: asyncio.Future[int] = asyncio.get_running_loop().create_future()

        async def connected(_: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
            accepted.set_result(writer.get_extra_info("socket").getsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY))
            writer.close()

        with _listener(0) as listener:
            async with await asyncio.start_server(connected, sock=listener):
                _, writer = await asyncio.open_connection(*listener.getsockname())
                option = await accepted
                writer.close()
        return option

    assert asyncio.run(option_of_a_connection()) != 0


def test_a_signal_of_ones_own_is_filtered_by_its_own_ids(ask) -> None:
    _, scene = ask("graph/own")
    # The table of signals names the nodes d, c, b, a; the places follow them.
    assert scene["signal"] == [4, 3, 2, 1]
    assert scene["places"] == [[1, 1, 0, 0], [0, 1, 1, 0]]
    f = dfnets.design(dfnets.responses.low_pass(0.5), method="refit")
    body = {"psi": f.psi.tolist(), "phi": f.phi.tolist(), "centre": f.centre, "interval": f.interval}
    status, answer = ask("apply", {"scene": "own", "noise": 0, "final": True, **body})
    ring = dfnets.Graph(np.roll(np.eye(4), 1, axis=1) + np.roll(np.eye(4), -1, axis=1))
    assert status == 200
    np.testing.assert_allclose(answer["after"], f.apply(ring, np.array([4.0, 3, 2, 1])), atol=1e-4)
    assert len(answer["measured"]) > 10


def test_a_file_is_saved_and_opened_again(ask) -> None:
    status, saved = ask("save", {"cut": 0.4, "method": "refit"})
    assert status == 200
    status, opened = ask("open", saved)
    assert status == 200
    assert opened["settings"]["cut"] == 0.4
    assert opened["psi"] == Settings(cut=0.4, method="refit").design().psi.tolist()
    status, answer = ask("open", {**saved, "interval": [0, 1.5]})
    assert (status, "checksum" in answer["error"]) == (422, True)


@pytest.mark.parametrize(
    ("path", "body", "word"),
    [
        ("design", {"p": 99}, "p=99"),
        ("design", {"centre": "free", "method": "refit"}, "give a frequency or"),
        ("design", {"file": "/etc/passwd"}, "file"),
        ("design", [1], "JSON object"),
        ("apply", {"scene": "own"}, "psi"),
        ("graph/../../secret", None, ""),
        ("graph/elsewhere", None, "elsewhere"),
    ],
)
def test_what_is_wrong_is_said(ask, path: str, body, word: str) -> None:
    status, answer = ask(path, body)
    assert status in (404, 422)
    assert word in str(answer)


def test_without_the_token_there_is_nothing(address) -> None:
    parts = urlsplit(address)
    for path in ("/", "/studio.js", "/graph", "/wrong/graph", "//"):
        connection = http.client.HTTPConnection(parts.netloc)
        connection.request("GET", path)
        assert connection.getresponse().status == 404


def test_only_the_files_of_the_page_are_served(ask) -> None:
    for path in ("server.py", "..%2fserver.py", "%2e%2e/server.py", "static/studio.js"):
        assert ask(path)[0] == 404


def test_another_name_for_this_machine_is_refused(address) -> None:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc)
    connection.request("GET", parts.path, headers={"Host": "elsewhere.example"})
    assert connection.getresponse().status == 400


def test_it_listens_on_this_machine_only(address) -> None:
    port = urlsplit(address).port
    assert urlsplit(address).hostname == "127.0.0.1"
    with socket.socket() as other:
        other.settimeout(2)
        # Another address of the same machine: nobody answers there.
        assert other.connect_ex(("127.0.0.2", port)) != 0


def test_the_page_forbids_everything_from_elsewhere(address) -> None:
    parts = urlsplit(address)
    connection = http.client.HTTPConnection(parts.netloc)
    connection.request("GET", parts.path)
    policy = connection.getresponse().headers["Content-Security-Policy"]
    assert "default-src 'none'" in policy
    assert "http" not in policy
