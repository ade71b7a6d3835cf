"""The model card: what a predictor is, how good it is, and on what evidence; as values, as text and as a page."""

from __future__ import annotations

import html
import json
from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import TYPE_CHECKING, Any

import numpy as np

from dfnets import models
from dfnets.models.mixture import model_names, replica_counts
from dfnets.training.assessment import Assessment
from dfnets.training.choice import cross_fitted
from dfnets.training.trained import CARD, CARD_PAGE

if TYPE_CHECKING:
    from dfnets.training.own_graph import CrossValidated

FORMAT = "dfnets model card, version 1"
# Rows of a table that a terminal shows; the card has all.
SHOWN = 15
SAY = {
    "dfnet-plus": "DFNetPlus, a bank of feedback-looped filters and a small network",
    "small-network": "one of the small networks of DFNetPlus",
    "logistic": "logistic regression on features, filtered where held-out nodes prefer that",
    "lp": "label propagation, which looks at edges and labels only",
    "mixture": "several models, averaged",
}


def make_card(result: CrossValidated) -> dict[str, Any]:
    """Everything that there is to say of a result, as values that JSON can hold."""
    graph, assessment, trained = result.graph, result.assessment, result.trained
    assert graph.labels is not None
    made = graph.features is None
    parts = [(part, result.candidates[part.candidate]) for part in result.choice.parts]
    transductive = all(models.get(name).transductive for name in model_names(trained.name, trained.config))
    return {
        "format": FORMAT,
        "model": trained.name,
        "choice": result.choice.why,
        "members": [
            {"model": candidate.name, "share": part.share, "version": str(candidate.versions[part.version])}
            for part, candidate in parts
        ],
        "settings": trained.config.model_dump(mode="json"),
        "graph": {
            "name": graph.name,
            "nodes": graph.num_nodes,
            "edges": graph.num_edges,
            "features": 0 if graph.features is None else graph.features.shape[1],
            "labelled": len(result.folds.labelled),
        },
        "classes": {
            name: int(count)
            for name, count in zip(assessment.classes, np.bincount(graph.labels[graph.labels >= 0]), strict=False)
        },
        "features": trained.preparation.words() if trained.preparation is not None else "",
        "folds": {"folds": result.folds.count, "repeats": result.folds.repeats, "held_out": len(result.folds.held)},
        "networks": sum(replica_counts(trained.config, trained.replicas)),
        **assessment.describe(),
        "temperature": trained.temperature,
        "yardsticks": _yardsticks(result),
        "least_sure": _least_sure(result),
        "warnings": list(result.warnings),
        "how": _how(result),
        "new_nodes": _new_nodes(transductive, made),
        "seconds": round(result.seconds, 1),
        "versions": {package: version(package) for package in ("dfnets", "torch", "numpy", "scipy", "scikit-learn")},
    }


def _yardsticks(result: CrossValidated) -> list[dict[str, Any]]:
    """The accuracy of every candidate by itself, made on the same folds in the same way."""
    own = result.assessment
    rows = [{"name": "the largest class", "accuracy": float(100 * own.shares.max())}]
    for candidate in result.candidates:
        held = cross_fitted([candidate], result.folds.groups)
        alone = Assessment(held, own.labels, own.classes, own.shares, own.folds)
        rows.append({"name": candidate.name, "accuracy": alone.accuracy})
    return rows


def _least_sure(result: CrossValidated) -> list[dict[str, Any]]:
    predictions = result.predictions
    return [
        {
            "id": str(predictions.ids[node]),
            "label": predictions.classes[predictions.labels[node]],
            "probability": float(predictions.probabilities[node].max()),
        }
        for node in result.least_sure()
    ]


def _how(result: CrossValidated) -> str:
    folds = result.folds
    times = "" if folds.repeats == 1 else f", {folds.repeats} times over"
    return (
        f"{len(folds.held)} of {len(folds.labelled)} labelled nodes were held out in turn ({folds.count} folds{times}) "
        "and predicted by networks that had not trained on them. The models, their shares, the epochs, the temperature "
        "and the shift of classes with which a fold is scored were chosen by the other folds, so no node had a part in "
        "choosing what it is scored with. Classes count by their estimated share among the nodes without a label. The "
        "90 % interval is of the final predictor, which has trained on every label: its upper end allows for what the "
        "labels that a fold lacks may gain."
    )


def _new_nodes(transductive: bool, structural: bool) -> str:
    if transductive:
        return "Predicts for the nodes of this graph only; a changed graph is refused."
    if structural:
        return "Predicts for a changed graph too: nodes are known by their ids, new ones by their neighbours."
    return "Predicts for a changed graph too, as long as the feature columns are the same."


def documents(card: Mapping[str, Any]) -> dict[str, str]:
    """The files of a card by name, for :meth:`TrainedModel.save`."""
    return {CARD: json.dumps(card, indent=2), CARD_PAGE: page(card)}


