"""Design a filter and read its certificate.

The figure shows what is wanted and what is realised, the feedback with its bound, the poles, and how fast the feedback
loop converges: proved, and measured on a graph.
"""

import dfnets

graph = dfnets.builders.sensor(400, seed=1)
f = dfnets.design(dfnets.responses.low_pass(0.5), p=5, q=3, gamma=0.9, method="iterative")
proved = f.certificate(tol=1e-6)
print("stable:", proved.stable)
print(f"largest |P|: {proved.contraction:.3f}, nearest pole: {proved.pole_margin:.3f} from the interval")
print(f"largest error outside the transition band: {proved.errors.linf:.3f}")
figure = f.plot(graph=graph)
