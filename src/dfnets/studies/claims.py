"""What of the paper holds: each claim with its measurement and a verdict, both computed from runs."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from dfnets.datasets.splits import LOW_LABEL_RATES
from dfnets.studies import (
    ablation,
    baselines,
    complexity,
    embeddings,
    filters,
    low_labels,
    orders,
    published,
    stability,
    statistics,
)
from dfnets.studies.plan import CITATION, PAPER_DATASETS, Group, Study
from dfnets.studies.results import Results
from dfnets.studies.shown import Part, Table
from dfnets.studies.statistics import Estimate

HOLDS, FAILS, UNDECIDED, MISSING = "holds", "does not hold", "not decided", "not measured"
RIVALS = tuple(m for m in published.MODELS.values() if m not in (*baselines.OURS, "gcn-dense", "gat-dense"))
LINEAR = (0.8, 1.2)
# An exponent whose interval is wider than this to either side says nothing.
CLEAR = 0.5
# Points of accuracy: an interval no wider than this to either side is taken for the figure that it holds.
NARROW = 1.0


@dataclass(frozen=True)
class Finding:
    """A verdict, and the measurement that it comes from."""

    verdict: str
    measurement: str


@dataclass(frozen=True)
class Claim:
    """A sentence of the paper, and what decides it."""

    name: str
    text: str
    check: Callable[[Results], Finding]


def judged(estimates: Sequence[Estimate | None]) -> str:
    """Whether every difference is above zero: with its whole interval, or nothing is decided.

    One that is not above zero refutes the claim, even where others are missing.

    >>> judged([statistics.mean([1.0, 1.1, 0.9]), statistics.mean([-1.0, 3.0])])
    'not decided'
    """
    if any(found is not None and found.mean <= 0 for found in estimates):
        return FAILS
    if not estimates or any(found is None for found in estimates):
        return MISSING
    return HOLDS if all(found.low > 0 for found in estimates if found is not None) else UNDECIDED


def reached(found: Estimate, figure: float) -> str:
    """Whether a mean is as high as a figure, or its interval is when that is narrow enough to say anything.

    >>> reached(statistics.mean([84.9, 85.1, 85.2, 85.4]), 85.2), reached(statistics.mean([80.0, 84.0]), 85.2)
    ('holds', 'not decided')
    """
    if found.mean >= figure:
        return HOLDS if found.count > 1 else UNDECIDED
    if found.high < figure:
        return FAILS
    return HOLDS if found.high - found.mean <= NARROW else UNDECIDED


def _pairs(results: Results, pairs: Iterable[tuple[Group, Group]]) -> Finding:
    """Every first one is above its second one."""
    found = [(one, other, results.compare(one, other)) for one, other in pairs]
    words = [f"{one.model} - {other.model} on {one.dataset}: {e}" for one, other, e in found if e is not None]
    return Finding(judged([estimate for *_, estimate in found]), _told(words, len(found)))


def _told(words: Sequence[str], planned: int) -> str:
    """What was measured, and how many comparisons were not run."""
    missing = planned - len(words)
    return "; ".join([*words, *([f"{missing} of {planned} not run"] if missing else [])])


def _under_protocols(check: Callable[[str, tuple[str, ...]], Finding]) -> Finding:
    """The verdict on ``planetoid``, the split that the paper names; or else on ``authors``, the one of its code."""
    named = check("planetoid", PAPER_DATASETS)
    if named.verdict == HOLDS:
        return named
    other = check("authors", CITATION)
    verdict = f"{HOLDS} under protocol authors" if other.verdict == HOLDS else named.verdict
    return Finding(verdict, f"planetoid: {named.measurement}. authors: {other.measurement}")


def _beats(model: str, others: Sequence[str], datasets: Sequence[str] = PAPER_DATASETS) -> Callable[[Results], Finding]:
    def check(results: Results) -> Finding:
        def under(protocol: str, available: tuple[str, ...]) -> Finding:
            pairs = [
                (
                    baselines.group(model, d, protocol, quick=results.quick),
                    baselines.group(m, d, protocol, quick=results.quick),
                )
                for d in datasets
                if d in available
                for m in others
                if d in CITATION or published.baseline(m, d) is not None
            ]
            if len(others) <= 2:
                return _pairs(results, pairs)
            return _closest(results, pairs)

        return _under_protocols(under)

    return check


def _closest(results: Results, pairs: Sequence[tuple[Group, Group]]) -> Finding:
    """Like :func:`_pairs`, but only the closest rival on each dataset is told."""
    whole, words = _pairs(results, pairs), []
    for dataset in dict.fromkeys(one.dataset for one, _ in pairs):
        own = [
            (found, other.model)
            for one, other in pairs
            if one.dataset == dataset and (found := results.compare(one, other))
        ]
        if own:
            found, rival = min(own, key=lambda pair: pair[0].mean)
            words.append(f"{dataset}: {found} against {rival}, the closest of {len(own)}")
        else:
            words.append(f"{dataset}: not run")
    return Finding(whole.verdict, "; ".join(words))


def _reaches(dataset: str) -> Callable[[Results], Finding]:
    def check(results: Results) -> Finding:
        paper = published.baseline("dfnet", dataset)
        assert paper is not None

        def under(protocol: str, available: tuple[str, ...]) -> Finding:
            sample = results.of(baselines.group("dfnet", dataset, protocol, quick=results.quick))
            found = sample.estimate() if dataset in available else None
            if found is None:
                return Finding(MISSING, "no such split" if dataset not in available else sample.note)
            spread = f" ± {found.std:.1f} over {found.count} runs" if found.count > 1 else ", 1 run"
            return Finding(reached(found, paper), f"{found.mean:.1f}{spread}, paper {paper:g}")

        return _under_protocols(under)

    return check


def _margins(results: Results) -> Finding:
    def under(protocol: str, available: tuple[str, ...]) -> Finding:
        words, verdicts = [], []
        for dataset in available:
            ours, theirs = (published.baseline(m, dataset) for m in ("dfnet", "gcn"))
            assert ours is not None
            assert theirs is not None
            margin = ours - theirs
            one, other = (baselines.group(m, dataset, protocol, quick=results.quick) for m in ("dfnet", "gcn"))
            found = results.compare(one, other)
            words.append(f"{dataset}: {'not run' if found is None else found}, paper {margin:+.1f}")
            verdicts.append(MISSING if found is None else reached(found, margin))
        worst = next(verdict for verdict in (FAILS, MISSING, UNDECIDED, HOLDS) if verdict in verdicts)
        return Finding(worst, "; ".join(words))

    return _under_protocols(under)


def _orders_best(results: Results) -> Finding:
    words: list[str] = []
    verdicts: list[bool | None] = []
    for dataset in CITATION:
        found = {
            (p, q): e.mean
            for p in orders.ORDERS
            for q in orders.ORDERS
            if (e := results.of(orders.group(dataset, p, q, quick=results.quick)).estimate()) is not None
        }
        if (5, 3) not in found or len(found) < 2:
            words.append(f"{dataset}: not run")
            verdicts.append(None)
            continue
        top = max(found, key=lambda pair: found[pair])
        words.append(
            f"{dataset}: {found[5, 3]:.1f} at p = 5, q = 3; best {found[top]:.1f} at p = {top[0]}, q = {top[1]}, "
            f"of {len(found)} pairs"
        )
        whole = len(found) == len(orders.ORDERS) ** 2
        verdicts.append(False if top != (5, 3) else True if whole else None)
    return Finding(_all(verdicts), "; ".join(words))


def _orders_pq(results: Results) -> Finding:
    """The mean over pairs with q <= p against that over pairs with q > p, seed by seed."""
    words, found = [], []
    for dataset in CITATION:
        sides: list[dict[int, list[float]]] = [{}, {}]
        for p in orders.ORDERS:
            for q in orders.ORDERS:
                for seed, value in results.of(orders.group(dataset, p, q, quick=results.quick)).values().items():
                    sides[q > p].setdefault(seed, []).append(value)
        means = [{seed: sum(values) / len(values) for seed, values in side.items()} for side in sides]
        estimate = statistics.paired(means[0], means[1])
        found.append(estimate)
        words.append(f"{dataset}: {'not run' if estimate is None else estimate}")
    return Finding(judged(found), "q <= p minus q > p: " + "; ".join(words))


def _orders_p(results: Results) -> Finding:
    quick = results.quick
    triples = [(d, p) for d in CITATION for p in (1, 9)]
    found = [
        results.compare(orders.group(d, 5, 3, quick=quick), orders.group(d, p, 3, quick=quick)) for d, p in triples
    ]
    pairs = zip(triples, found, strict=True)
    words = [f"{d}: p = 5 minus p = {p}: {e}" for (d, p), e in pairs if e is not None]
    return Finding(judged(found), _told(words, len(found)))


def _both_techniques(results: Results) -> Finding:
    quick, found, words = results.quick, [], []
    for dataset in CITATION:
        for model in ablation.MODELS:
            for variant in ("cut-off frequency only", "scaled-normalization only"):
                whole = ablation.group(model, dataset, ablation.BOTH, quick=quick)
                estimate = results.compare(whole, ablation.group(model, dataset, variant, quick=quick))
                found.append(estimate)
                if estimate is not None:
                    words.append(f"{model} on {dataset}, both minus {variant}: {estimate}")
    return Finding(judged(found), _told(words, len(found)))


def _embeddings(results: Results) -> Finding:
    found, words = [], []
    for dataset in embeddings.DATASETS:
        ours = results.of(embeddings.group("dfnet", dataset, quick=results.quick))
        for rival in ("gcn", "gat"):
            theirs = results.of(embeddings.group(rival, dataset, quick=results.quick))
            for name in ("silhouette", "purity"):
                sides = [{run.seed: run.measures[name] for run in sample.done} for sample in (ours, theirs)]
                estimate = statistics.paired(sides[0], sides[1])
                found.append(estimate)
                if estimate is not None:
                    told = f"{estimate.mean:+.3f} [{estimate.low:+.3f}, {estimate.high:+.3f}]"
                    words.append(f"{name} on {dataset}, dfnet - {rival}: {told}")
    return Finding(judged(found), _told(words, len(found)))


def _filters(results: Results) -> Finding:
    pairs = [
        (filters.group(filters.OURS, d, quick=results.quick), filters.group(m, d, quick=results.quick))
        for d in CITATION
        for m in ("chebyshev", "cayleynet")
        if published.filter_accuracy(m, d) is not None
    ]
    return _pairs(results, pairs)


def _low_labels(results: Results) -> Finding:
    pairs = [
        (low_labels.group("dfnet", d, rate, quick=results.quick), low_labels.group(m, d, rate, quick=results.quick))
        for d in CITATION
        for rate in LOW_LABEL_RATES[d]
        if (d, rate) != ("pubmed", 0.0003)  # the one exception that the paper makes
        for m in ("chebyshev", "gcn", "gat", "lnet", "adalnet")
    ]
    whole, words = _pairs(results, pairs), []
    for d in CITATION:
        own = [(found, o) for a, o in pairs if a.dataset == d and (found := results.compare(a, o)) is not None]
        behind = [f"{o.model} at {o.options['rate']:.2%} by {-found.mean:.1f}" for found, o in own if found.mean <= 0]
        words.append(
            f"{d}: ahead in {len(own) - len(behind)} of {len(own)}"
            + (f", behind {', '.join(behind)}" if behind else "")
        )
    return Finding(whole.verdict, "; ".join(words))


def _consistent(results: Results) -> list[tuple[tuple[str, str, float], dict[str, Any] | None]]:
    cases = [case for case in stability.cases(False) if case[0] != stability.PUBLISHED]
    return [(case, stability.measured(results, case)) for case in cases]


def _converges(results: Results) -> Finding:
    verdicts: list[bool | None] = []
    most = 0.0
    for _, m in _consistent(results):
        if m is None:
            verdicts.append(None)
            continue
        pairs = list(zip(m["bound"], m["iterations"], strict=True))
        kept = all(bound is not None and needed is not None and needed <= bound for bound, needed in pairs)
        verdicts.append(kept)
        most = max([most, *(needed / bound for bound, needed in pairs if bound and needed)])
    kept_count = sum(verdict is True for verdict in verdicts)
    text = (
        f"within the bound for {kept_count} of {len(verdicts)} filters and graphs; at most {most:.0%} of it was needed"
    )
    return Finding(_all(verdicts), text)


def _code_is_stable(results: Results) -> Finding:
    verdicts: list[bool | None] = []
    words: list[str] = []
    for dataset in PAPER_DATASETS:
        m = stability.measured(results, (stability.PUBLISHED, dataset, 0.9))
        verdicts.append(None if m is None else m["contraction"] < 1)
        words.append(f"{dataset}: {'not run' if m is None else format(m['contraction'], '.3g')}")
    return Finding(_all(verdicts), "max|P| of the authors' filter: " + "; ".join(words))


def _frequencies(results: Results) -> Finding:
    verdicts: list[bool | None] = []
    words: list[str] = []
    for dataset in PAPER_DATASETS:
        m = stability.measured(results, ("high-pass", dataset, 0.9))
        verdicts.append(None if m is None else -m["lmax"] / 2 >= 0)
        words.append(f"{dataset}: " + ("not run" if m is None else f"from {-m['lmax'] / 2:.3f} to {m['lmax'] / 2:.3f}"))
    return Finding(_all(verdicts), "L~ = L^ - (lmax / 2) I: " + "; ".join(words))


def _radius(results: Results) -> Finding:
    verdicts: list[bool | None] = []
    words: list[str] = []
    for dataset in PAPER_DATASETS:
        m = stability.measured(results, ("high-pass", dataset, 0.9))
        verdicts.append(None if m is None else m["lmax"] / 2 < m["ritz"])
        words.append(f"{dataset}: " + ("not run" if m is None else f"{m['lmax'] / 2:.3f} instead of {m['ritz']:.3f}"))
    return Finding(_all(verdicts), "; ".join(words))


def _universal(results: Results) -> Finding:
    verdicts = [None if m is None else m["contraction"] <= case[2] + 1e-6 for case, m in _consistent(results)]
    return Finding(
        _all(verdicts), f"|P| <= gamma on {sum(v is True for v in verdicts)} of {len(verdicts)} filters and graphs"
    )


def _gamma(name: str, claim: str, sign: int) -> Callable[[Results], Finding]:
    """Whether a measurement grows (or falls) from each gamma to the next, for the paper's high-pass on every graph."""

    def check(results: Results) -> Finding:
        verdicts: list[bool | None] = []
        words = []
        for dataset in PAPER_DATASETS:
            found = [stability.measured(results, ("high-pass", dataset, gamma)) for gamma in stability.GAMMAS]
            if any(m is None for m in found):
                verdicts.append(None)
                words.append(f"{dataset}: not run")
                continue
            values = [m["bound"][-1] if name == "bound" else m[name] for m in found if m is not None]
            verdicts.append(all(sign * (b - a) > 0 for a, b in itertools.pairwise(values)))
            words.append(f"{dataset}: {', '.join(f'{value:.3g}' for value in values)}")
        gammas = ", ".join(f"{gamma:g}" for gamma in stability.GAMMAS)
        return Finding(_all(verdicts), f"{claim} at gamma {gammas}: " + "; ".join(words))

    return check


