"""Settings: the code and the command that they print give the filter that they design."""

from __future__ import annotations

import shlex
import sys

import numpy as np
import pytest

import dfnets
from dfnets import cli
from dfnets.studio.settings import Settings, settings_of

EVERY = [
    Settings(cut=0.37, method="refit"),
    Settings(response="high_pass", cut=1 / 3, p=4, q=2, gamma=0.71, interval=(0.0, 1.3456789012345678)),
    Settings(response="band_pass", low=0.4, high=0.9, centre=0.7, method="least-squares"),
    Settings(response="heat", time=2.5, transition=0.0, method="refit"),
    Settings(response="pagerank", restart=0.15, p=1, q=0, method="refit"),
    Settings(response="interpolated", frequencies=[0, 0.7, 2], gains=[1, 0.25, 0], method="refit"),
    Settings(method="minimax", centre="free", p=3, q=2),
]
NAMES = [settings.response for settings in EVERY]


@pytest.mark.parametrize("settings", EVERY, ids=NAMES)
def test_the_code_and_the_command_give_exactly_this_filter(settings: Settings, tmp_path, monkeypatch) -> None:
    f = settings.design()
    names: dict = {}
    exec(settings.python(), names)
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(sys, "argv", shlex.split(settings.command()))
    with pytest.raises(SystemExit):
        cli.main()
    for other in (names["f"], dfnets.filters.load(tmp_path / "filter.json")):
        np.testing.assert_array_equal(other.psi, f.psi)
        np.testing.assert_array_equal(other.phi, f.phi)
        assert (other.centre, other.interval, other.transition) == (f.centre, f.interval, f.transition)
        assert other.target == f.target


@pytest.mark.parametrize("settings", EVERY[:6], ids=NAMES[:6])
def test_a_saved_filter_gives_its_settings_back(settings: Settings, tmp_path) -> None:
    settings.design().save(tmp_path / "f.json")
    again = settings_of(dfnets.filters.load(tmp_path / "f.json"))
    np.testing.assert_array_equal(again.design().psi, settings.design().psi)


def test_a_filter_without_a_target_is_refused() -> None:
    with pytest.raises(ValueError, match="no target response"):
        settings_of(dfnets.FeedbackLoopedFilter([0.5], [1.0]))
    with pytest.raises(ValueError, match="published"):
        settings_of(dfnets.design(dfnets.responses.low_pass(0.5), method="least-squares", convention="published"))
