"""What is measured: one step beside its peers, its growth with the graph, and a layer's chain beside PyG's ChebConv."""

from __future__ import annotations

import functools
import importlib.util
from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import numpy as np
import torch
from torch import Tensor

from dfnets.engine import autograd, backends
from dfnets.engine.bench import graphs, peers, timing
from dfnets.engine.operator import Operator

HOPS = 5


Maker = Callable[[str], Operator]


class Size(NamedTuple):
    """How large the measured problems are; the random graph of a GPU is too large for any of its caches.

    ``graphs`` are made graphs by name, each from the device; stored ones come on top of them.
    """

    graphs: dict[str, Maker]
    columns: tuple[int, ...]
    scaling: tuple[int, ...]
    chain: tuple[int, int]


def _made(random: tuple[int, int], lattice: int, zipf: tuple[int, int], rmat: tuple[int, int], star: int) -> Any:
    return {
        "random": lambda device: graphs.random(*random, device),
        "lattice": lambda device: graphs.lattice(lattice, device),
        "Zipf, hubs": lambda device: graphs.zipf(*zipf, device),
        "R-MAT": lambda device: graphs.rmat(*rmat, device),
        "star": lambda device: graphs.star(star, device),
        # The size and the largest degree of a network of words.
        "lexical": lambda device: graphs.zipf(117_659, 367_578, device, exponent=0.5),
    }


_CPU = _made((100_000, 1_400_000), 250_000, (100_000, 1_400_000), (1 << 16, 1_200_000), 250_000)
_CUDA = _made((4_000_000, 64_000_000), 4_000_000, (2_000_000, 46_400_000), (1 << 20, 32_000_000), 1_000_000)
_QUICK = _made((20_000, 280_000), 40_000, (20_000, 280_000), (1 << 14, 250_000), 50_000)
SIZES = {
    ("cpu", False): Size(_CPU, (1, 4, 16, 64, 256), (10**5, 10**6, 3 * 10**6, 10**7), (140_000, 1_400_000)),
    ("cpu", True): Size(_QUICK, (1, 16, 64), (10**4, 10**5), (5_000, 70_000)),
    ("cuda", False): Size(_CUDA, (1, 4, 16, 64, 128, 256), (10**5, 10**6, 10**7, 10**8), (4_000_000, 64_000_000)),
    ("cuda", True): Size(_QUICK, (1, 16, 64, 128), (10**5, 10**6), (400_000, 6_400_000)),
}


def steps(device: str, size: Size, report: Callable[[str], None]) -> Iterator[dict[str, Any]]:
    """One fused step on made and on real graphs: seconds and peak bytes of every contender."""
    stored: dict[str, Maker] = {name: functools.partial(graphs.stored, name) for name in graphs.STORED}
    for name, make in {**size.graphs, **stored}.items():
        try:
            operator = make(device)
        except FileNotFoundError as error:
            report(f"skipped {name}: {error}")
            continue
        report(f"{name}: {len(operator.diagonal):,} nodes, {len(operator.indices):,} entries")
        for width in size.columns:
            yield from _step(name, operator, width, torch.float32, device)
        if device != "cpu" and name == "random":
            yield from _step(name, operator, 64, torch.bfloat16, device)


