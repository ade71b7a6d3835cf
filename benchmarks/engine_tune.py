"""One step on the GPU beside cuSPARSE, on the graphs of the bench: ``python -m benchmarks.engine_tune``.

Prints milliseconds for each graph and width, ours with the tile of :func:`dfnets.engine.cuda.tile` and with others, and
how many times faster ours is than the faster of ``torch.addmm`` and product plus add.
"""

from __future__ import annotations

import sys

import torch

from dfnets.engine.bench import graphs, peers, suites, timing

try:
    from dfnets.engine import cuda
except ModuleNotFoundError as error:
    raise SystemExit(f"this measures a GPU with Triton, which is not here: {error}") from error

WIDTHS = (1, 16, 64, 128, 256)
# Numbers of a tile, entries in flight, warps.
OTHERS = ((1024, 4, 2), (1024, 4, 4), (1024, 2, 4), (1024, 8, 2), (1024, 16, 4), (2048, 4, 4))


def main() -> None:
    makers = dict(suites.SIZES["cuda", False].graphs)
    makers |= {name: lambda device, name=name: graphs.stored(name, device) for name in graphs.STORED}
    for name, make in makers.items():
        try:
            operator = make("cuda")
        except FileNotFoundError as error:
            print(f"skipped {name}: {error}")
            continue
        for width in WIDTHS:
            x, c = (torch.randn(len(operator.diagonal), width, device="cuda") for _ in range(2))
            calls = peers.contenders(operator, x, c)
            calls.pop("PyG propagate", None)
            out, weights = torch.empty_like(x), torch.ones(3, device="cuda")
            columns = cuda.tile(width).columns
            for numbers, entries, warps in OTHERS:
                if numbers >= entries * columns:
                    shape = cuda.Tile(numbers // (entries * columns), entries, columns, warps)

                    def call(shape: cuda.Tile = shape) -> None:
                        cuda.step(operator, weights, x, c[None], None, out, None, False, shape)  # noqa: B023

                    calls[str(tuple(shape))] = call
            spent = timing.medians(calls, "cuda", most=5)
            ours = spent.pop(peers.OURS)
            vendor = min(value for contender, value in spent.items() if "cuSPARSE" in contender)
            best = min((value, contender) for contender, value in spent.items() if "cuSPARSE" not in contender)
            print(
                f"{name}, {width} columns: {1e3 * ours:.3f} ms, cuSPARSE {1e3 * vendor:.3f} ms, "
                f"{vendor / ours:.2f} times; best other tile {best[1]}: {1e3 * best[0]:.3f} ms",
                flush=True,
            )


if __name__ == "__main__":
    sys.exit(main())
