"""`dfnets train`, `dfnets predict` and `dfnets search`."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Annotated, Any

import typer

from dfnets import atomic
from dfnets.cli.common import Force, check_outputs, say, show, without_formulas
from dfnets.cli.file_options import FileOptions, takes_files
from dfnets.graph import Graph

Dataset = Annotated[str | None, typer.Option(help="A dataset by name, or an .npz file.")]
Edges = Annotated[Path | None, typer.Option(help="Your own edges (.csv, .tsv, .parquet, .graphml, .npz, ...).")]
ModelName = Annotated[
    str, typer.Option(help="dfnet, dfnet-plus, gcn, gat, appnp, ...; a name that there is not lists them all.")
]
FeatureFile = Annotated[Path | None, typer.Option(help="Features of their nodes.")]


@takes_files
def train_command(
    dataset: Dataset = None,
    edges: Edges = None,
    features: FeatureFile = None,
    labels: Annotated[Path | None, typer.Option(help="Labels of their nodes; nodes left out are unlabelled.")] = None,
    model: ModelName = "dfnet",
    preset: Annotated[str | None, typer.Option(help="Named hyper-parameters, e.g. published or paper.")] = None,
    protocol: Annotated[
        str | None, typer.Option(help="How nodes are split. Default: planetoid where the dataset has it, else random.")
    ] = None,
    per_class: Annotated[int, typer.Option(help="Training nodes of each class, protocol random.")] = 20,
    validation_per_class: Annotated[int, typer.Option(help="Validation nodes of each class, protocol random.")] = 30,
    replicas: Annotated[int, typer.Option(help="Networks with different seeds, trained as one problem.")] = 10,
    epochs: Annotated[int | None, typer.Option(help="Instead of the preset's.")] = None,
    seed: Annotated[int, typer.Option(help="Of the first replica; the others follow.")] = 0,
    select: Annotated[str | None, typer.Option(help="Which epoch's weights to save: validation or final.")] = None,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A hyper-parameter, name=value; may be repeated.")
    ] = None,
    out: Annotated[Path | None, typer.Option(help="Write the trained model into this folder.")] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="Write here now and then; go on from here if it is there.")
    ] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda. Default: cuda where there is one.")] = None,
    force: Force = False,
    *,
    files: FileOptions,
) -> None:
    """Train a model, and print its test accuracy with the spread over seeds.

    Examples: dfnets train --dataset cora --model dfnet --replicas 10
    dfnets train --edges e.csv --features x.csv --labels y.csv --out model/
    """
    from dfnets.datasets import splits
    from dfnets.training import fit
    from dfnets.training.trained import FILES

    if out is not None:
        atomic.check_folder(out, FILES, force=force)
    graph = _graph(dataset, edges, features, labels, files)
    chosen: Any = protocol or ("planetoid" if "planetoid" in graph.splits else "random")
    if chosen == "random":
        counts = {"per_class": per_class, "validation_per_class": validation_per_class}
        chosen = splits.make(graph, "random", draws=replicas, seed=seed, **counts)
    result = fit(
        model,
        graph,
        protocol=chosen,
        replicas=replicas,
        preset=preset,
        epochs=epochs,
        seed=seed,
        select=select,
        checkpoint=checkpoint,
        device=device,
        **_settings(set_ or []),
    )
    # Saved before anything is printed: a closed pipe or a full device cannot lose the model.
    if out is not None:
        result.save(out)
    for rule in ["validation", "final"] if all(len(split.validation) for split in result.splits) else ["final"]:
        say(repr(result.accuracy(rule)))
    if out is not None:
        say(f"model ({result.select}): {out}")


@takes_files
def predict_command(
    model: Annotated[Path, typer.Argument(help="A folder that dfnets train wrote.")],
    dataset: Dataset = None,
    edges: Edges = None,
    features: FeatureFile = None,
    out: Annotated[Path | None, typer.Option(help="Write here (.csv); else the first rows are printed.")] = None,
    device: Annotated[str | None, typer.Option(help="cpu or cuda. Default: cuda where there is one.")] = None,
    escape_formulas: Annotated[
        bool,
        typer.Option(
            help="Put an apostrophe before ids and names of classes that a spreadsheet would run as a formula "
            "(those that start with = + - @, a tab or a line break). Off by default: ids are written as they are."
        ),
    ] = False,
    force: Force = False,
    *,
    files: FileOptions,
) -> None:
    """The class of every node, with probabilities: of the graph that the model was trained on, or of a changed one."""
    from dfnets import training

    check_outputs(out, force=force)
    trained = training.load(model)
    frame = trained.predict(
        _graph(dataset, edges, features, None, files, encoder=trained.encoder), device=device
    ).frame()
    if escape_formulas:
        frame = without_formulas(frame)
    if out is None:
        show(frame)
        return
    with atomic.replacing(out) as temporary:
        frame.to_csv(temporary, index=False)
    say(f"{len(frame)} predictions: {out}")


def _graph(
    dataset: str | None,
    edges: Path | None,
    features: Path | None,
    labels: Path | None,
    files: FileOptions,
    **more: Any,
) -> Graph:
    """The graph of a dataset or of a person's own files, of which it is said what was understood."""
    from dfnets import datasets

    if (dataset is None) == (edges is None):
        raise typer.BadParameter("give either --dataset or --edges")
    if dataset is not None:
        if features is not None or labels is not None:
            raise typer.BadParameter("--features and --labels belong to --edges; a dataset has its own")
        return datasets.load(dataset)
    assert edges is not None
    reading = files.read(edges, features, labels, **more)
    say(reading)
    return reading.graph


