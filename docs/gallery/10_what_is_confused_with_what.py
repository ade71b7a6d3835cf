"""What is confused with what.

The same digits and the same 50 labels, learnt by APPNP, which propagates predictions by personalised PageRank; and a
table of which digit was taken for which among the test images.
"""

import dfnets

graph = dfnets.datasets.load("digits")
split = dfnets.datasets.splits.make(graph, "random", draws=1, per_class=5, validation_per_class=10)
result = dfnets.fit("appnp", graph, protocol=split, replicas=1, epochs=100, progress=False)
print(result.accuracy())
figure = result.plot_confusion()
