"""Replicas equal single runs to the bit with MKL as ``import dfnets`` sets it; elsewhere it is found out and said."""

from __future__ import annotations

import os
import subprocess
import sys

import pytest
import torch

from dfnets.nn import batched, reproducibility

ASK = "from dfnets.nn.reproducibility import replicas_are_exact; print(replicas_are_exact())"


def asked(program: str, **environment: str) -> str:
    """What a fresh interpreter prints, without this one's setting of MKL."""
    inherited = {name: value for name, value in os.environ.items() if name != "MKL_CBWR"}
    done = subprocess.run(
        [sys.executable, "-c", program], env=inherited | environment, capture_output=True, text=True, check=True
    )
    return done.stdout.strip()


@pytest.mark.skipif(not torch.backends.mkl.is_available(), reason="torch was built with another BLAS than MKL")
@pytest.mark.parametrize("first", ["import dfnets", "import torch; import dfnets"])
def test_replicas_are_exact_as_installed(first: str) -> None:
    assert asked(f"{first}; {ASK}") == "True"


@pytest.mark.parametrize("mode", ["COMPATIBLE", "AVX2"])
def test_a_setting_of_the_users_is_kept(mode: str) -> None:
    assert asked("import os, dfnets; print(os.environ['MKL_CBWR'])", MKL_CBWR=mode) == mode


def test_a_warning_names_the_variable_where_bits_do_not_hold(monkeypatch: pytest.MonkeyPatch) -> None:
    exact = batched.products

    def by_position(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
        """What such a BLAS does: with other replicas beside it, a sum comes out in another order."""
        return exact(a, b) if len(a) == 1 else exact(a.flip(2), b.flip(1))

    monkeypatch.setattr(batched, "products", by_position)
    reproducibility.replicas_are_exact.cache_clear()
    try:
        with pytest.warns(RuntimeWarning, match="set MKL_CBWR=AUTO,STRICT before Python starts"):
            reproducibility.warn_unless_exact()
    finally:
        reproducibility.replicas_are_exact.cache_clear()


@pytest.mark.parametrize("c, h", [(16, 7), (7, 5), (120, 128)])
def test_replicas_equal_single_products_to_rounding_on_every_blas(c: int, h: int) -> None:
    program = (
        "import torch; torch.randn(64, 64) @ torch.randn(64, 64)\n"
        "from dfnets.nn import batched\n"
        f"x, w = torch.randn(2708, 3, {c}), torch.randn(3, {c}, {h})\n"
        "many = batched.products(x.transpose(0, 1), w)\n"
        "one = batched.products(x[None, :, 1].contiguous(), w[1:2])\n"
        "print((many[:, 1] - one[:, 0]).abs().max().item() / one.abs().max().item())"
    )
    # Three times the rounding of a float32 sum of that length.
    assert float(asked(program, MKL_CBWR="OFF")) <= 3 * c * 2**-24
