"""What decides the paper's claims about networks: accuracy, orders, techniques, embeddings, few labels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

from dfnets.datasets.splits import LOW_LABEL_RATES
from dfnets.studies import ablation, baselines, embeddings, filters, low_labels, orders, published, statistics
from dfnets.studies.plan import CITATION, PAPER_DATASETS, Group
from dfnets.studies.results import Results
from dfnets.studies.verdicts import (
    FAILS,
    HOLDS,
    MISSING,
    UNDECIDED,
    Finding,
    judged,
    pairs_above,
    reached,
    told,
    under_protocols,
)

RIVALS = tuple(m for m in published.MODELS.values() if m not in (*baselines.OURS, "gcn-dense", "gat-dense"))


def beats(model: str, others: Sequence[str], datasets: Sequence[str] = PAPER_DATASETS) -> Callable[[Results], Finding]:
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
                return pairs_above(results, pairs)
            return closest(results, pairs)

        return under_protocols(under)

    return check


def closest(results: Results, pairs: Sequence[tuple[Group, Group]]) -> Finding:
    """Like :func:`dfnets.studies.verdicts.pairs_above`, but only the closest rival on each dataset is told."""
    whole, words = pairs_above(results, pairs), []
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


def reaches(dataset: str) -> Callable[[Results], Finding]:
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

        return under_protocols(under)

    return check


def margins(results: Results) -> Finding:
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

    return under_protocols(under)


def orders_best(results: Results) -> Finding:
    """Refuted where another pair is better with its whole interval; a higher mean alone decides nothing."""
    words: list[str] = []
    verdicts: list[str] = []
    for dataset in CITATION:
        groups = {
            (p, q): orders.group(dataset, p, q, quick=results.quick) for p in orders.ORDERS for q in orders.ORDERS
        }
        found = {pair: e.mean for pair, group in groups.items() if (e := results.of(group).estimate()) is not None}
        if (5, 3) not in found or len(found) < 2:
            words.append(f"{dataset}: not run")
            verdicts.append(MISSING)
            continue
        top = max(found, key=lambda pair: found[pair])
        words.append(
            f"{dataset}: {found[5, 3]:.1f} at p = 5, q = 3; best {found[top]:.1f} at p = {top[0]}, q = {top[1]}, "
            f"of {len(found)} pairs"
        )
        if top == (5, 3):
            verdicts.append(HOLDS if len(found) == len(groups) else MISSING)
        else:
            gap = results.compare(groups[top], groups[5, 3])
            verdicts.append(FAILS if gap is not None and gap.low > 0 else UNDECIDED)
    return Finding(next(v for v in (FAILS, MISSING, UNDECIDED, HOLDS) if v in verdicts), "; ".join(words))


def orders_pq(results: Results) -> Finding:
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


def orders_p(results: Results) -> Finding:
    quick = results.quick
    triples = [(d, p) for d in CITATION for p in (1, 9)]
    found = [
        results.compare(orders.group(d, 5, 3, quick=quick), orders.group(d, p, 3, quick=quick)) for d, p in triples
    ]
    pairs = zip(triples, found, strict=True)
    words = [f"{d}: p = 5 minus p = {p}: {e}" for (d, p), e in pairs if e is not None]
    return Finding(judged(found), told(words, len(found)))


def both_techniques(results: Results) -> Finding:
    quick, found, words = results.quick, [], []
    for dataset in CITATION:
        for model in ablation.MODELS:
            for variant in ("cut-off frequency only", "scaled-normalization only"):
                whole = ablation.group(model, dataset, ablation.BOTH, quick=quick)
                estimate = results.compare(whole, ablation.group(model, dataset, variant, quick=quick))
                found.append(estimate)
                if estimate is not None:
                    words.append(f"{model} on {dataset}, both minus {variant}: {estimate}")
    return Finding(judged(found), told(words, len(found)))


def separates(results: Results) -> Finding:
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
                    interval = f"{estimate.mean:+.3f} [{estimate.low:+.3f}, {estimate.high:+.3f}]"
                    words.append(f"{name} on {dataset}, dfnet - {rival}: {interval}")
    return Finding(judged(found), told(words, len(found)))


def improves_without_dense(results: Results) -> Finding:
    pairs = [
        (filters.group(filters.OURS, d, quick=results.quick), filters.group(m, d, quick=results.quick))
        for d in CITATION
        for m in ("chebyshev", "cayleynet")
        if published.filter_accuracy(m, d) is not None
    ]
    return pairs_above(results, pairs)


def few_labels(results: Results) -> Finding:
    pairs = [
        (low_labels.group("dfnet", d, rate, quick=results.quick), low_labels.group(m, d, rate, quick=results.quick))
        for d in CITATION
        for rate in LOW_LABEL_RATES[d]
        if (d, rate) != ("pubmed", 0.0003)  # the one exception that the paper makes
        for m in ("chebyshev", "gcn", "gat", "lnet", "adalnet")
    ]
    whole, words = pairs_above(results, pairs), []
    for d in CITATION:
        own = [(found, o) for a, o in pairs if a.dataset == d and (found := results.compare(a, o)) is not None]
        behind = [f"{o.model} at {o.options['rate']:.2%} by {-found.mean:.1f}" for found, o in own if found.mean <= 0]
        words.append(
            f"{d}: ahead in {len(own) - len(behind)} of {len(own)}"
            + (f", behind {', '.join(behind)}" if behind else "")
        )
    return Finding(whole.verdict, "; ".join(words))
