"""A file over HTTP, in memory: whole, or not at all."""

from __future__ import annotations

import http.client
import socket
import time
import urllib.error
import urllib.parse
import urllib.request
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

TIMEOUT = 15.0
"""Seconds that a server may stay silent."""
DEADLINE = 600.0
"""Seconds for a whole file: a server that trickles is not silent."""
ATTEMPTS = 3
PAUSE = 0.5
"""Seconds before the second attempt; twice as many before each one after it."""
LARGEST = 512 * 2**20
"""Bytes that no file of ours comes near: a longer answer is not the file."""


class DownloadError(OSError):
    """A file that could not be had; the message names its address and the reason."""


class _PassingError(Exception):
    """A failure that another attempt may not meet."""


def download(url: str) -> bytes:
    """The content at an https address, with a progress bar on a terminal.

    Silence, a broken connection, an incomplete answer and an error of the server are tried again; an address that
    does not exist is not.
    """
    _check_address(url)
    for attempt in range(ATTEMPTS):
        if attempt:
            time.sleep(PAUSE * 2 ** (attempt - 1))
        try:
            return _attempt(url)
        except _PassingError as error:
            reason = error
    raise DownloadError(f"{url}: {reason} ({ATTEMPTS} attempts)")


def _check_address(url: str) -> None:
    """Only https: with http, anybody on the way can put another file in the place of ours. This machine may."""
    parts = urllib.parse.urlsplit(url)
    here = parts.scheme == "http" and parts.hostname in ("127.0.0.1", "localhost", "::1")
    if parts.scheme != "https" and not here:
        raise DownloadError(f"{url}: datasets are fetched over https only")


class _Redirects(urllib.request.HTTPRedirectHandler):
    """Follows a redirection unless it leads away from https."""

    def redirect_request(self, request: Any, fp: Any, code: Any, message: Any, headers: Any, newurl: str) -> Any:
        _check_address(newurl)
        return super().redirect_request(request, fp, code, message, headers, newurl)


_OPENER = urllib.request.build_opener(_Redirects)


def _attempt(url: str) -> bytes:
    try:
        with _OPENER.open(url, timeout=TIMEOUT) as response:
            return _body(response, url)
    except urllib.error.HTTPError as error:
        message = f"the server answers {error.code} {error.reason}"
        if error.code >= 500 or error.code == 429:
            raise _PassingError(message) from None
        raise DownloadError(f"{url}: {message}") from None
    except urllib.error.URLError as error:
        if isinstance(error.reason, socket.gaierror):
            raise DownloadError(f"{url}: the host is not known here (no network?)") from None
        raise _PassingError(str(error.reason)) from None
    except TimeoutError:
        raise _PassingError(f"the server was silent for {TIMEOUT:g} s") from None
    except (ConnectionError, http.client.HTTPException) as error:
        raise _PassingError(f"the connection broke: {error!r}") from None


def _body(response: http.client.HTTPResponse, url: str) -> bytes:
    end = time.monotonic() + DEADLINE
    announced = response.headers.get("Content-Length")
    expected = int(announced) if announced and announced.isdecimal() else None
    content = bytearray()
    with _progress(url, expected) as advance:
        # read1 returns what has come; read would wait for the whole piece, past any deadline.
        while chunk := response.read1(2**16):
            content += chunk
            advance(len(chunk))
            if len(content) > LARGEST:
                raise DownloadError(f"{url}: the answer is longer than {LARGEST} bytes")
            if time.monotonic() > end:
                raise DownloadError(f"{url}: not complete after {DEADLINE:g} s")
    # Python does not report a body that ends early when it is read in pieces.
    if expected is not None and len(content) != expected:
        raise _PassingError(f"{len(content)} of {expected} bytes came")
    return bytes(content)


@contextmanager
def _progress(url: str, total: int | None) -> Iterator[Callable[[int], None]]:
    from rich.console import Console
    from rich.progress import BarColumn, DownloadColumn, Progress, TextColumn, TransferSpeedColumn

    console = Console(stderr=True)
    columns = (TextColumn("{task.description}"), BarColumn(), DownloadColumn(), TransferSpeedColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        task = progress.add_task(url.rsplit("/", 1)[-1], total=total)
        yield lambda size: progress.advance(task, size)
