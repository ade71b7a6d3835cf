"""Draw a graph that has no coordinates.

Where nodes have no place of their own, they are laid out along the two slowest oscillations of the graph: what is
joined by many short paths lies close together.
"""

import dfnets

ring = dfnets.builders.ring(60).with_(coordinates=None)
digits = dfnets.datasets.load("digits")
print(dfnets.plots.layout(ring)[:3].round(2))
figure = digits.plot(digits.labels, titles="the digits and their nearest neighbours")
