"""Filters in files and in pickles, and what is refused of a file that is not one."""

from __future__ import annotations

import copy
import json
import os
import pickle

import joblib
import numpy as np
import pytest
import torch

import dfnets
from dfnets import checksums, responses
from dfnets.filters import Filter, load

GRID = np.linspace(0, 2, 41)
ALL = [
    dfnets.design(responses.low_pass(0.8), 3, 2, 0.9, method="refit"),
    dfnets.ChebyshevFilter.fit(responses.band_pass(0.4, 1.2), 9),
    dfnets.LanczosFilter(responses.interpolated([0.2, 1.0], [1.0, 0.0])),
    dfnets.CayleyFilter([0.5, 0.25j], zoom=3.0),
    dfnets.ArmaFilter([1 + 2j], [1.5j], constant=0.5),
]


def gain(frequency: np.ndarray) -> np.ndarray:
    return 1 / (1 + frequency)


@pytest.mark.parametrize("f", ALL, ids=lambda f: f.kind)
def test_filters_survive_every_kind_of_copy(f: Filter, tmp_path) -> None:
    f.response(GRID)
    joblib.dump(f, tmp_path / "f.joblib")
    torch.save(f, tmp_path / "f.pt")
    f.save(tmp_path / "f.json")
    copies = [
        pickle.loads(pickle.dumps(f)),
        copy.deepcopy(f),
        joblib.load(tmp_path / "f.joblib"),
        torch.load(tmp_path / "f.pt", weights_only=False),
        load(tmp_path / "f.json"),
    ]
    for other in copies:
        assert other == f
        assert hash(other) == hash(f)
        assert other.target == f.target
        np.testing.assert_array_equal(other.response(GRID), f.response(GRID))
    assert f != dfnets.ChebyshevFilter([1.0])
    assert f != "filter"


@pytest.mark.parametrize("name", sorted(responses.MAKERS))
def test_responses_are_values(name: str) -> None:
    parameters = {
        "high_pass": {"cut": 0.3},
        "low_pass": {"cut": 0.3},
        "band_pass": {"low": 0.3, "high": 0.6},
        "heat": {"time": 3.0},
        "pagerank": {"restart": 0.3},
        "interpolated": {"frequencies": [0.0, 1.0], "gains": [1.0, 0.5]},
    }[name]
    one = responses.make(name, parameters)
    again = pickle.loads(pickle.dumps(one))
    assert again == one
    assert hash(again) == hash(one)
    assert name in repr(one)
    np.testing.assert_array_equal(again(GRID), one(GRID))


def test_functions_are_equal_when_they_are_the_same() -> None:
    assert responses.custom(gain) == responses.custom(gain)
    assert responses.custom(gain) != responses.custom(lambda frequency: frequency)
    assert pickle.loads(pickle.dumps(responses.custom(gain))) == responses.custom(gain)
    with pytest.raises(pickle.PicklingError, match="no name to find it by"):
        pickle.dumps(responses.custom(lambda frequency: frequency))


def damaged(content: dict, tmp_path, *, sign: bool = True) -> str:
    if sign:
        content = {**content, "sha256": checksums.of_json(content)}
    path = tmp_path / "damaged.json"
    path.write_text(json.dumps(content))
    return str(path)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"parameters": {"psi": ["a"], "phi": [1.0], "centre": 1.0, "provenance": {}}}, "psi must be a vector"),
        ({"parameters": {"psi": [1.0], "phi": [1.0], "centre": "x", "provenance": {}}}, "centre='x'"),
        ({"parameters": {"psi": [1.0], "phi": [1.0], "centre": 1.0, "magic": 1}}, "magic"),
        ({"parameters": {"phi": [1.0]}}, "psi"),
        ({"parameters": [1.0]}, "names and values"),
        ({"parameters": {"psi": [1e999], "phi": [1.0]}}, "Infinity"),
        ({"parameters": {"psi": [0.0] * 100_000, "phi": [1.0]}}, "100000 coefficients"),
        ({"interval": [0.0]}, "interval="),
        ({"interval": "01"}, "interval="),
        ({"interval": [0, 5]}, "interval="),
        ({"transition": None}, "transition=None"),
        ({"transition": -1.0}, "transition=-1.0"),
        ({"target": ["heat", {"time": "x"}]}, "time='x'"),
        ({"target": ["heat", {"speed": 1.0}]}, "does not take"),
        ({"target": ["magic", {}]}, "'magic' is not one of"),
        ({"target": "heat"}, "target='heat'"),
        ({"target": [["heat"], {}]}, "is not one of"),
        ({"kind": "magic"}, "kind='magic'"),
        ({"kind": ["lanczos"]}, "kind="),
        ({"kind": "lanczos"}, "wanted"),
    ],
)
def test_what_is_wrong_is_said_in_one_line(change: dict, message: str, tmp_path) -> None:
    ALL[0].save(tmp_path / "f.json")
    content = json.loads((tmp_path / "f.json").read_text())
    del content["sha256"]
    with pytest.raises(ValueError, match=message) as refusal:
        load(damaged({**content, **change}, tmp_path))
    assert "\n" not in str(refusal.value)
    assert len(str(refusal.value)) < 400


@pytest.mark.parametrize("field", ["kind", "interval", "target", "transition", "parameters"])
def test_a_missing_field_is_named(field: str, tmp_path) -> None:
    ALL[0].save(tmp_path / "f.json")
    content = json.loads((tmp_path / "f.json").read_text())
    del content["sha256"], content[field]
    with pytest.raises(ValueError, match=f"lacks {field}"):
        load(damaged(content, tmp_path))


def test_files_that_are_no_files_or_too_large(tmp_path) -> None:
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(ValueError, match="not a regular file"):
        load(tmp_path / "pipe")
    (tmp_path / "large.json").write_bytes(b"[" * (5 * 2**20))
    with pytest.raises(ValueError, match="larger than 4 MiB"):
        load(tmp_path / "large.json")
    (tmp_path / "deep.json").write_bytes(b"[" * 100_000)
    with pytest.raises(ValueError, match="cut off"):
        load(tmp_path / "deep.json")


def test_certificates_filters_and_shifts_show_themselves() -> None:
    f = ALL[0]
    text = str(f.certificate())
    for words in ("Certificate for every graph", "proved", "computed", "largest |P|", "pass / stop ripple", "products"):
        assert words in text
    assert max(map(len, text.splitlines())) <= 120
    for html in (f.certificate()._repr_html_(), f._repr_html_(), ALL[1]._repr_html_()):
        assert html.startswith("<table>")
        assert html.count("<tr>") == html.count("</tr>")
    assert "<svg" in f._repr_html_()
    shift = dfnets.Shift(dfnets.builders.path(3))
    assert "<td" in shift._repr_html_()
    evil = dfnets.design(responses.custom(gain, "<script>"), 2, 1, 0.9, method="refit")
    assert "<script>" not in evil._repr_html_()
