"""Where on a graph which frequencies are.

Half of this ring carries a slow wave and half a fast one. A bank of band-pass filters takes the signal apart, and the
spectrogram shows which band is where.
"""

import numpy as np

import dfnets

graph = dfnets.builders.ring(240)
position = np.arange(240)
signal = np.where(position < 120, np.sin(2 * np.pi * position / 24), np.sin(2 * np.pi * position / 4))


def band(centre):
    return dfnets.ChebyshevFilter.fit(lambda frequency: np.exp(-(((frequency - centre) / 0.18) ** 2)), 40)


bank = [band(centre) for centre in (0.0, 0.25, 0.5, 0.75, 1.0, 1.25)]
figure = dfnets.plots.spectrogram_figure(bank, graph, signal, order=position)
print("bands:", len(bank), "- nodes:", graph.num_nodes)
