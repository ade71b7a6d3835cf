"""Mutants of bounds, certificates, frames and plans."""

from __future__ import annotations

from fuzz.mutant import Mutant

CERTIFICATES = (
    Mutant(
        "constant of the Lanczos bound removed",
        "spectrum.py",
        "np.log(1.648 * np.sqrt(n) / failure)",
        "np.log(np.sqrt(n) / failure)",
        "tests/test_spectrum.py",
    ),
    Mutant(
        "Lanczos filter: the error of the polynomial once, not twice",
        "filters/lanczos.py",
        "return 2 * (float(np.abs(found.coefficients[steps:]).sum()) + found.error)",
        "return 1 * (float(np.abs(found.coefficients[steps:]).sum()) + found.error)",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "float32 rounding of Clenshaw set to 0",
        "filters/base.py",
        "return rounding.of_clenshaw(",
        "return 0 * rounding.of_clenshaw(",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "rounding of the recursion set to 0",
        "filters/feedback.py",
        "return (2 * once + (again + 2) * (r.gain + r.distance)) / (1 - r.contraction)",
        "return 0.0",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "rounding of conjugate gradients set to 0",
        "filters/feedback.py",
        "return 2 * (once + (again + 2) * r.gain) / r.weakest",
        "return 0.0",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "a row of the shift counted as one entry",
        "filters/rounding.py",
        "return (shift.longest_row + 8) *",
        "return 9 *",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "float32 output not rounded",
        "filters/plan.py",
        "last = unit(dtype) * f.gain(shift.interval) if dtype != kind else 0.0",
        "last = 0.0",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "curvature of a cell left out",
        "filters/bounds.py",
        "* radius + curvature * (radius**2 / 2)",
        "* radius + 0 * curvature * (radius**2 / 2)",
        "tests/filters/test_bounds.py",
    ),
    Mutant(
        "slope of a cell left out",
        "filters/bounds.py",
        "drift = np.abs(top_slope - h * bottom_slope) * radius",
        "drift = 0 * np.abs(top_slope - h * bottom_slope) * radius",
        "tests/filters/test_bounds.py",
    ),
    Mutant(
        "zeros inside an ellipse not counted",
        "filters/bounds.py",
        "return largest if _turns(kept) == 0 else np.inf",
        "return largest",
        "tests/filters/test_bounds.py",
    ),
    Mutant(
        "aliasing left out of an expansion",
        "filters/expansion.py",
        "if tail is not None and 2 * tail(count) <= 0.02 * tolerance:",
        "if tail is not None:",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "heat's tail for half the time",
        "responses.py",
        "return ellipse_tail(rho, time * (half * (rho - 1) ** 2 / rho / 2 - interval[0]))",
        "return ellipse_tail(rho, time / 2 * (half * (rho - 1) ** 2 / rho / 2 - interval[0]))",
        "tests/filters/test_expansion.py",
    ),
    Mutant(
        "the bound on |P| not enforced on the stored coefficients",
        "filters/designing.py",
        "        psi = psi * (gamma / reached * (1 - shrink))",
        "        break",
        "tests/filters/test_designing.py",
    ),
    Mutant(
        "work is never refused",
        "filters/plan.py",
        "    if needed > max_products:",
        "    if needed > 10**18:",
        "tests/filters/test_promises.py",
    ),
    Mutant(
        "stop ripple instead of pass ripple",
        "filters/certificate.py",
        "(float(ripple[1]), float(ripple[0])) if target.ideal",
        "(float(ripple[0]), float(ripple[1])) if target.ideal",
        "tests/filters/test_certificate.py",
    ),
    Mutant(
        "frame bounds of the target, not of the filters",
        "filters/frames.py",
        "low, high = range_of(self._squares(interval))",
        "low, high = 1.0, 1.0",
        "tests/filters/test_frames.py",
    ),
)
