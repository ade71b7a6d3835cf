"""Learn from five labels per class.

Images of handwritten digits, joined to their nearest neighbours. DFNetPlus learns from 50 labelled images; the epoch is
chosen on validation images, and the accuracy is that of images which chose nothing.
"""

import dfnets

graph = dfnets.datasets.load("digits")
split = dfnets.datasets.splits.make(graph, "random", draws=1, per_class=5, validation_per_class=10)
result = dfnets.fit("dfnet-plus", graph, protocol=split, replicas=1, epochs=150, progress=False)
print(result.accuracy())
figure = result.plot()