def _settings(pairs: list[str]) -> dict[str, Any]:
    """name=value pairs, values as JSON where they are (0.5, null, [8, 16]), else as text."""
    settings: dict[str, Any] = {}
    for pair in pairs:
        name, equals, text = pair.partition("=")
        if not equals:
            raise typer.BadParameter(f"--set {pair}: give name=value")
        try:
            settings[name.replace("-", "_")] = json.loads(text)
        except json.JSONDecodeError:
            settings[name.replace("-", "_")] = text
    return settings


@takes_files
def search_command(
    file: Annotated[Path, typer.Argument(help="The SQLite file of the search; one that is there is gone on with.")],
    dataset: Dataset = None,
    edges: Edges = None,
    features: FeatureFile = None,
    labels: Annotated[Path | None, typer.Option(help="Labels of their nodes; nodes left out are unlabelled.")] = None,
    model: ModelName = "dfnet",
    preset: Annotated[str | None, typer.Option(help="Named hyper-parameters for what is not searched.")] = None,
    trials: Annotated[int, typer.Option(help="How many in all, those already in the file included.")] = 50,
    replicas: Annotated[int, typer.Option(help="Networks per trial; it is judged by their mean.")] = 3,
    epochs: Annotated[int | None, typer.Option(help="Instead of the preset's.")] = None,
    workers: Annotated[int, typer.Option(help="Processes that train at the same time.")] = 1,
    seed: Annotated[int, typer.Option(help="Of what is drawn, and of the first replica.")] = 0,
    device: Annotated[str | None, typer.Option(help="cpu or cuda. Default: cuda where there is one.")] = None,
    *,
    files: FileOptions,
) -> None:
    """Search hyper-parameters at random, judged on validation nodes only.

    Example: dfnets search search.db --dataset cora --trials 50 --workers 2
    """
    from dfnets.search import search

    graph = _graph(dataset, edges, features, labels, files)
    found = search(
        model,
        graph,
        file,
        trials=trials,
        workers=workers,
        seed=seed,
        protocol="planetoid" if "planetoid" in graph.splits else "random",
        replicas=replicas,
        preset=preset,
        epochs=epochs,
        device=device,
    )
    show(found.trials, rows=10)
    say(repr(found))