def _fast(results: Results) -> Finding:
    verdicts: list[bool | None] = []
    words: list[str] = []
    for dataset in PAPER_DATASETS:
        m = stability.measured(results, ("high-pass", dataset, 0.9))
        verdicts.append(None if m is None else m["recursion"] <= m["cheapest"])
        words.append(
            f"{dataset}: " + ("not run" if m is None else f"{m['recursion']} against {m['cheapest']} by {m['method']}")
        )
    return Finding(_all(verdicts), "products for 1e-6 at gamma 0.9: " + "; ".join(words))


def _linear(measure: str) -> Callable[[Results], Finding]:
    def check(results: Results) -> Finding:
        found = complexity.exponent(results, "feedback-looped", "nodes and edges", measure)
        if found is None:
            return Finding(MISSING, "not run")
        if found.high < LINEAR[0] or found.low > LINEAR[1]:
            verdict = FAILS
        else:
            clear = LINEAR[0] <= found.mean <= LINEAR[1] and found.high - found.mean <= CLEAR
            verdict = HOLDS if clear else UNDECIDED
        text = f"exponent {found.mean:.2f} [{found.low:.2f}, {found.high:.2f}], {found.count} sizes"
        return Finding(verdict, text)

    return check


def _products(results: Results) -> Finding:
    found = []
    for point in dict.fromkeys(point for sweep in complexity.sweeps(results.quick).values() for point in sweep):
        for run in results.of(complexity.group("feedback-looped", point)).done:
            found.append((run.measures["products"], point[2] * complexity.P + complexity.Q))
    if not found:
        return Finding(MISSING, "not run")
    equal = sum(counted == said for counted, said in found)
    return Finding(HOLDS if equal == len(found) else FAILS, f"as many as counted in {equal} of {len(found)} cases")


