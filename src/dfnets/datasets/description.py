"""What a graph is like: counts, degrees, classes, spectrum, and the paper's figures beside ours."""

from __future__ import annotations

from dataclasses import dataclass
from os import PathLike
from typing import TYPE_CHECKING

import numpy as np
import scipy.sparse.csgraph

from dfnets.datasets.catalogue import ENTRIES, Counts
from dfnets.graph import Graph
from dfnets.shift import Shift
from dfnets.terminal import cell

if TYPE_CHECKING:
    from rich.table import Table


@dataclass(frozen=True, eq=False)
class Description:
    """The facts of a graph.

    Attributes:
        edges: distinct undirected ones, self-loops among them.
        components, largest_component: connected components, and the nodes in the largest.
        degrees: (n,) numbers of neighbours, without weights and self-loops.
        features: columns; 0 when there are none.
        class_sizes: labelled nodes by class name, only classes that are in use.
        labelled: nodes with a known label.
        label_rate: the share of nodes that a model learns from: the Planetoid training nodes, or all labelled ones
            where there is no such split; None without labels.
        homophily: of the edges whose ends are both labelled, the share that join one class; None when there are none.
        interval, certainty: what holds the frequencies, and how surely (:class:`Shift`).
        density: frequencies and weights that stand for the spectrum.
        paper: the paper's counts, for its four datasets.
    """

    name: str
    nodes: int
    edges: int
    self_loops: int
    components: int
    largest_component: int
    isolated: int
    degrees: np.ndarray
    features: int
    class_sizes: dict[str, int]
    labelled: int
    label_rate: float | None
    homophily: float | None
    interval: tuple[float, float]
    certainty: str
    density: tuple[np.ndarray, np.ndarray]
    paper: Counts | None

    def table(self) -> Table:
        """For ``rich.print``: a row a fact, with the paper's count beside ours where it gives one."""
        from rich.table import Table

        reason = self.paper.reason if self.paper else None
        table = Table(title=cell(self.name), caption=reason, caption_justify="left", title_justify="left")
        table.add_column("")
        table.add_column("here", justify="right")
        if self.paper:
            table.add_column("paper", justify="right")
        for fact, here, paper in self._rows():
            table.add_row(fact, here, *([paper] if self.paper else []))
        return table

    def figure(self, path: str | PathLike[str]) -> None:
        """Degrees, class sizes and spectral density in one picture; the suffix of ``path`` says which format."""
        from matplotlib.figure import Figure

        from dfnets.plots import save_figure

        figure = Figure(figsize=(12, 3.5), layout="constrained")
        degrees, classes, spectrum = figure.subplots(1, 3)
        sizes, counts = np.unique(self.degrees, return_counts=True)
        degrees.plot(sizes, counts, ".")
        # Degree 0 has no place on a logarithmic axis; this one is linear up to 1.
        degrees.set_xscale("symlog", linthresh=1)
        degrees.set(title="degrees", xlabel="neighbours", ylabel="nodes", yscale="log")
        classes.bar([_no_formula(name) for name in self.class_sizes], list(self.class_sizes.values()))
        classes.set(title="classes", ylabel="labelled nodes")
        if len(self.class_sizes) > 20:
            classes.set_xticks([])
        else:
            classes.tick_params(axis="x", rotation=90)
        spectrum.hist(self.density[0], bins=60, range=(0, 2), weights=self.density[1])
        for end in self.interval:
            spectrum.axvline(end, color="black", linestyle=":")
        spectrum.set(title="spectral density", xlabel="frequency", ylabel="share of eigenvalues")
        figure.suptitle(_no_formula(self.name))
        save_figure(figure, path)

    def _rows(self) -> list[tuple[str, str, str]]:
        paper = self.paper
        mean, median, largest = self.degrees.mean(), np.median(self.degrees), self.degrees.max()
        rows = [
            ("nodes", str(self.nodes), str(paper.nodes) if paper else ""),
            ("edges", str(self.edges), str(paper.edges) if paper else ""),
            ("self-loops", str(self.self_loops), ""),
            ("components", f"{self.components} (largest {self.largest_component})", ""),
            ("isolated nodes", str(self.isolated), ""),
            ("degree mean / median / max", f"{mean:.2f} / {median:g} / {largest}", ""),
            ("features", str(self.features), str(paper.features) if paper else ""),
            ("classes in use", str(len(self.class_sizes)), str(paper.classes) if paper else ""),
            ("labelled nodes", str(self.labelled), ""),
            ("frequencies", f"[{self.interval[0]:g}, {self.interval[1]:.4f}] {self.certainty}", ""),
        ]
        if self.class_sizes:
            small, large = min(self.class_sizes.values()), max(self.class_sizes.values())
            rows.insert(8, ("nodes a class", f"{small} to {large}", ""))
        if self.label_rate is not None:
            rows.append(("label rate", f"{self.label_rate:.4f}", str(paper.label_rate) if paper else ""))
        if self.homophily is not None:
            rows.append(("edge homophily", f"{self.homophily:.3f}", ""))
        return rows


def _no_formula(name: str) -> str:
    """Matplotlib would set what stands between two dollars as mathematics, or fail to."""
    return name.replace("$", r"\$")


def describe(graph: Graph) -> Description:
    """The facts of a graph; a few hundred products with its shift are needed for the spectrum."""
    pattern = graph.adjacency
    loops = pattern.diagonal() > 0
    degrees = np.diff(pattern.indptr) - loops
    components, membership = scipy.sparse.csgraph.connected_components(pattern, directed=False)
    labels = np.full(graph.num_nodes, -1) if graph.labels is None else graph.labels
    classes, sizes = np.unique(labels[labels >= 0], return_counts=True)
    labelled = int(sizes.sum())
    learnt = len(graph.splits["planetoid"][0].train) if "planetoid" in graph.splits else labelled
    shift = Shift(graph, lmax="lanczos")
    entry = ENTRIES.get(graph.name)
    return Description(
        name=graph.name,
        nodes=graph.num_nodes,
        edges=graph.num_edges,
        self_loops=int(loops.sum()),
        components=int(components),
        largest_component=int(np.bincount(membership).max()),
        isolated=int((degrees == 0).sum()),
        degrees=degrees,
        features=0 if graph.features is None else graph.features.shape[1],
        class_sizes={
            graph.label_names[c] if graph.label_names else str(c): int(size)
            for c, size in zip(classes, sizes, strict=True)
        },
        labelled=labelled,
        label_rate=learnt / graph.num_nodes if labelled else None,
        homophily=_homophily(graph, labels),
        interval=shift.interval,
        certainty=shift.certainty,
        density=shift.density(),
        paper=entry.paper if entry else None,
    )


def _homophily(graph: Graph, labels: np.ndarray) -> float | None:
    edges = graph.adjacency.tocoo()
    known = (edges.row < edges.col) & (labels[edges.row] >= 0) & (labels[edges.col] >= 0)
    if not known.any():
        return None
    return float((labels[edges.row[known]] == labels[edges.col[known]]).mean())
