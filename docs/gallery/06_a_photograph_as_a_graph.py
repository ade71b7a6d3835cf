"""A photograph is a signal on a grid.

Each pixel is joined to its four neighbours. Heat diffusion and a low-pass filter both remove noise. The edges of a
photograph have some of every frequency, so the gentle slope of heat diffusion comes closer to it than a sharp cut.
"""

import numpy as np
from sklearn.datasets import load_sample_image

import dfnets

pixels = load_sample_image("china.jpg").mean(axis=2)[:420, :640].reshape(60, 7, 80, 8).mean(axis=(1, 3)) / 255
graph = dfnets.builders.grid(60, 80)
picture = pixels.ravel()
noisy = picture + np.random.default_rng(0).normal(0, 0.2, picture.size)

low_pass = dfnets.design(dfnets.responses.low_pass(0.3), method="iterative").apply(graph, noisy)
heat = dfnets.design(dfnets.responses.heat(2.0), method="iterative").apply(graph, noisy)
for name, signal in {"noisy": noisy, "heat": heat, "low-pass": low_pass}.items():
    print(f"{name:9} error {np.sqrt(np.mean((signal - picture) ** 2)):.3f}")
columns = np.clip(np.stack([noisy, heat, low_pass], axis=1), 0, 1)
figure = graph.plot(columns, titles=["noisy", "heat diffusion", "low-pass"])