def _all(verdicts: Sequence[bool | None]) -> str:
    if any(verdict is False for verdict in verdicts):
        return FAILS
    return MISSING if not verdicts or None in verdicts else HOLDS


CLAIMS = (
    *(
        Claim(f"figure-{d}", f"DFNet reaches {published.baseline('dfnet', d):g} % on {d}.", _reaches(d))
        for d in PAPER_DATASETS
    ),
    Claim("best-dfnet", "DFNet outperforms all the baseline methods over four datasets.", _beats("dfnet", RIVALS)),
    Claim(
        "best-dfnet-att",
        "DFNet-ATT outperforms all the baseline methods over four datasets.",
        _beats("dfnet-att", RIVALS),
    ),
    Claim("gcn", "DFNet improves upon GCN by 3.7, 3.9, 5.3 and 2.3 points.", _margins),
    Claim(
        "rational",
        "DFNet improves upon CayleyNet and ARMA1 on Cora.",
        _beats("dfnet", ("cayleynet", "arma"), ("cora",)),
    ),
    Claim("attention", "DFNet-ATT further improves the results of DFNet.", _beats("dfnet-att", ("dfnet",))),
    Claim("gat", "DF-ATT improves upon GAT on the citation networks.", _beats("df-att", ("gat",), CITATION)),
    Claim(
        "dense",
        "With dense connections feedback-looped filters are best: DFNet above GCN and GAT with a DenseBlock.",
        _beats("dfnet", ("gcn-dense", "gat-dense"), CITATION),
    ),
    Claim("orders-best", "p = 5 and q = 3 are the best orders on the citation networks.", _orders_best),
    Claim("orders-p", "p too low or too high both lead to poor performance.", _orders_p),
    Claim("orders-pq", "When q is larger than p, the accuracy decreases.", _orders_pq),
    Claim(
        "techniques", "Scaled-normalization and cut-off together outperform either alone, all models.", _both_techniques
    ),
    Claim("embeddings", "DFNet separates the classes better than GCN and GAT (Pubmed, Cora).", _embeddings),
    Claim("filters", "Without dense connections feedback-looped filters improve upon Chebyshev and Cayley.", _filters),
    Claim("low-labels", "With few labels DFNet is better than all others, but for Pubmed at 0.03 %.", _low_labels),
    Claim("convergence", "The recursion converges within the iterations that its bound says.", _converges),
    Claim("stable-code", "The filter that was used is stable: |P| < 1 on the spectrum.", _code_is_stable),
    Claim("frequencies", "The scaled-normalized Laplacian has its frequencies within [0, 2].", _frequencies),
    Claim("radius", "Scaled-normalization reduces the spectral radius.", _radius),
    Claim("universal", "A filter that was designed without the graph is stable on every graph.", _universal),
    Claim("gamma-accuracy", "A higher gamma gives a better accuracy of the response.", _gamma("rms", "rms error", -1)),
    Claim("gamma-speed", "A higher gamma gives slower convergence.", _gamma("bound", "iterations for 1e-6", 1)),
    Claim("fast", "The recursion converges fast: no other way takes fewer products.", _fast),
    Claim("time", "Time is linear in the number of edges.", _linear("seconds")),
    Claim("memory", "Memory is linear in the number of edges.", _linear("memory")),
    Claim("products", "t iterations take t p + q products.", _products),
)


def findings(results: Results) -> list[tuple[Claim, Finding]]:
    """Every claim with its verdict."""
    return [(claim, claim.check(results)) for claim in CLAIMS]


def plan(quick: bool) -> list[Group]:  # noqa: ARG001
    """Nothing of its own: the claims are decided by what the other studies run."""
    return []


def show(results: Results) -> list[Part]:
    rows = [[claim.name, claim.text, found.verdict, found.measurement] for claim, found in findings(results)]
    note = (
        "Accuracies by the rule validation. A difference is above zero when its 95 % interval (Student's t, paired by "
        f"seed) is; where only its mean is, the verdict is '{UNDECIDED}'. A claim about several datasets or models "
        "holds when it holds for each. A figure is reached when the mean is as high, or its interval is and reaches no "
        f"further than {NARROW:g} point from the mean. Linear: an exponent between {LINEAR[0]} and {LINEAR[1]}, "
        f"known to ±{CLEAR:g}; not decided where only its interval reaches there."
    )
    return [Table("claims", "Which claims hold", ["claim", "the paper says", "verdict", "measured here"], rows, note)]


STUDY = Study("claims", "The paper's claims", plan, show, "what the other studies leave out is not measured")
