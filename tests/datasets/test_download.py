import socket

import pytest

from dfnets.datasets import download as module
from dfnets.datasets.download import DownloadError, download


@pytest.fixture(autouse=True)
def quick(monkeypatch):
    monkeypatch.setattr(module, "PAUSE", 0.01)


def test_whole_file(server):
    server.answers["file"] = bytes(range(256)) * 1000
    assert download(f"{server.url}/file") == server.answers["file"]


def test_missing_file_is_not_asked_for_twice(server):
    with pytest.raises(DownloadError, match="/file: the server answers 404 Not Found"):
        download(f"{server.url}/file")
    assert server.requests == ["file"]


def test_incomplete_answer_is_refused_after_some_attempts(server):
    server.answers["file"] = server.half(b"x" * 1000)
    with pytest.raises(DownloadError, match=r"500 of 1000 bytes came \(3 attempts\)"):
        download(f"{server.url}/file")
    assert len(server.requests) == 3


def test_passing_error_is_got_over(server):
    def fails_once(handler):
        server.answers["file"] = b"content"
        handler.send_error(503)

    server.answers["file"] = fails_once
    assert download(f"{server.url}/file") == b"content"
    assert len(server.requests) == 2


def test_silence_before_and_within_an_answer_ends(server, monkeypatch):
    # Only here: a busy machine may be silent for as long without meaning it.
    monkeypatch.setattr(module, "TIMEOUT", 0.3)
    server.answers["mute"] = lambda _: server.released.wait(600)
    server.answers["half"] = server.half(b"x" * 1000, then_wait=True)
    for file in ("mute", "half"):
        with pytest.raises(DownloadError, match=r"(timed out|silent for 0.3 s) \(3 attempts\)"):
            download(f"{server.url}/{file}")


def test_a_server_that_trickles_or_never_ends_is_left(server, monkeypatch):
    def trickle(handler):
        handler.begin(10**9)
        while not server.released.wait(0.02):
            handler.wfile.write(b"x")

    server.answers["trickle"] = trickle
    monkeypatch.setattr(module, "DEADLINE", 0.2)
    with pytest.raises(DownloadError, match=r"not complete after 0\.2 s"):
        download(f"{server.url}/trickle")
    server.answers["endless"] = b"x" * 2000
    monkeypatch.setattr(module, "LARGEST", 1000)
    with pytest.raises(DownloadError, match="longer than 1000 bytes"):
        download(f"{server.url}/endless")


def test_no_server_and_no_network():
    with socket.socket() as closed:
        closed.bind(("127.0.0.1", 0))
        with pytest.raises(DownloadError, match=r"refused.*\(3 attempts\)"):
            download(f"http://127.0.0.1:{closed.getsockname()[1]}/file")
    with pytest.raises(DownloadError, match="the host is not known here"):
        download("https://no-such-host.invalid/file")


def test_https_only_also_after_a_redirection(server):
    def elsewhere(handler):
        handler.send_response(302)
        handler.send_header("Location", "http://no-such-host.invalid/file")
        handler.end_headers()

    server.answers["file"] = elsewhere
    for url in (f"{server.url}/file", "http://no-such-host.invalid/file", "ftp://x/file", "file:///etc/passwd"):
        with pytest.raises(DownloadError, match="datasets are fetched over https only"):
            download(url)
