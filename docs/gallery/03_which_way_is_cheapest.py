"""Which way to apply a filter is the cheapest.

The recursion of the paper, conjugate gradients and a Chebyshev expansion give the same output. The certificate says
beforehand how many products with the graph each needs for a tolerance.
"""

import dfnets

f = dfnets.design(dfnets.responses.high_pass(1.0), p=5, q=3, gamma=0.9, method="iterative")
certificate = f.certificate(tol=1e-6)
for method, cost in certificate.costs.items():
    print(f"{method:10} {cost.products:5} products")
figure = dfnets.plots.certificate_figure(certificate)
