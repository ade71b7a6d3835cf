"""A response drawn by hand.

Any gain over the frequencies can be wanted. Points joined by straight lines can also be saved to a file, and the studio
(`dfnets studio`) lets one draw them with the pointer.
"""

import dfnets

wanted = dfnets.responses.interpolated([0, 0.3, 0.5, 0.9, 1.2, 2], [0.2, 0.2, 1.0, 1.0, 0.4, 0.4])
f = dfnets.design(wanted, p=8, q=8, gamma=0.9, method="iterative")
print(f)
print(f"largest error {f.certificate().errors.linf:.3f}")
figure = f.plot()
