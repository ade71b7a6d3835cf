"""`dfnets train` and `dfnets predict`."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Any

import typer

from dfnets import atomic
from dfnets.cli.common import Force, check_outputs, say, show, without_formulas
from dfnets.cli.file_options import FileOptions, takes_files
from dfnets.cli.many import Distributed, Ways, joined
from dfnets.graph import Graph

Dataset = Annotated[str | None, typer.Option(help="A dataset by name, an .npz file, or a folder of Graph.save.")]
Edges = Annotated[Path | None, typer.Option(help="Your own edges (.csv, .tsv, .parquet, .graphml, .npz, ...).")]
ModelName = Annotated[
    str, typer.Option(help="auto, dfnet-plus, dfnet, gcn, gat, appnp, ...; a name that there is not lists them all.")
]
FeatureFile = Annotated[Path | None, typer.Option(help="Features of their nodes.")]
Device = Annotated[str | None, typer.Option(help="cpu or cuda. Default: cuda where there is one.")]


@takes_files
def train_command(
    dataset: Dataset = None,
    edges: Edges = None,
    features: FeatureFile = None,
    labels: Annotated[Path | None, typer.Option(help="Labels of their nodes; nodes left out are unlabelled.")] = None,
    model: ModelName = "auto",
    out: Annotated[Path | None, typer.Option(help="Write the trained model and its card into this folder.")] = None,
    quick: Annotated[bool, typer.Option("--quick", help="A first answer, in seconds.")] = False,
    thorough: Annotated[bool, typer.Option("--thorough", help="More folds, networks and epochs.")] = False,
    preset: Annotated[str | None, typer.Option(help="Named hyper-parameters, e.g. default or paper.")] = None,
    epochs: Annotated[int | None, typer.Option(help="Instead of what the work allows, or of the preset's.")] = None,
    seed: Annotated[int, typer.Option(help="Of the folds and of the first network; the others follow.")] = 0,
    set_: Annotated[
        list[str] | None, typer.Option("--set", help="A hyper-parameter, name=value; may be repeated.")
    ] = None,
    protocol: Annotated[
        str | None,
        typer.Option(
            help="A research protocol instead of cross-validation: planetoid, random, ... "
            "Default for a dataset that comes with the planetoid split: that."
        ),
    ] = None,
    per_class: Annotated[int, typer.Option(help="Training nodes of each class, protocol random.")] = 20,
    validation_per_class: Annotated[int, typer.Option(help="Validation nodes of each class, protocol random.")] = 30,
    replicas: Annotated[int | None, typer.Option(help="Networks with different seeds, with a protocol; 10.")] = None,
    select: Annotated[
        str | None, typer.Option(help="With a protocol, whose weights to save: validation, final.")
    ] = None,
    checkpoint: Annotated[
        Path | None, typer.Option(help="With a protocol: write here now and then; go on from here if it is there.")
    ] = None,
    mini_batch: Annotated[
        bool,
        typer.Option(
            "--mini-batch",
            help="dfnet-plus on the filtered rows of a few nodes at a time: a step costs the same on a graph of any "
            "size. With a protocol; random if none is named.",
        ),
    ] = False,
    device: Device = None,
    distributed: Distributed = False,
    force: Force = False,
    *,
    files: FileOptions,
) -> None:
    """Train on your labels, and say how good it is: accuracy with an interval, class by class, against yardsticks.

    Every label is trained on, and the accuracy comes from held-out nodes that had no part in choosing anything.

    Examples: dfnets train --edges e.csv --features x.csv --labels y.csv --out model/
    dfnets train --dataset cora --model dfnet --replicas 10
    torchrun --nproc-per-node 2 -m dfnets train --distributed --dataset cora
    """
    from dfnets.training import card
    from dfnets.training.trained import FILES

    if quick and thorough:
        raise typer.BadParameter("give --quick or --thorough, not both")
    if out is not None:
        atomic.check_folder(out, FILES, force=force)
    settings = _settings(set_ or [])
    with joined(distributed, dataset) as ways:
        parts = ways.partition
        graph = _graph(files, dataset, edges, features, labels) if parts is None else parts.without_edges()
        chosen = protocol or ("planetoid" if "planetoid" in graph.splits else "random" if mini_batch or parts else None)
        if chosen is not None:
            options = {"preset": preset, "epochs": epochs, "seed": seed, "select": select, "checkpoint": checkpoint}
            counts = {"per_class": per_class, "validation_per_class": validation_per_class}
            name = "dfnet-plus" if model == "auto" else model
            options |= {"device": device, "mini_batch": mini_batch}
            _by_protocol(
                ways, graph, name, chosen, counts, replicas or (1 if parts else 10), out, **options, **settings
            )
            return
        for option, value in (("--replicas", replicas), ("--select", select), ("--checkpoint", checkpoint)):
            if value is not None:
                raise typer.BadParameter(
                    f"{option} belongs to --protocol; without one, networks are those of the folds"
                )
        result = ways.train(
            graph,
            model=model,
            effort="quick" if quick else "thorough" if thorough else "default",
            preset=preset,
            epochs=epochs,
            seed=seed,
            device=device,
            **settings,
        )
        # Saved before anything is printed: a closed pipe or a full device cannot lose the model.
        if out is not None and ways.writes:
            result.save(out, force=force)
        say(card.summary(result.card()))
        if out is not None:
            say(f"Model and card: {out}")


def _by_protocol(
    ways: Ways,
    graph: Graph,
    model: str,
    protocol: str,
    counts: dict[str, int],
    replicas: int,
    out: Path | None,
    **options: Any,
) -> None:
    """Trains on the splits of a research protocol, and prints test accuracies by selection rule."""
    from dfnets.datasets import splits

    chosen: Any = protocol
    if chosen == "random":
        chosen = splits.make(graph, "random", draws=replicas, seed=options["seed"], **counts)
    result = ways.fit(model, graph, protocol=chosen, replicas=replicas, **options)
    if out is not None and ways.writes:
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
    out: Annotated[
        Path | None, typer.Option(help="Write here (.csv, .parquet or .json); else the first rows are printed.")
    ] = None,
    device: Device = None,
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

    if out is not None and out.suffix not in WRITERS:
        raise typer.BadParameter(f"--out {out}: predictions are written as {', '.join(WRITERS)}; end the name with one")
    check_outputs(out, force=force)
    trained = training.load(model)
    graph = _graph(files, dataset, edges, features, None, encoder=trained.encoder)
    frame = trained.predict(graph, device=device).frame()
    if escape_formulas:
        frame = without_formulas(frame)
    if out is None:
        show(frame)
        return
    with atomic.replacing(out) as temporary:
        WRITERS[out.suffix](frame, temporary)
    say(f"{len(frame)} predictions: {out}")


# How a table of predictions is written, by the ending of the file.
WRITERS: dict[str, Callable[[Any, Path], None]] = {
    ".csv": lambda frame, path: frame.to_csv(path, index=False),
    ".parquet": lambda frame, path: frame.to_parquet(path, index=False),
    ".json": lambda frame, path: frame.to_json(path, orient="records", indent=1, force_ascii=False),
}


def _graph(
    files: FileOptions,
    dataset: str | None,
    edges: Path | None,
    features: Path | None,
    labels: Path | None,
    encoder: Any = None,
) -> Graph:
    """A dataset by name, or a person's own files; of these it is said what was understood."""
    from dfnets import datasets

    if (dataset is None) == (edges is None):
        raise typer.BadParameter("give either --dataset or --edges")
    if dataset is not None:
        if features is not None or labels is not None:
            raise typer.BadParameter("--features and --labels belong to --edges; a dataset has its own")
        return datasets.load(dataset)
    assert edges is not None
    reading = files.read(edges, features, labels, encoder=encoder)
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