def scaling(device: str, size: Size, width: int = 64) -> Iterator[dict[str, Any]]:
    """Seconds and bytes of our step as the graph grows: random graphs of degree 16, and lattices of degree 4."""
    for entries in size.scaling:
        for name, operator in (
            ("random", graphs.random(entries // 16, entries, device)),
            ("lattice", graphs.lattice(entries // 4, device)),
        ):
            x, c = _signals(operator, width, torch.float32, device)
            call = peers.ours(operator, x, c)
            held = sum(part.numel() * part.element_size() for part in (*operator[:4], x, c, torch.as_tensor(call())))
            yield {
                "graph": name,
                "nodes": len(operator.diagonal),
                "entries": len(operator.indices),
                "columns": width,
                "seconds": timing.medians({"": call}, device)[""],
                "bytes": held,
            }


def chains(device: str, size: Size, width: int = 64) -> Iterator[dict[str, Any]]:
    """A layer of 5 hops, forward and with its backward pass, beside ChebConv over as many hops."""
    operator = graphs.random(*size.chain, device)
    x, _ = _signals(operator, width, torch.float32, device)
    x.requires_grad_()
    layers: dict[str, Callable[[Tensor], Tensor]] = {peers.OURS: _layer(operator, width, device)}
    if importlib.util.find_spec("torch_geometric"):
        from torch_geometric.nn import ChebConv

        peer = ChebConv(width, width, K=HOPS + 1).to(device)
        n = len(operator.diagonal)
        rows = torch.arange(n, device=device).repeat_interleave(operator.indptr.diff())
        edges = torch.stack([operator.indices.long(), rows])
        layers["PyG ChebConv"] = lambda signal: peer(signal, edges)
    forward = timing.medians({name: _forward(layer, x) for name, layer in layers.items()}, device)
    both = timing.medians({name: _both(layer, x) for name, layer in layers.items()}, device)
    for name, layer in layers.items():
        yield {
            "contender": name,
            "nodes": len(operator.diagonal),
            "entries": len(operator.indices),
            "columns": width,
            "forward": forward[name],
            "both": both[name],
            "peak": timing.peak(_both(layer, x), device) if _shows(x.numel() * x.element_size(), device) else None,
            "signal": x.numel() * x.element_size(),
        }


def _signals(operator: Operator, width: int, dtype: torch.dtype, device: str) -> tuple[Tensor, Tensor]:
    """x and c. NumPy's memory on the CPU: it asks for large pages, which every contender then has."""
    shape = (len(operator.diagonal), width)
    if device != "cpu":
        return torch.randn(shape, device=device, dtype=dtype), torch.randn(shape, device=device, dtype=dtype)
    rng = np.random.default_rng(0)
    x, c = (torch.from_numpy(rng.standard_normal(shape, dtype=np.float32)) for _ in range(2))
    return x, c


def _step(name: str, operator: Operator, width: int, dtype: torch.dtype, device: str) -> Iterator[dict[str, Any]]:
    x, c = _signals(operator, width, dtype, device)
    calls = peers.contenders(operator, x, c)
    if dtype != torch.float32:
        calls = {peers.OURS: calls[peers.OURS]}
    _agree(calls, dtype)
    n, entries, item = len(operator.diagonal), len(operator.indices), dtype.itemsize
    # What one product must move: a row of x, an index and a value an entry; x, c, the result and a diagonal a node.
    moved = entries * (width * item + 8) + n * (3 * width * item + 8)
    taken = backends.get(None, device).variant(operator, width, item)
    times, within = timing.compare(calls, device)
    for contender, spent in times.items():
        yield {
            "graph": name,
            "nodes": n,
            "entries": entries,
            "columns": width,
            "dtype": str(dtype).removeprefix("torch."),
            "contender": contender,
            "variant": taken if contender == peers.OURS else "",
            "seconds": spent,
            "within": within,
            "moved": moved,
            "peak": timing.peak(calls[contender], device)
            if _shows(n * width * item, device) and spent < timing.SLOW * min(times.values())
            else None,
        }


def _shows(signal: int, device: str) -> bool:
    """Whether a signal's memory comes and goes with it: the C library keeps blocks of up to 32 MiB when released."""
    return device != "cpu" or signal > 1 << 25


def _agree(calls: dict[str, timing.Call], dtype: torch.dtype) -> None:
    """A fast wrong answer is no answer: every contender must give what ours gives, in some 10,000 rows at least."""
    wanted = _sample(calls[peers.OURS]())
    for name, call in calls.items():
        error = ((_sample(call()) - wanted).norm() / wanted.norm()).item()
        if not error < (1e-5 if dtype == torch.float32 else 1e-2):
            raise AssertionError(f"{name} and {peers.OURS} differ by {error:g}")


def _sample(result: Any) -> Tensor:
    rows = torch.as_tensor(result)
    return rows[:: max(1, len(rows) // 10_000)].double().flatten()


def _layer(operator: Operator, width: int, device: str) -> Callable[[Tensor], Tensor]:
    """The feedback-looped layer without its activation: theta first, then one chain for P and Q together."""
    first, second = (torch.nn.Linear(width, width, bias=False, device=device) for _ in range(2))
    table = torch.linspace(1, 0.1, 2 * (HOPS + 1), device=device).view(2, -1)

    def layer(x: Tensor) -> Tensor:
        return autograd.polynomial(
            operator.parts(),
            operator.centre,
            "power",
            1.0,
            [second(x)[None], first(x)[None]],
            table,
            [HOPS, HOPS],
            None,
        )

    return layer


def _forward(layer: Callable[[Tensor], Tensor], x: Tensor) -> timing.Call:
    def call() -> Tensor:
        with torch.no_grad():
            return layer(x)

    return call


def _both(layer: Callable[[Tensor], Tensor], x: Tensor) -> timing.Call:
    def call() -> None:
        x.grad = None
        layer(x).sum().backward()

    return call
