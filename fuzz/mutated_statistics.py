"""Mutants of estimates, comparisons and verdicts."""

from __future__ import annotations

from fuzz.mutant import Mutant

STATISTICS = (
    Mutant(
        "standard deviation with n in the denominator",
        "studies/analysing/statistics.py",
        "std = float(array.std(ddof=1))",
        "std = float(array.std(ddof=0))",
        "tests/studies/analysing/test_statistics.py",
    ),
    Mutant(
        "an interval for one side",
        "studies/analysing/statistics.py",
        "half = float(t.ppf((1 + LEVEL) / 2, count - 1) * error)",
        "half = float(t.ppf(LEVEL, count - 1) * error)",
        "tests/studies/analysing/test_statistics.py",
    ),
    Mutant(
        "a normal instead of Student's interval",
        "studies/analysing/statistics.py",
        "half = float(t.ppf((1 + LEVEL) / 2, count - 1) * error)",
        "half = float(t.ppf((1 + LEVEL) / 2, 10**6) * error)",
        "tests/studies/analysing/test_statistics.py",
    ),
    Mutant(
        "a one-sided p-value",
        "studies/analysing/statistics.py",
        "p = float(2 * t.sf(abs(centre) / error, count - 1))",
        "p = float(t.sf(abs(centre) / error, count - 1))",
        "tests/studies/analysing/test_statistics.py",
    ),
    Mutant(
        "a single run is certain",
        "studies/analysing/statistics.py",
        'return Estimate(centre, float("nan"), -np.inf, np.inf, count)',
        "return Estimate(centre, 0.0, centre, centre, count)",
        "tests/studies/analysing/test_statistics.py",
    ),
    Mutant(
        "runs are not paired by seed",
        "studies/analysing/statistics.py",
        "mean([one[seed] - other[seed] for seed in seeds])",
        "mean(np.array(list(one.values())[: len(seeds)]) - np.array(list(other.values())[: len(seeds)]))",
        "tests/studies/analysing/test_statistics.py",
    ),
    Mutant(
        "Holm's factor stays the same for all ranks",
        "studies/analysing/statistics.py",
        "(len(known) - rank) * p",
        "len(known) * p",
        "tests/studies/analysing/test_statistics.py src/dfnets/studies/analysing/statistics.py",
    ),
    Mutant(
        "Holm's p-values may fall",
        "studies/analysing/statistics.py",
        "largest = max(largest, min(1.0, (len(known) - rank) * p))",
        "largest = min(1.0, (len(known) - rank) * p)",
        "tests/studies/analysing/test_statistics.py src/dfnets/studies/analysing/statistics.py",
    ),
    Mutant(
        "no correction for many comparisons",
        "studies/analysing/statistics.py",
        "(len(known) - rank) * p",
        "p",
        "tests/studies/analysing/test_statistics.py src/dfnets/studies/analysing/statistics.py",
    ),
    Mutant(
        "nodes are not drawn again",
        "studies/analysing/bootstrap.py",
        'np.einsum("bn,bn->b", weights @ table, _node_weights(nodes, samples, seed))',
        "(weights @ table).mean(axis=1)",
        "tests/studies/analysing/test_bootstrap.py",
    ),
    Mutant(
        "seeds are not drawn again",
        "studies/analysing/bootstrap.py",
        'np.einsum("bn,bn->b", weights @ table, _node_weights(nodes, samples, seed))',
        "_node_weights(nodes, samples, seed) @ table.mean(axis=0)",
        "tests/studies/analysing/test_bootstrap.py",
    ),
    Mutant(
        "draws are not drawn again",
        "studies/analysing/bootstrap.py",
        "which = rng.integers(len(values), size=(samples, len(values)))",
        "which = np.tile(np.arange(len(values)), (samples, 1))",
        "tests/studies/analysing/test_bootstrap.py",
    ),
    Mutant(
        "the narrower of two intervals",
        "studies/analysing/comparison.py",
        "return min(part.low for part in self._parts)",
        "return max(part.low for part in self._parts)",
        "tests/studies/analysing/test_statistics.py tests/studies/analysing/test_claims.py",
    ),
    Mutant(
        "the smaller of two p-values",
        "studies/analysing/comparison.py",
        "return max(known) if len(known) == len(self._parts) else None",
        "return min(known) if len(known) == len(self._parts) else None",
        "tests/studies/analysing/test_statistics.py tests/studies/analysing/test_claims.py",
    ),
    Mutant(
        "decided without the correct nodes",
        "studies/analysing/comparison.py",
        "return self.nodes is not None and self.adjusted",
        "return self.adjusted",
        "tests/studies/analysing/test_statistics.py tests/studies/analysing/test_claims.py",
    ),
    Mutant(
        "a claim is refuted without a fair search",
        "studies/analysing/verdicts.py",
        "return REFUTED if search is None else search.failed",
        "return REFUTED",
        "tests/studies/analysing/test_claims.py",
    ),
    Mutant(
        "a claim holds though comparisons are missing",
        "studies/analysing/verdicts.py",
        "if not comparisons or any(found is None for found in comparisons):",
        "if not comparisons:",
        "tests/studies/analysing/test_claims.py",
    ),
)
