"""Columns of a file as features: what is learned from one file is done to another."""

from __future__ import annotations

import json

import numpy as np
import pytest
import scipy.sparse as sp

from dfnets.datasets.encoder import FeatureEncoder, compact
from dfnets.datasets.factors import Factor

AGES = np.array([20.0, np.nan, 40.0, 90.0])
TOWNS = Factor.of(["Ulm", "Oslo", None, "Ulm"])


@pytest.fixture
def encoder() -> FeatureEncoder:
    made = FeatureEncoder.fit({"age": AGES, "town": TOWNS})
    # What is kept in a model folder is the same thing.
    again = FeatureEncoder.from_json(json.loads(json.dumps(made.to_json())))
    assert again == made
    return again


def test_numbers_categories_and_gaps(encoder):
    done = encoder.encode({"age": AGES, "town": TOWNS})
    assert encoder.feature_names == ("age", "town=Oslo", "town=Ulm")
    np.testing.assert_array_equal(done.values, [[20, 0, 1], [40, 1, 0], [40, 0, 0], [90, 0, 1]])
    assert done.notes == (
        "column town: 1 cells are empty; all its columns are 0 there",
        "missing numbers in 1 column filled with the median (age: 1 with 40)",
    )


def test_another_file_is_treated_as_the_first(encoder):
    done = encoder.encode({"town": Factor.of(["Bern", "Oslo"]), "age": np.array([np.nan, 1.0])})
    np.testing.assert_array_equal(done.values, [[40, 0, 0], [1, 1, 0]])
    assert "column town: 1 cells hold a category that training did not see (the first: 'Bern')" in done.notes[0]


@pytest.mark.parametrize(
    ("columns", "message"),
    [
        ({"age": AGES}, r"the features lack 1 columns that the model was trained on \('town'\): give the same"),
        ({"age": AGES, "town": TOWNS, "x": AGES}, r"have 1 columns that the model does not know \('x'\).*--ignore x"),
    ],
)
def test_other_columns_are_refused_by_name(encoder, columns, message):
    with pytest.raises(ValueError, match=message):
        encoder.encode(columns)


def test_mostly_zero_features_are_sparse():
    rng = np.random.default_rng(0)
    matrix = rng.random((200, 30)) * (rng.random((200, 30)) < 0.05)
    columns = {f"w{k}": matrix[:, k] for k in range(30)}
    values = FeatureEncoder.fit(columns).encode(columns).values
    assert sp.issparse(values)
    assert values.format == "csr"
    np.testing.assert_array_equal(values.toarray(), matrix)
    assert sp.issparse(compact(matrix))
    assert not sp.issparse(compact(matrix + 1))


def test_names_are_no_categories():
    names = Factor.of([f"person {k}" for k in range(30)])
    with pytest.raises(ValueError, match=r"column 'who' holds text, 30 different values in 30 rows.*--ignore who"):
        FeatureEncoder.fit({"who": names})


def test_a_column_without_a_value_is_no_feature():
    columns = {"age": AGES, "x": np.full(4, np.nan)}
    encoder = FeatureEncoder.fit(columns)
    assert encoder.feature_names == ("age",)
    assert encoder.encode(columns).values.shape == (4, 1)
    assert encoder.encode({"x": TOWNS, "age": AGES}).values.shape == (4, 1)
    assert encoder.notes == ["column x: no value in any row, not used"]


@pytest.mark.parametrize("content", [3, [3], [{"name": "a"}], [{"name": "a", "fill": "much"}], [{"fill": 1.0}]])
def test_a_damaged_encoding_is_refused(content):
    with pytest.raises(ValueError, match="this is not a feature encoding"):
        FeatureEncoder.from_json(content)
