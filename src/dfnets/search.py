"""The paper's randomised search over hyper-parameters, by Optuna: on validation nodes only, resumable, in parallel."""

from __future__ import annotations

import os
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from dfnets import atomic, models
from dfnets.datasets import cache
from dfnets.datasets.splits import Split
from dfnets.graph import Graph
from dfnets.search_file import check_identity, explained_errors, identity_of
from dfnets.workers import started

if TYPE_CHECKING:
    import optuna
    import pandas

    from dfnets.training.history import History
    from dfnets.training.loop import Trainer

# Epochs between two looks at whether a trial is worth going on with.
PRUNE_EVERY = 50


@dataclass(frozen=True)
class KnownTrial:
    """A trial of an earlier search.

    Attributes:
        settings: what was tried.
        validation: the accuracy in percent, the mean over replicas.
        state: ``"complete"`` or ``"pruned"``.
    """

    settings: Mapping[str, Any]
    validation: float
    state: str


@dataclass(frozen=True)
class Found:
    """What a search found.

    Attributes:
        settings: the hyper-parameters that were best on validation nodes; pass them on to :func:`dfnets.fit`.
        validation: their validation accuracy in percent, the mean over replicas.
        trials: all that were trained, best first; ``state`` is ``"complete"`` or ``"pruned"``.
        trial_settings: the settings of each row of ``trials``.
        diverged: how many more were tried, and diverged.
    """

    settings: Mapping[str, Any]
    validation: float
    trials: pandas.DataFrame
    trial_settings: tuple[Mapping[str, Any], ...]
    diverged: int

    @property
    def tried(self) -> int:
        """The number of trials that have ended, however they ended."""
        return len(self.trials) + self.diverged

    def __repr__(self) -> str:
        chosen = ", ".join(f"{name}={value!r}" for name, value in self.settings.items())
        return f"Found({self.validation:.2f} % on validation nodes, best of {len(self.trials)} trials: {chosen})"


def search(
    model: str,
    graph: Graph,
    file: str | os.PathLike[str],
    *,
    trials: int = 50,
    space: Mapping[str, Any] | None = None,
    workers: int = 1,
    seed: int = 0,
    protocol: str | Split | Sequence[Split] = "planetoid",
    replicas: int = 3,
    start: Sequence[Mapping[str, Any]] = (),
    prune: bool = False,
    minutes: float | None = None,
    known: Mapping[int, KnownTrial] | None = None,
    **options: Any,
) -> Found:
    """Draws hyper-parameters at random, trains with each, and keeps what is best on validation nodes.

    Trial i draws from a generator seeded by (seed, i), so that neither the number of workers nor an interruption
    changes what is tried. Test nodes are never looked at.

    Args:
        file: the SQLite file of the search. An interrupted search continues from it; the file of a search with another
            model, graph, split, seed, space or setting is refused. A second process with the same file waits.
        trials: how many in all, those already in the file included.
        space: what to draw, by the name of the setting: a list is a choice, (low, high) an interval, (low, high, "log")
            one by orders of magnitude. None is the model's own.
        workers: processes that train at the same time.
        replicas: networks per trial; it is judged by their mean.
        start: settings that are tried first, as part of ``trials``: ``{}`` is the preset itself.
        prune: give up a trial whose validation accuracy is below the median of the others at the same epoch. With
            several workers, which trials are given up depends on the order in which they finish.
        minutes: start no trial after that time; search again for the rest.
        known: trials of an earlier search by their number. Those with the settings that would be tried count as they
            are, so whoever gives them vouches that graph, model and training were the same.
        protocol, options: for :func:`dfnets.fit`.
    """
    ranges = dict(models.get(model).space if space is None else space)
    if not ranges:
        raise ValueError(f"{model} has nothing to search for: give space=")
    if trials < 1 or workers < 1:
        raise ValueError(f"trials={trials}, workers={workers}: at least 1 of each is needed")
    deadline = None if minutes is None else time.time() + 60 * minutes
    fit_options = {"protocol": protocol, "replicas": replicas, "seed": seed, **options}
    identity = identity_of(
        model, graph, ranges, {**fit_options, "start": [dict(first) for first in start], "prune": prune}
    )
    Path(file).parent.mkdir(parents=True, exist_ok=True)
    atomic.check_file(file, force=True)
    with cache.lock(Path(file)), explained_errors(file):
        study = _study(file)
        check_identity(study, identity, file)
        _enqueue(study, ranges, seed, trials, start, known or {})
        job = (model, graph, str(file), fit_options, prune, deadline)
        if workers == 1:
            _work(*job)
        else:
            _work_together(job, workers)
        return _found(_study(file))


def _enqueue(
    study: optuna.Study,
    ranges: Mapping[str, Any],
    seed: int,
    trials: int,
    start: Sequence[Mapping[str, Any]],
    known: Mapping[int, KnownTrial],
) -> None:
    """Puts what is still to be tried into the queue, what an interrupted search left half-done included."""
    from optuna.trial import TrialState, create_trial

    settled = set()
    for trial in study.trials:
        if trial.state == TrialState.RUNNING:
            study.tell(trial.number, state=TrialState.FAIL)
        elif trial.state != TrialState.FAIL or "diverged" in trial.user_attrs:
            settled.add(trial.user_attrs["draw"])
    for draw in sorted(set(range(trials)) - settled):
        settings = dict(start[draw]) if draw < len(start) else _draw_settings(ranges, seed, draw)
        attributes = {"draw": draw, "settings": settings}
        ended = known.get(draw)
        if ended is not None and _with_tuples(ended.settings) == _with_tuples(settings):
            state = TrialState.COMPLETE if ended.state == "complete" else TrialState.PRUNED
            study.add_trial(create_trial(state=state, value=ended.validation, user_attrs=attributes))
        else:
            study.enqueue_trial({}, user_attrs=attributes)


