"""The studio's server: its answers, and what it refuses."""

from __future__ import annotations

import http.client
import socket
import time
from concurrent.futures import ThreadPoolExecutor
from urllib.parse import urlsplit

import numpy as np
import pytest

import dfnets
from dfnets.studio.settings import Settings


def test_a_design_is_the_filter_of_its_settings(ask) -> None:
    for method in ("refit", "iterative"):
        status, answer = ask("design", {"cut": 0.4, "method": method, "sequence": 1})
        assert status == 200
        f = Settings(cut=0.4, method=method).design()
        assert answer["psi"] == f.psi.tolist()
        np.testing.assert_allclose(answer["response"], f.response(np.array(answer["frequency"])), atol=1e-5)
        assert answer["certificate"]["stable"]


def test_a_slow_design_that_was_overtaken_while_it_waited_is_not_solved(ask) -> None:
    body = {"method": "minimax", "centre": "free", "page": "one tab"}
    with ThreadPoolExecutor(3) as pool:
        asked = []
        for sequence in (1, 2, 3):
            asked.append(pool.submit(ask, "design", {**body, "cut": 0.4 + 0.1 * sequence, "sequence": sequence}))
            # Long enough to keep their order, and shorter than a design takes.
            time.sleep(0.01)
        statuses = [answer.result()[0] for answer in asked]
    assert statuses[1:] == [409, 200]
    # Another page is not concerned.
    assert ask("design", {**body, "page": "another tab", "sequence": 1})[0] == 200


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
