"""The benchmark runs end to end, its peers agree, and its arithmetic is right."""

from __future__ import annotations

import functools
import json
import math
import statistics

import pytest
import torch

from dfnets.engine import bench
from dfnets.engine.bench import graphs, peers, report, suites, timing


@pytest.fixture(autouse=True)
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    made = suites._made((200, 2000), 100, (200, 2000), (256, 2000), 100)
    monkeypatch.setitem(suites.SIZES, ("cpu", True), suites.Size(made, (1, 3), (1000, 4000), (200, 2000)))
    monkeypatch.setattr(graphs, "STORED", ("no_such_mesh",))
    monkeypatch.setattr(timing, "copy_bandwidth", lambda _: 1e10)
    monkeypatch.setattr(timing, "medians", functools.partial(timing.medians, most=3))
    monkeypatch.setattr(timing, "compare", functools.partial(timing.compare, most=3))


def test_a_run_says_what_it_found_and_writes_it(tmp_path):
    said: list[str] = []
    results = bench.run("cpu", tmp_path, quick=True, say=said.append)
    everything = "\n".join(said)
    assert "skipped no_such_mesh: no_such_mesh.npz is neither in" in everything
    assert "| random" in everything
    assert "| PyG ChebConv |" in everything
    assert json.loads((tmp_path / "engine-cpu.json").read_text()) == results
    assert (tmp_path / "engine-cpu.png").stat().st_size > 1000
    assert {record["contender"] for record in results["steps"]} >= {"dfnets", "SciPy", "torch.sparse.mm"}


def test_a_contender_that_errs_is_found_out():
    right = torch.ones(3)
    with pytest.raises(AssertionError, match="other and dfnets differ"):
        suites._agree({peers.OURS: lambda: right, "other": lambda: right + 1e-3}, torch.float32)


def test_graphs_are_symmetric_and_of_the_size_asked_for():
    for operator in (
        graphs.random(500, 8000, "cpu"),
        graphs.lattice(400, "cpu"),
        graphs.zipf(500, 4000, "cpu"),
        graphs.rmat(512, 4000, "cpu"),
        graphs.star(300, "cpu"),
    ):
        n = len(operator.diagonal)
        dense = torch.sparse_csr_tensor(*operator[:3], size=(n, n), check_invariants=True).to_dense()
        assert torch.equal(dense, dense.T)
        assert dense.diagonal().abs().sum() == 0
        # Row sums of the weights are 1 - 1/d seen through D^-1/2: L^ D^1/2 1 = 0.
        root = (1 - operator.diagonal).rsqrt()
        residual = (dense @ root + operator.diagonal * root) / root  # of a hub, root is large
        torch.testing.assert_close(residual, torch.zeros(n), atol=1e-5, rtol=0)
    assert len(graphs.lattice(400, "cpu").indices) == 1600


def test_exponents_and_speedups():
    records = [{"entries": e, "bytes": 3 * e**1.5} for e in (10, 100, 1000)]
    assert report.exponent(records, "bytes") == pytest.approx(1.5)
    case = {"dfnets": {"seconds": 2.0}, "a": {"seconds": 5.0}, "b": {"seconds": 4.0}}
    assert report.speedup(case) == 2.0
    assert report.speedup({"dfnets": {"seconds": 2.0}}) is None


def test_peak_sees_what_a_call_allocates():
    def call() -> int:
        return int(torch.ones(30_000_000).sum())

    found = timing.peak(call, "cpu")
    assert found is None or found == pytest.approx(1.2e8, rel=0.1)


def test_rounds_end_when_the_ratio_is_known_and_slow_contenders_are_timed_once(monkeypatch):
    """By a clock that is made up: ours was held up when first called, and must be timed in rounds all the same."""
    spent = {"ours": 1.0, "near": 1e-3, "far": 1.1e-2}
    calls = {name: (lambda name=name: name) for name in spent}
    timed = []

    def in_a_row(call, _count):
        timed.append(call())
        return {"ours": 2e-3, "near": 3e-3}[call()]

    monkeypatch.setattr(timing, "_first", lambda call, _device: spent[call()])
    monkeypatch.setattr(timing, "_in_a_row", in_a_row)
    times, within = timing.compare(calls, "cpu", most=31)
    assert times == {"ours": 2e-3, "near": 3e-3, "far": 1.1e-2}
    assert within == 0
    assert timed == ["ours", "near"] * timing.LEAST


def test_how_closely_a_ratio_is_known():
    ours, near, far = [1.0, 1.0, 1.0, 1.0], [2.0, 2.2, 1.8, 2.0], [9.0, 9.0, 1.0, 9.0]
    logarithms = sorted(math.log(t) for t in near)
    low, _, high = statistics.quantiles(logarithms, n=4)
    assert timing._closeness([ours, near, far]) == pytest.approx(1.57 * (high - low) / 2)
    assert timing._closeness([near[:2], ours[:2]]) == math.inf
