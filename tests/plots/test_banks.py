"""The spectrogram of a filter bank, against the filtered signals."""

from __future__ import annotations

import numpy as np
import pytest

import dfnets
from dfnets import builders, plots


def test_each_row_is_what_a_filter_lets_through(tmp_path) -> None:
    graph = builders.ring(40)
    bank = [dfnets.ChebyshevFilter.fit(dfnets.responses.heat(time), 12) for time in (1.0, 4.0)]
    x = np.random.default_rng(0).standard_normal(40)
    figure = plots.spectrogram_figure(bank, graph, x, tmp_path / "s.png", order=np.arange(40))
    image = figure.axes[1].images[0].get_array()
    np.testing.assert_allclose(image, np.abs([f.apply(graph, x) for f in bank]), atol=1e-3)
    with pytest.raises(ValueError, match="one signal"):
        plots.spectrogram_figure(bank, graph, np.ones((40, 2)))


def test_a_certificate_as_a_picture(tmp_path) -> None:
    certificate = dfnets.design(dfnets.responses.low_pass(0.5), method="refit").certificate()
    figure = certificate.plot(tmp_path / "c.png")
    words = " ".join(text.get_text() for axes in figure.axes for text in axes.texts)
    assert f"{certificate.contraction:.4g}" in words
    assert f"Chebyshev expansion: {certificate.costs['chebyshev'].products}" in words
    unstable = dfnets.design(dfnets.responses.high_pass(0.5), method="least-squares", convention="published")
    figure = plots.certificate_figure(unstable.certificate())
    assert figure.get_suptitle().startswith("Not stable")
    assert sum("not possible" in text.get_text() for text in figure.axes[2].texts) == 3
