"""Logistic regression by scikit-learn, in the form that our networks have."""

from __future__ import annotations

from typing import Any

import numpy as np
import scipy.sparse as sp

# The bias of a class that no training node has: e^-100 is as good as never.
ABSENT = -100.0
STEPS = 1000


def logistic(x: Any, labels: np.ndarray, classes: int, l2: float) -> tuple[np.ndarray, np.ndarray]:
    """The kernel (f, classes) and the bias (classes,) that minimise sum_i cross-entropy_i + l2 / 2 norm(kernel)^2.

    Args:
        x: (m, f) NumPy array or SciPy sparse matrix.
        labels: (m,) numbers of classes.
    """
    from sklearn.linear_model import LogisticRegression

    kernel, bias = np.zeros((x.shape[1], classes)), np.full(classes, ABSENT)
    present = np.unique(labels)
    if len(present) == 1:
        bias[present] = 0
        return kernel, bias
    # A column of zeros has the weight zero, and most columns of sparse features are zero on a few labelled rows.
    used = np.unique(x.nonzero()[1])
    rows = sp.csr_matrix(x) if sp.issparse(x) else x
    fitted = LogisticRegression(C=1 / l2, max_iter=STEPS).fit(rows[:, used].astype(np.float64), labels)
    coefficients, intercepts = fitted.coef_.T, fitted.intercept_
    if len(present) == 2:
        # Only the difference of the two classes is fitted.
        coefficients, intercepts = coefficients * [-0.5, 0.5], intercepts * [-0.5, 0.5]
    kernel[np.ix_(used, present)], bias[present] = coefficients, intercepts
    return kernel, bias
