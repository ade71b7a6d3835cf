"""DFNet and its two relatives: the authors' architecture, and every technique a switch."""

from __future__ import annotations

import csv
from pathlib import Path

import numpy as np
import pytest
import torch

from dfnets import Graph, models
from dfnets.models import DFATT, DFNet, DFNetATT, DFNetConfig, Sizes

CORA = Sizes(features=1433, classes=7, nodes=2708)


def graph() -> Graph:
    rng = np.random.default_rng(0)
    edges = np.triu(rng.random((40, 40)) < 0.1, 1).astype(float)
    return Graph(edges + edges.T, features=rng.random((40, 5)))


def made(name: str, preset: str | None = None, sizes: Sizes = CORA, **overrides: object) -> DFNet:
    config = models.config(name, preset, **overrides)
    kind = models.get(name)
    model = kind(config, sizes, filter=kind.design(config, graph()))
    assert isinstance(model, DFNet)
    return model


def count(parameters: object) -> int:
    return sum(parameter.numel() for parameter in parameters)  # type: ignore[attr-defined]


def test_dfnet_has_the_authors_parameters_on_cora() -> None:
    model = made("dfnet", "published")
    assert count(model.parameters()) == 757_376
    norms = [layer.norm for layer in model.block.layers]
    assert sum(count(norm.parameters()) for norm in norms if norm is not None) == 14_746


def test_published_filter_is_the_authors() -> None:
    filter = made("dfnet", "published").filter
    psi = [0.78282208, -9.10754991, 15.56677269, -8.82568243, 1.66691540]
    np.testing.assert_allclose(filter.psi, psi, atol=1e-6)
    np.testing.assert_allclose(filter.phi, [0.01476723, -0.62166389, 2.51883863, -0.76752122], atol=3e-5)
    assert filter.centre == 1.0


def test_presets_are_the_papers_table() -> None:
    """Each line: model, l2, layers, units, dropout, p, q, lambda_cut, heads, attention_dropout, nell_l2."""
    path = Path(__file__).parents[3] / "shared" / "paper" / "table_hyperparameters.csv"
    if not path.exists():
        pytest.skip("the paper's table is not beside the project")
    with path.open() as file:
        for row in csv.DictReader(file):
            name = row["model"].lower()
            config = models.config(name, "paper")
            assert isinstance(config, DFNetConfig)
            rates = [float(rate) for rate in row["dropout"].split()]
            assert config.l2 == float(row["l2"])
            assert models.config(name, "paper-nell" if "att" in name else "paper").l2 == float(row["nell_l2"])  # type: ignore[attr-defined]
            assert [len(config.units), *config.units] == [int(row["layers"]), *map(int, row["units"].split())]
            assert config.dropout == (rates[0] if len(rates) == 1 else tuple(rates))
            assert (config.p, config.q, config.cut) == (int(row["p"]), int(row["q"]), float(row["lambda_cut"]))
            assert config.heads == (int(row["heads"]) if row["heads"] else None)
            assert config.attention_dropout == float(row["attention_dropout"] or 0)


def test_published_exact_differs_by_weights_and_momentum() -> None:
    for name in ("dfnet", "dfnet-att", "df-att"):
        stable, exact = (models.config(name, preset).model_dump() for preset in ("published", "published-exact"))
        changed = {key for key in stable if stable[key] != exact[key]}
        assert changed == {"class_weights", "loss_factor", "momentum"}


def test_paper_preset_designs_for_the_graphs_own_spectrum() -> None:
    from dfnets import Shift

    filter = made("dfnet", "paper").filter
    top = Shift(graph(), lmax="lanczos").interval[1]
    assert filter.interval == (0.0, pytest.approx(top))
    assert filter.centre == pytest.approx(top / 2)
    assert filter.ranges(filter.interval).contraction <= 0.9 + 1e-9


@pytest.mark.parametrize("preset", ["published", "paper"])
def test_without_scaled_normalisation_the_centre_is_zero(preset: str) -> None:
    assert made("dfnet", preset, scaled=False).filter.centre == 0.0


@pytest.mark.parametrize("preset", ["published", "paper"])
def test_without_cut_off_the_response_rises_steadily(preset: str) -> None:
    filter = made("dfnet", preset, cut=None, gamma=0.5).filter
    if preset == "paper":
        frequencies = np.linspace(*filter.interval, 20)
        np.testing.assert_allclose(filter.response(frequencies), frequencies / filter.interval[1], atol=0.05)


def test_low_pass_keeps_low_frequencies() -> None:
    filter = made("dfnet", "paper", response="low-pass", cut=0.5, cut_from="zero").filter
    assert filter.response(0.05) > 0.7
    assert abs(filter.response(filter.interval[1])) < 0.4


def test_dense_and_attention_are_switches() -> None:
    dense, chain = made("dfnet"), made("dfnet", dense=False)
    assert dense.head.kernel.shape[1] == 1433 + 248
    assert chain.head.kernel.shape[1] == 128
    assert made("dfnet", heads=2).head.kernel.shape[1] == 1433 + 2 * 248


def test_relatives() -> None:
    att, chain = made("dfnet-att"), made("df-att")
    assert isinstance(att, DFNetATT)
    assert isinstance(chain, DFATT)
    assert att.head.kernel.shape[1] == 1433 + 4 * 120
    assert chain.head.kernel.shape[1] == 6 * 64
    assert [layer.dropout.rate for layer in chain.block.layers] == [0.1, 0.9]


def test_constraints_hold_after_projection() -> None:
    model = made("dfnet-att", sizes=Sizes(5, 3, 30))
    model.project_()
    for layer in model.block.layers:
        torch.testing.assert_close(layer.conv.theta1.norm(dim=1), torch.ones_like(layer.conv.theta1[:, 0]))
        assert layer.attention is not None
        torch.testing.assert_close(layer.attention.kernel.norm(dim=2), torch.ones(1, 4))
    torch.testing.assert_close(model.head.kernel.norm(dim=1), torch.ones(1, 3))


def test_a_filter_is_needed() -> None:
    with pytest.raises(ValueError, match="filter=None: DFNet needs a filter"):
        DFNet(DFNetConfig(), CORA)
