"""The paper's claims, each with the function that measures it and gives a verdict."""

from __future__ import annotations

from dfnets.studies.analysing import accuracy_claims, filter_claims
from dfnets.studies.analysing.results import Results
from dfnets.studies.analysing.verdicts import Claim, Finding
from dfnets.studies.planning import paper_tables
from dfnets.studies.planning.group import CITATION, PAPER_DATASETS

CLAIMS = (
    *(
        Claim(
            f"figure-{d}", f"DFNet reaches {paper_tables.baseline('dfnet', d):g} % on {d}.", accuracy_claims.reaches(d)
        )
        for d in PAPER_DATASETS
    ),
    Claim(
        "best-dfnet",
        "DFNet outperforms all the baseline methods over four datasets.",
        accuracy_claims.beats("dfnet", accuracy_claims.RIVALS),
    ),
    Claim(
        "best-dfnet-att",
        "DFNet-ATT outperforms all the baseline methods over four datasets.",
        accuracy_claims.beats("dfnet-att", accuracy_claims.RIVALS),
    ),
    Claim("gcn", "DFNet improves upon GCN by 3.7, 3.9, 5.3 and 2.3 points.", accuracy_claims.margins),
    Claim(
        "rational",
        "DFNet improves upon CayleyNet and ARMA1 on Cora.",
        accuracy_claims.beats("dfnet", ("cayleynet", "arma"), ("cora",)),
    ),
    Claim(
        "attention", "DFNet-ATT further improves the results of DFNet.", accuracy_claims.beats("dfnet-att", ("dfnet",))
    ),
    Claim(
        "gat", "DF-ATT improves upon GAT on the citation networks.", accuracy_claims.beats("df-att", ("gat",), CITATION)
    ),
    Claim(
        "dense",
        "With dense connections feedback-looped filters are best: DFNet above GCN and GAT with a DenseBlock.",
        accuracy_claims.beats("dfnet", ("gcn-dense", "gat-dense"), CITATION),
    ),
    Claim("orders-best", "p = 5 and q = 3 are the best orders on the citation networks.", accuracy_claims.orders_best),
    Claim("orders-p", "p too low or too high both lead to poor performance.", accuracy_claims.orders_p),
    Claim("orders-pq", "When q is larger than p, the accuracy decreases.", accuracy_claims.orders_pq),
    Claim(
        "techniques",
        "Scaled-normalization and cut-off together outperform either alone, all models.",
        accuracy_claims.both_techniques,
    ),
    Claim(
        "embeddings", "DFNet separates the classes better than GCN and GAT (Pubmed, Cora).", accuracy_claims.separates
    ),
    Claim(
        "filters",
        "Without dense connections feedback-looped filters improve upon Chebyshev and Cayley.",
        accuracy_claims.improves_without_dense,
    ),
    Claim(
        "low-labels",
        "With few labels DFNet is better than all others, but for Pubmed at 0.03 %.",
        accuracy_claims.few_labels,
    ),
    Claim("convergence", "The recursion converges within the iterations that its bound says.", filter_claims.converges),
    Claim("stable-code", "The filter that was used is stable: |P| < 1 on the spectrum.", filter_claims.code_is_stable),
    Claim(
        "frequencies", "The scaled-normalized Laplacian has its frequencies within [0, 2].", filter_claims.frequencies
    ),
    Claim("radius", "Scaled-normalization reduces the spectral radius.", filter_claims.radius),
    Claim(
        "universal", "A filter that was designed without the graph is stable on every graph.", filter_claims.universal
    ),
    Claim(
        "gamma-accuracy",
        "A higher gamma gives a better accuracy of the response.",
        filter_claims.gamma("rms", "rms error", -1),
    ),
    Claim(
        "gamma-speed",
        "A higher gamma gives slower convergence.",
        filter_claims.gamma("bound", "iterations for 1e-6", 1),
    ),
    Claim("fast", "The recursion converges fast: no other way takes fewer products.", filter_claims.fast),
    Claim("time", "Time is linear in the number of edges.", filter_claims.linear("seconds")),
    Claim("memory", "Memory is linear in the number of edges.", filter_claims.linear("memory")),
    Claim("products", "t iterations take t p + q products.", filter_claims.products),
)


def findings(results: Results) -> list[tuple[Claim, Finding]]:
    """Every claim with its verdict."""
    return [(claim, claim.check(results)) for claim in CLAIMS]
