"""Four ways to design the same filter.

`least-squares` is the program of the paper, which does not minimise the error that one sees. `refit` chooses the
numerator again, `iterative` minimises the true error, and `minimax` the largest error outside the transition band.
"""

import numpy as np
from matplotlib.figure import Figure

import dfnets

wanted = dfnets.responses.low_pass(0.5)
figure = Figure(figsize=(8, 4.4), layout="constrained")
axes = figure.subplots()
frequency = np.linspace(0, 2, 801)
axes.plot(frequency, wanted(frequency), "--", color="black", label="wanted")
for method, colour in zip(("least-squares", "refit", "iterative", "minimax"), dfnets.plots.COLOURS, strict=False):
    f = dfnets.design(wanted, p=5, q=3, gamma=0.9, method=method, centre="free" if method == "minimax" else "middle")
    errors = f.certificate().errors
    print(f"{method:14} largest error {errors.linf:.3f}, root mean square {errors.l2:.3f}")
    axes.plot(frequency, f.response(frequency), color=colour, label=method)
axes.axvspan(0.4, 0.6, color="grey", alpha=0.15, linewidth=0, label="transition band")
axes.set(xlabel="frequency", ylabel="gain", title="Four designs of one low-pass filter")
axes.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False)
