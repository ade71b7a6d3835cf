"""Follow a filtered signal while edges come and go.

Ten edges get new weights at every step. The coefficients of the filter stay, its certificate holds for every snapshot,
and each result starts from the last one: it takes fewer products the less has changed.
"""

import numpy as np

import dfnets
from dfnets.plots.style import BLUE, GREY, new_figure
from dfnets.temporal import Changes, TemporalGraph, follow

start = dfnets.builders.sensor(300, seed=0)
rows, columns = start.adjacency.nonzero()
apart = np.flatnonzero(rows < columns)
rng = np.random.default_rng(0)
changes = []
for t in range(39):
    some = rng.choice(apart, size=200 if t == 19 else 10, replace=False)
    changes.append(Changes(rows[some], columns[some], rng.uniform(0, 1, size=len(some))))
graph = TemporalGraph(start, changes)

f = dfnets.FeedbackLoopedFilter([0.9], [0.1], centre=1.0)
signal = rng.standard_normal(300)
steps = list(follow(f, graph, np.tile(signal, (len(graph), 1)), tol=1e-4, method="recursion"))
scratch = steps[0].products
later = np.mean([step.products for step in steps[1:]])
print(f"from scratch {scratch} products, from the last result {later:.1f} on the mean")
print(f"largest certified error {max(step.error for step in steps):.1e}")

figure = new_figure(8, 3.2)
axes = figure.subplots()
axes.axhline(scratch, color=GREY, label="from scratch")
axes.plot([step.products for step in steps], color=BLUE, marker=".", label="from the last result")
axes.set(xlabel="time (200 edges change at 20, else 10)", ylabel="products", ylim=(0, None))
axes.legend(frameon=False)
