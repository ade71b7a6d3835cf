"""Personalised PageRank is a feedback-looped filter of order one.

A unit of attention starts at one node and is passed on to its neighbours; with the restart probability it returns to
the start. The response a / (a + (1 - a) f) is exactly a filter with p = 1 and q = 0.
"""

import numpy as np

import dfnets

graph = dfnets.builders.sensor(500, seed=2)
start = np.zeros(500)
start[np.linalg.norm(graph.coordinates - 0.5, axis=1).argmin()] = 1.0

spread = []
for restart in (0.5, 0.1, 0.02):
    f = dfnets.design(dfnets.responses.pagerank(restart), p=1, q=0, gamma=0.99, method="iterative")
    values = f.apply(graph, start, tol=1e-8)
    spread.append(np.log10(np.maximum(values, 1e-6)))
    print(f"restart {restart}: largest error of the filter {f.certificate().errors.linf:.1e}")
titles = [f"restart {restart}: log10 of the value" for restart in (0.5, 0.1, 0.02)]
figure = graph.plot(np.stack(spread, axis=1), titles=titles)
