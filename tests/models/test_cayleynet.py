"""CayleyNet against dense complex arithmetic."""

from __future__ import annotations

import torch
from spectral import CPU, adjacency, made, small_graph

from dfnets.models.cayleynet import SMALLEST_ZOOM, CayleyInputs, cayley


def inputs() -> CayleyInputs:
    both = made("cayleynet").prepare(small_graph(), CPU)
    return CayleyInputs(both.features, both.shift, both.diagonal.double())


def test_jacobi_converges_to_the_cayley_polynomial() -> None:
    n, zoom = 24, torch.tensor([0.4, 0.8]).double()
    z = torch.randn(n, 2, 5, 3, dtype=torch.float64)
    out = cayley(inputs(), z, zoom.view(1, 2, 1, 1).expand(n, -1, -1, -1), 200)
    eye = torch.eye(n, dtype=torch.complex128)
    laplacian = (torch.eye(n) - adjacency(small_graph())).to(torch.complex128)
    for r in range(2):
        transform = torch.linalg.solve(zoom[r] * laplacian + 1j * eye, zoom[r] * laplacian - 1j * eye)
        wanted = z[:, r, 0].clone()
        for j in (1, 2):
            signal = torch.complex(z[:, r, 2 * j - 1], z[:, r, 2 * j])
            wanted += 2 * (torch.linalg.matrix_power(transform, j) @ signal).real
        torch.testing.assert_close(out[:, r], wanted, atol=1e-6, rtol=1e-6)


def test_gradients_of_signals_and_zoom() -> None:
    z = torch.randn(24, 2, 5, 1, dtype=torch.float64, requires_grad=True)
    zoom = torch.tensor([0.5, 1.2], dtype=torch.float64, requires_grad=True)
    given = inputs()
    assert torch.autograd.gradcheck(
        lambda z, zoom: cayley(given, z, zoom.view(1, 2, 1, 1).expand(24, -1, -1, -1), 3), (z, zoom), fast_mode=True
    )


def test_zoom_stays_positive() -> None:
    model = made("cayleynet")
    with torch.no_grad():
        model.layers[0].zoom.fill_(-1.0)
    model.project_()
    assert (model.layers[0].zoom == SMALLEST_ZOOM).all()
