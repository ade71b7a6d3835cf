"""Which tile of the CUDA kernel is fastest on this GPU: ``python -m benchmarks.engine_tune``.

Checks every tile against float64 first, then times it on a random graph that no cache holds. The winners are what
``dfnets.engine.cuda.tile`` is written from.
"""

from __future__ import annotations

import itertools
import sys
import time

import torch

from dfnets.engine import cuda
from dfnets.engine.bench import graphs
from dfnets.engine.operator import Operator


def main(n: int = 4_000_000, entries: int = 64_000_000) -> None:
    small, large = graphs.random(3001, 40_000, "cuda"), graphs.random(n, entries, "cuda")
    for dtype, width in itertools.product((torch.float32, torch.bfloat16), (8, 16, 32, 64, 128, 256)):
        x, c = (torch.randn(n, width, device="cuda", dtype=dtype) for _ in range(2))
        out = torch.empty_like(x)
        timed = []
        began = time.perf_counter()
        for tile in tiles(width, dtype.itemsize):
            try:
                check(small, width, dtype, tile)
            except Exception as error:
                print("failed", dtype, width, tile, str(error)[:200], flush=True)
                continue
            timed.append((seconds(large, x, c, out, tile), tile))
        timed.sort()
        moved = len(large.indices) * (8 + width * dtype.itemsize) + n * (3 * width * dtype.itemsize + 8)
        print(f"{dtype} {width} columns: {len(timed)} tiles in {time.perf_counter() - began:.0f} s", flush=True)
        for spent, tile in [*timed[:6], *timed[-1:]]:
            print(f"  {spent * 1e3:7.3f} ms {moved / spent / 1e12:5.2f} TB/s {tuple(tile)}", flush=True)
    big = torch.randn(1 << 30, device="cuda")
    target = torch.empty_like(big)
    spent = median(lambda: target.copy_(big))
    print(f"copy: {2 * big.numel() * 4 / spent / 1e12:.2f} TB/s")


def tiles(width: int, itemsize: int) -> list[cuda.Tile]:
    """Tiles of 8 to 32 entries a thread, one to eight neighbours in flight, as wide as the signal or half as wide."""
    found = set()
    sizes = (8, 16, 32) if itemsize == 4 else (16, 32)
    for neighbours, warps, each in itertools.product((1, 2, 4, 8), (1, 2, 4), sizes):
        for columns in {min(width, 128), min(width, 64)}:
            rows = each * 32 * warps // (neighbours * columns)
            if rows:
                found.add(cuda.Tile(rows, neighbours, columns, warps))
    return sorted(found)


def check(operator: Operator, width: int, dtype: torch.dtype, tile: cuda.Tile) -> None:
    n = len(operator.diagonal)
    x, c = (torch.randn(n, width, device="cuda", dtype=dtype) for _ in range(2))
    out = torch.full_like(x, torch.nan)
    run(operator, x, c, out, tile)
    matrix = torch.sparse_csr_tensor(
        operator.indptr, operator.indices, operator.values.double(), size=(n, n)
    ).to_dense()
    matrix += torch.diag(operator.diagonal.double() - operator.centre)
    wanted = matrix @ x.double() + c.double()
    error = ((out.double() - wanted).norm() / wanted.norm()).item()
    if not error < (1e-6 if dtype == torch.float32 else 4e-3):
        raise ValueError(f"relative error {error:g}")


def run(operator: Operator, x: torch.Tensor, c: torch.Tensor, out: torch.Tensor, tile: cuda.Tile) -> None:
    weights = torch.tensor([1.0, 1.0, 0.0, 0.0, 0.0], device="cuda")
    cuda.step(operator, weights, x, c, None, out, None, None, tile)


def seconds(operator: Operator, x: torch.Tensor, c: torch.Tensor, out: torch.Tensor, tile: cuda.Tile) -> float:
    return median(lambda: run(operator, x, c, out, tile))


def median(call: object, repeats: int = 7) -> float:
    spent = []
    for _ in range(repeats + 1):
        start, stop = (torch.cuda.Event(enable_timing=True) for _ in range(2))
        start.record()
        call()  # type: ignore[operator]
        stop.record()
        stop.synchronize()
        spent.append(start.elapsed_time(stop) / 1e3)
    return sorted(spent[1:])[repeats // 2]


if __name__ == "__main__":
    sys.exit(main())
