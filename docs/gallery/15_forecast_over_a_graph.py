"""Forecast the next value of every node from its past and its neighbourhood.

Disturbances spread over a sensor network. What the neighbours, seen through two filters, had a moment ago says more
about what a node will have next than its own past does; four fifths of 0.3, the noise, is the best that can be had.
"""

import numpy as np

import dfnets
from dfnets.plots.style import BLUE, GREY, INK, RED, new_figure
from dfnets.temporal import GraphForecaster

graph = dfnets.builders.sensor(200, seed=0)
wide, narrow = (dfnets.FeedbackLoopedFilter([1 - a], [a], centre=1.0) for a in (0.1, 0.5))
rng = np.random.default_rng(0)
values = [rng.standard_normal(200)]
for _ in range(199):
    values.append(0.95 * wide.apply(graph, values[-1]) + 0.3 * rng.standard_normal(200))
values = np.array(values)

expected = {}
for name, filters in (("with the graph", [wide, narrow]), ("its own past alone", [])):
    model = GraphForecaster(filters, lags=3).fit(graph, values[:150])
    expected[name] = model.predict(graph, values)[150 - model.first : -1]
expected["the last value"] = values[149:-1]
for name, guess in expected.items():
    print(f"{name}: mean error {np.abs(guess - values[150:]).mean():.3f}")

figure = new_figure(8, 3.2)
axes = figure.subplots()
axes.plot(np.arange(150, 200), values[150:, 0], color=INK, label="node 0")
for (name, guess), colour in zip(expected.items(), (BLUE, RED, GREY), strict=True):
    axes.plot(np.arange(150, 200), guess[:, 0], color=colour, linewidth=1, label=name)
axes.set(xlabel="time", ylabel="value")
axes.legend(frameon=False, ncols=2)