def _work_together(job: tuple[Any, ...], count: int) -> None:
    with started(count, _work, *job, workers=count) as processes:
        for process in processes:
            process.join()
    failed = [process.exitcode for process in processes if process.exitcode]
    if failed:
        raise OSError(f"{len(failed)} of {count} workers ended early (exit code {failed[0]}); search again to continue")


def _turn(file: str) -> Path:
    """What a worker holds while it takes a trial."""
    return Path(f"{file}.turn")


def _work(
    model: str,
    graph: Graph,
    file: str,
    options: dict[str, Any],
    prune: bool,
    deadline: float | None,
    workers: int = 1,
) -> None:
    """Trains trials that wait until none does, or until the deadline."""
    import optuna
    import torch

    from dfnets.training import DivergedError, fit

    if workers > 1:
        torch.set_num_threads(max(1, (os.cpu_count() or 1) // workers))
    study = _study(file)
    while deadline is None or time.time() <= deadline:
        # SQLite locks no rows: without a lock of our own, two workers may be given the same trial.
        with cache.lock(_turn(file)):
            if not study.get_trials(deepcopy=False, states=(optuna.trial.TrialState.WAITING,)):
                return
            trial = study.ask()
        settings = _with_tuples(trial.user_attrs["settings"])
        pruner = _Pruner(trial) if prune else None
        try:
            result = fit(model, graph, progress=False, after_epoch=pruner, **{**options, **settings})
        except DivergedError:
            trial.set_user_attr("diverged", True)
            study.tell(trial, state=optuna.trial.TrialState.FAIL)
        except optuna.TrialPruned:
            study.tell(trial, state=optuna.trial.TrialState.PRUNED)
        else:
            study.tell(trial, _score(result.history))


class _Pruner:
    """Reports a trial from time to time, and ends it when it is worse than most others were at that epoch."""

    def __init__(self, trial: optuna.Trial) -> None:
        self.trial = trial

    def __call__(self, trainer: Trainer) -> None:
        import optuna

        if trainer.epoch % PRUNE_EVERY == 0 and len(trainer.history):
            self.trial.report(_score(trainer.history), trainer.epoch)
            if self.trial.should_prune():
                raise optuna.TrialPruned


def _score(history: History) -> float:
    """The mean over replicas of each one's best validation accuracy."""
    return float(np.nanmax(history.validation, axis=0).mean())


def _study(file: str | os.PathLike[str]) -> optuna.Study:
    try:
        import optuna
    except ImportError:
        raise ImportError("dfnets search needs Optuna: pip install 'dfnets[search]'") from None
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    if "?" in str(file):
        raise ValueError(f"{file}: the name of a search file cannot have a question mark")
    storage = optuna.storages.RDBStorage(f"sqlite:///{Path(file)}", engine_kwargs={"connect_args": {"timeout": 60}})
    return optuna.create_study(
        storage=storage,
        study_name="search",
        direction="maximize",
        # Everything that is tried is enqueued beforehand; the sampler has nothing to do.
        sampler=optuna.samplers.RandomSampler(),
        pruner=optuna.pruners.MedianPruner(n_startup_trials=5, n_warmup_steps=2 * PRUNE_EVERY),
        load_if_exists=True,
    )


def _draw_settings(ranges: Mapping[str, Any], seed: int, number: int) -> dict[str, Any]:
    """The settings of one trial."""
    rng = np.random.default_rng((seed, number))
    drawn: dict[str, Any] = {}
    for name, values in ranges.items():
        if isinstance(values, list):
            drawn[name] = values[int(rng.integers(len(values)))]
        elif values[2:] == ("log",):
            drawn[name] = float(np.exp(rng.uniform(np.log(values[0]), np.log(values[1]))))
        else:
            drawn[name] = float(rng.uniform(values[0], values[1]))
    return drawn


def _with_tuples(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings as they were before the database, which knows no tuples."""
    return {name: tuple(value) if isinstance(value, list) else value for name, value in settings.items()}


def _found(study: optuna.Study) -> Found:
    import pandas

    finished = [trial for trial in study.trials if trial.value is not None]
    diverged = sum("diverged" in trial.user_attrs for trial in study.trials)
    if not finished and any(trial.state.name == "WAITING" for trial in study.trials):
        raise TimeoutError("the time was over before the first trial had ended: search again, with more minutes")
    if not any(trial.state.name == "COMPLETE" for trial in finished):
        raise ArithmeticError(f"all {len(study.trials)} trials diverged: narrow the space, learning_rate first")
    finished.sort(
        key=lambda trial: (trial.state.name != "COMPLETE", -float(trial.value or 0.0), trial.user_attrs["draw"])
    )
    settings = tuple(_with_tuples(trial.user_attrs["settings"]) for trial in finished)
    rows = [
        {"trial": trial.user_attrs["draw"], "validation": trial.value, "state": trial.state.name.lower(), **own}
        for trial, own in zip(finished, settings, strict=True)
    ]
    return Found(settings[0], rows[0]["validation"], pandas.DataFrame(rows), settings, diverged)
