# SPDX-License-Identifier: Apache-2.0
"""Searches for settings by Optuna: `pip install optuna`."""
from __future__ import annotations

import os
from collections.abc import Callable, Mapping
from typing import TYPE_CHECKING, Any

import optuna

from . import _linnet
from .callbacks import Callback

if TYPE_CHECKING:
    from ._linnet import EpochReport

__all__ = ["PruningCallback", "search"]

METRICS = ("validation_loss", "validation_accuracy", "train_loss", "train_accuracy")
_NOT_FINITE = "NaN or infinite"  # in the messages of trainings that diverged


def _check(metric: str) -> None:
    if metric not in METRICS:
        raise ValueError(f"metric: expected one of {', '.join(METRICS)}; got {metric!r}")


def _larger_is_better(metric: str) -> bool:
    return metric.endswith("accuracy")


class PruningCallback(Callback):
    """Reports every epoch to a trial, and ends the training by `optuna.TrialPruned` where the study's
    pruner gives the trial up.

        ln.train(model, data, callbacks=ln.optuna.PruningCallback(trial))

    Arguments:
      trial: what Optuna hands to the objective
      metric: "validation_loss", "validation_accuracy", "train_loss" or "train_accuracy"

    `best` is the best value of an epoch so far, which the objective may return."""

    def __init__(self, trial: optuna.Trial, metric: str = "validation_loss") -> None:
        _check(metric)
        self._trial = trial
        self._metric = metric
        self.best: float | None = None

    def on_epoch(self, report: EpochReport) -> None:
        part, _, measure = self._metric.partition("_")
        measured = getattr(report, part)
        if measured.samples == 0:
            raise _linnet.Error(f"the metric {self._metric} needs validation data")
        value = float(getattr(measured, measure))
        if value != value:
            raise _linnet.Error(f"the training has no {self._metric}: its targets are no classes")
        better = max if _larger_is_better(self._metric) else min
        self.best = value if self.best is None else better(self.best, value)
        self._trial.report(value, report.epoch)
        if self._trial.should_prune():
            raise optuna.TrialPruned(f"given up after epoch {report.epoch} with a {self._metric} of {value:.4g}")


class _Objective:
    """Trains on a path with the settings of a trial."""

    def __init__(self, path: str | os.PathLike[str], choose: Callable[[optuna.Trial], Mapping[str, Any]],
                 metric: str, seed: int, threads: int, settings: dict[str, Any]) -> None:
        self._path = path
        self._choose = choose
        self._metric = metric
        self._seed = seed
        self._threads = threads
        self._settings = settings
        self._task = self._prepared({})  # tells at once what is wrong with path and settings
        self.model: Any = None

    def _prepared(self, chosen: dict[str, Any]) -> Any:
        return _linnet.prepare(os.fspath(self._path), seed=self._seed, **{**self._settings, **chosen})

    def __call__(self, trial: optuna.Trial) -> float:
        of_training = set(dir(self._task.training))
        training: dict[str, Any] = {}
        of_data: dict[str, Any] = {}
        for name, value in self._choose(trial).items():
            (training if name in of_training else of_data)[name] = value
        task = self._prepared(of_data) if of_data else self._task
        model = task.model(seed=self._seed, threads=self._threads)
        watch = PruningCallback(trial, self._metric)
        try:
            _linnet.train(model, task.data, task.training, callbacks=watch, **training)
        except _linnet.Error as error:
            if _NOT_FINITE not in str(error):
                raise
            raise optuna.TrialPruned(str(error)) from None
        assert watch.best is not None
        self.model = model
        return watch.best


def search(path: str | os.PathLike[str], choose: Callable[[optuna.Trial], Mapping[str, Any]], trials: int = 20, *,
           metric: str = "validation_loss", file: str | os.PathLike[str] | None = None,
           storage: Any = None, name: str | None = None, sampler: optuna.samplers.BaseSampler | None = None,
           pruner: optuna.pruners.BasePruner | None = None, seed: int = 0, threads: int = 0,
           **settings: Any) -> optuna.Study:
    """Trains on a table, a series, texts or images with the settings that Optuna tries, and returns the study.

        def choose(trial):
            rate = trial.suggest_float("learning_rate", 1e-4, 1e-1, log=True)
            return {"optimizer": ln.AdamW(learning_rate=rate),
                    "batch": trial.suggest_categorical("batch", [16, 32, 64])}

        study = ln.optuna.search("airfoil.csv", choose, trials=40, storage="sqlite:///airfoil.db",
                                 name="airfoil", file="best.safetensors")

    With a storage the search goes on where it was stopped, and several processes, also of several
    machines, that call it with the same storage and name share its trials. `optuna-dashboard
    sqlite:///airfoil.db` shows them. The test samples take no part.

    Arguments:
      path: what is learned from, as prepare() takes it
      choose: returns the settings of a trial: arguments of train(), or of prepare() such as ensemble
      trials: trials that end with a value or are given up, those of a stored study included, at least 1
      metric: of each trial's best epoch: "validation_loss", "validation_accuracy", "train_loss" or
        "train_accuracy"
      file: model file, written whenever a trial of this process becomes the best of the study; its
        weights are those that train() keeps, by default of the best validation loss
      storage: of Optuna: a URL such as "sqlite:///trials.db", or a storage; None: in memory
      name: name of the study in the storage
      sampler: of Optuna; TPESampler if not given
      pruner: of Optuna, which gives trials up; MedianPruner if not given
      seed: of the split, of each training and of the sampler
      threads: number of processors of a training; 0: all
      settings: those of prepare() that all trials have, e.g. target="price"

    Raises Error for what prepare() and train() refuse. A trial whose loss is not finite is given up."""
    _check(metric)
    if trials < 1:
        raise ValueError(f"trials: expected at least 1; got {trials}")
    objective = _Objective(path, choose, metric, seed, threads, settings)
    study = optuna.create_study(storage=storage, study_name=name, load_if_exists=True,
                                pruner=pruner or optuna.pruners.MedianPruner(),
                                direction="maximize" if _larger_is_better(metric) else "minimize")
    # A study that goes on must not draw what it drew before.
    study.sampler = sampler or optuna.samplers.TPESampler(seed=seed + len(study.trials))
    ended = (optuna.trial.TrialState.COMPLETE, optuna.trial.TrialState.PRUNED)

    def keep_best(study: optuna.Study, trial: optuna.trial.FrozenTrial) -> None:
        completed = trial.state == optuna.trial.TrialState.COMPLETE
        if file is not None and completed and study.best_trial.number == trial.number:
            objective.model.save(os.fspath(file))

    if len(study.get_trials(deepcopy=False, states=ended)) < trials:
        study.optimize(objective, callbacks=[optuna.study.MaxTrialsCallback(trials, states=ended), keep_best])
    return study