def summary(card: Mapping[str, Any]) -> str:
    """The card as text for a terminal."""
    low, high = card["interval"]
    graph = card["graph"]
    lines = [
        f"{graph['name']}: {graph['labelled']:,} labels, {len(card['classes'])} classes. Features: {card['features']}.",
        *(f"Warning: {warning}" for warning in card["warnings"]),
        f"Model: {SAY.get(card['model'], card['model'])} ({card['choice']}).",
        "",
        f"Accuracy: {card['accuracy']:.1f} %, 90 % interval {low:.1f} to {high:.1f} %, from {card['held_out_nodes']} "
        "held-out nodes",
        *(f"  {row['name']}: {row['accuracy']:.1f} %" for row in card["yardsticks"]),
        f"Calibration: expected error {card['calibration_error']:.3f} at temperature {card['temperature']:.2f}",
        "",
        *_table(["class", "labels", "precision", "recall"], class_rows(card)),
        "",
        *_confusion_lines(card),
        "Least sure of (label these next): "
        + ", ".join(f"{row['id']} ({row['probability']:.2f})" for row in card["least_sure"]),
        "",
        card["how"],
        card["new_nodes"],
    ]
    return "\n".join(lines)


def class_rows(card: Mapping[str, Any]) -> list[list[str]]:
    """Name, labels, precision and recall of each class."""
    percent = lambda value: "-" if value is None else f"{100 * value:.0f} %"  # noqa: E731
    return [
        [name, str(count), percent(card["precision"].get(name)), percent(card["recall"].get(name))]
        for name, count in card["classes"].items()
    ]


def _confusion_lines(card: Mapping[str, Any]) -> list[str]:
    names = list(card["classes"])
    if len(names) > SHOWN:
        return [f"The confusion matrix of {len(names)} classes is in the model card.", ""]
    rows = [[name, *map(str, row)] for name, row in zip(names, card["confusion"], strict=True)]
    return ["Confusion (rows: true, columns: predicted)", *_table(["", *names], rows), ""]


def _table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> list[str]:
    shown = [head, *rows[: 2 * SHOWN]]
    widths = [max(len(row[c]) for row in shown) for c in range(len(head))]
    lines = []
    for first, *others in shown:
        cells = [first.ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(others, widths[1:], strict=True))]
        lines.append(f"  {'  '.join(cells)}".rstrip())
    return lines + [f"  ... and {len(rows) - 2 * SHOWN} more in the model card"] * (len(rows) > 2 * SHOWN)


def page(card: Mapping[str, Any]) -> str:
    """The card as one HTML page that needs nothing else."""
    low, high = card["interval"]
    names = list(card["classes"])
    confusion = [[name, *map(str, row)] for name, row in zip(names, card["confusion"], strict=True)]
    sure = [[row["id"], row["label"], f"{row['probability']:.2f}"] for row in card["least_sure"]]
    yard = [[row["name"], f"{row['accuracy']:.1f} %"] for row in card["yardsticks"]]
    members = [[row["model"], f"{100 * row['share']:.0f} %", row["version"]] for row in card["members"]]
    facts = [[key, json.dumps(value)] for key, value in card["settings"].items()]
    parts = [
        f"<h1>Model card: {html.escape(card['graph']['name'])}</h1>",
        f"<p class=big>{card['accuracy']:.1f} % <small>90 % interval {low:.1f} to {high:.1f} %</small></p>",
        f"<p>{html.escape(card['how'])}</p>",
        *(f"<p class=warn>{html.escape(warning)}</p>" for warning in card["warnings"]),
        f"<h2>Model</h2><p>{html.escape(SAY.get(card['model'], card['model']))}: {html.escape(card['choice'])}. "
        f"{card['networks']} networks. {html.escape(card['new_nodes'])}</p>"
        + _html_table(["model", "share", "version"], members),
        "<h2>Against yardsticks on the same folds</h2>" + _html_table(["", "accuracy"], yard),
        "<h2>Classes</h2>" + _html_table(["class", "labels", "precision", "recall"], class_rows(card)),
        "<h2>Confusion</h2><p>Rows: true class. Columns: predicted class.</p>" + _html_table(["", *names], confusion),
        f"<h2>Calibration</h2><p>Expected calibration error {card['calibration_error']:.3f}, at temperature "
        f"{card['temperature']:.2f}, fitted on held-out nodes.</p>",
        "<h2>Least sure of</h2><p>Labelling these nodes next should help most.</p>"
        + _html_table(["node", "predicted", "probability"], sure),
        f"<h2>Data</h2><p>{card['graph']['nodes']:,} nodes, {card['graph']['edges']:,} edges, "
        f"{card['graph']['labelled']:,} labels. Features: {html.escape(card['features'])}.</p>",
        "<h2>Settings</h2>" + _html_table(["setting", "value"], facts),
        f"<p><small>{html.escape(json.dumps(card['versions']))}; trained in {card['seconds']} s.</small></p>",
    ]
    return (
        f"<!doctype html><html lang=en><meta charset=utf-8><title>Model card</title><style>{STYLE}</style>"
        + "\n".join(parts)
    )


def _html_table(head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    cells = lambda kind, row: "".join(f"<{kind}>{html.escape(cell)}</{kind}>" for cell in row)  # noqa: E731
    body = "".join(f"<tr>{cells('td', row)}</tr>" for row in rows)
    return f"<table><tr>{cells('th', head)}</tr>{body}</table>"


STYLE = """
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #1d2733 }
.big { font-size: 2.2rem; margin: 0 } .big small { font-size: 1rem; color: #55606e }
.warn { border-left: 4px solid #c77700; padding-left: .8rem }
table { border-collapse: collapse; display: block; overflow-x: auto }
th, td { padding: .2rem .7rem; text-align: right; border-bottom: 1px solid #dde3ea }
th:first-child, td:first-child { text-align: left }
"""
