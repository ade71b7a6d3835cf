"""What a product with the shift costs on many processes: ``python -m benchmarks.cluster_model`` prints the tables.

A process with 1/P of the nodes multiplies k columns. Its memory gives ``memory`` bytes per second, its network
``network`` bytes per second after ``latency`` seconds for each message. Own rows are multiplied while the halo is on
its way.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

# Bytes: of a number of a signal (float32), of an entry (index and value, with the float32 copy that is multiplied).
NUMBER, ENTRY, ENTRY_READ = 4, 20, 12
# Signals that a chain of products holds at a time, beside the halo and its messages; other bytes of a node.
SIGNALS, NODE = 5, 40


@dataclass(frozen=True)
class Machine:
    """A process and its network: bytes per second, and seconds."""

    name: str
    memory: float
    network: float
    latency: float


@dataclass(frozen=True)
class Job:
    """A graph on P processes: ``entries`` is twice the number of edges, ``cut`` the share of edges between parts."""

    nodes: float
    entries: float
    columns: int
    processes: int
    cut: float

    @property
    def halo(self) -> float:
        """Nodes that border on a part: each of its cut entries leads to one of the nodes outside, several to some."""
        outside = self.nodes * (1 - 1 / self.processes)
        return outside * -math.expm1(-self.cut * self.entries / self.processes / outside) if outside else 0.0

    def resident(self) -> float:
        """Bytes that a process holds."""
        numbers = SIGNALS * self.nodes / self.processes + 2 * self.halo
        graph = (ENTRY * self.entries + NODE * self.nodes) / self.processes
        return graph + NUMBER * self.columns * numbers

    def moved(self) -> float:
        """Bytes between a process and its memory for one product: entries, the rows that they name, the signals."""
        width = NUMBER * self.columns
        return (self.entries * (ENTRY_READ + width) + 3 * self.nodes * width) / self.processes

    def sent(self) -> float:
        """Bytes that a process sends for one product."""
        return NUMBER * self.columns * self.halo

    def seconds(self, machine: Machine, *, overlap: bool = True) -> float:
        """Of one product: the larger of computing and sending, or both one after the other."""
        computing = self.moved() / machine.memory
        others = min(self.processes - 1, max(1.0, self.halo))
        sending = others * machine.latency + self.sent() / machine.network if self.processes > 1 else 0.0
        return max(computing, sending) if overlap else computing + sending


# One process per socket: about 200 GB/s from memory, of which rows at random places get half.
CLUSTERS = (
    Machine("25 Gbit/s Ethernet", 1e11, 25e9 / 8, 30e-6),
    Machine("200 Gbit/s InfiniBand", 1e11, 200e9 / 8, 2e-6),
)


def main() -> None:
    """The table of docs/scale.md: 32 columns in float32, 20 entries per node, 10 % of the edges between parts."""
    names = " | ".join(machine.name for machine in CLUSTERS)
    print(f"| edges | processes | memory of each | moved by each | sent by each | {names} |")
    print("|---|---|---|---|---|" + "---|" * len(CLUSTERS))
    for edges in (1e9, 1e10, 1e11):
        for processes in (8, 64, 512):
            job = Job(edges / 10, 2 * edges, 32, processes, 0.1)
            times = " | ".join(f"{job.seconds(m):.2g} s" for m in CLUSTERS)
            sizes = " | ".join(f"{size / 2**30:,.2f} GiB" for size in (job.resident(), job.moved(), job.sent()))
            print(f"| 10^{round(math.log10(edges))} | {processes} | {sizes} | {times} |")


if __name__ == "__main__":
    main()
