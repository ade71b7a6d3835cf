"""The nodes in two dimensions.

Filtering the pixels over the graph pulls images of the same digit together. t-SNE of the filtered pixels shows it.
"""

import dfnets

graph = dfnets.datasets.load("digits")
f = dfnets.design(dfnets.responses.low_pass(0.3), method="iterative")
smooth = f.apply(graph, graph.features, tol=1e-4)
print("filtered", smooth.shape)
figure = dfnets.plots.embedding_figure(smooth[::2], graph.labels[::2])
