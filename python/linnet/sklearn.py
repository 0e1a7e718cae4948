# SPDX-License-Identifier: Apache-2.0
"""Estimators for scikit-learn: a classifier and a regressor, multilayer perceptrons by default.

    from linnet.sklearn import LinnetClassifier
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    classifier = make_pipeline(StandardScaler(), LinnetClassifier(hidden=(64, 64), random_state=1))
    classifier.fit(x_train, y_train).score(x_test, y_test)

They compute in f32. An integer `random_state` gives the same bits at any number of threads."""
from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Sequence
from typing import TYPE_CHECKING, Any, Self

import numpy as np

from . import _linnet
from ._spelling import spelled
from ._linnet import (Dataset, Fleet, Layer, LossOptions, Model, Network, Optimizer, Schedule, ThreadTeam,
                      Trainer)
from .callbacks import ProgressBar
from .layers import Dense, Dropout, Flatten
from .schedules import Constant

try:
    from sklearn.base import BaseEstimator, ClassifierMixin, RegressorMixin  # type: ignore[import-untyped]
    from sklearn.utils import check_random_state, compute_sample_weight  # type: ignore[import-untyped]
    from sklearn.utils.multiclass import check_classification_targets  # type: ignore[import-untyped]
    from sklearn.utils.validation import _check_sample_weight, check_is_fitted, validate_data  # type: ignore[import-untyped]
except ImportError as missing:
    raise ImportError("linnet.sklearn needs scikit-learn 1.6 or newer: "
                      "pip install 'scikit-learn>=1.6'") from missing

if TYPE_CHECKING:
    from numpy.typing import ArrayLike, NDArray

    Floats = NDArray[np.floating[Any]]

__all__ = ["LinnetClassifier", "LinnetRegressor"]

# Teams of this process by their number of threads: all its estimators take turns on one.
_teams: dict[tuple[int, int], ThreadTeam] = {}


def _team(threads: int | None) -> ThreadTeam:
    """Returns this process's team of so many threads; None: OMP_NUM_THREADS, which joblib sets in its
    worker processes to their share of the processors, else 0: all processors."""
    if threads is None:
        given = os.environ.get("OMP_NUM_THREADS", "").partition(",")[0].strip()
        threads = int(given) if given.isdecimal() else 0
    key = os.getpid(), threads  # a forked process has none of its parent's threads
    if key not in _teams:
        _teams[key] = _linnet.make_thread_team(threads)
    return _teams[key]


class _Estimator(BaseEstimator):  # type: ignore[misc]
    """What the classifier and the regressor share."""

    _loss: Any = ""
    model_: Model
    models_: list[Model]

    @spelled
    def __init__(self, *, hidden: Sequence[int] = (100,), activation: str | Layer = "relu",
                 dropout: float = 0.0, norm: str | Layer | None = None,
                 network: Network | Callable[[int, int], Network] | None = None,
                 optimizer: str | Optimizer = "adam", learning_rate: float | None = None,
                 schedule: Schedule | None = None, l2: float = 0.0, batch: int = 128,
                 epochs: int = 200, validation_fraction: float = 0.0, patience: int = 10,
                 random_state: Any = None, device: str = "auto", threads: int | None = None,
                 verbose: bool = False, ensemble: int = 1) -> None:
        self.hidden = hidden
        self.activation = activation
        self.dropout = dropout
        self.norm = norm
        self.network = network
        self.optimizer = optimizer
        self.learning_rate = learning_rate
        self.schedule = schedule
        self.l2 = l2
        self.batch = batch
        self.epochs = epochs
        self.validation_fraction = validation_fraction
        self.patience = patience
        self.random_state = random_state
        self.device = device
        self.threads = threads
        self.verbose = verbose
        self.ensemble = ensemble

    def _make_network(self, features: int, outputs: int) -> Network:
        if self.network is None:
            layers: list[Layer] = []
            if not 0 <= self.dropout < 1:
                raise ValueError(f"[{type(self).__name__}] expected dropout in [0, 1); got {self.dropout!r}")
            if not isinstance(self.hidden, Iterable):
                raise TypeError(f"[{type(self).__name__}] expected hidden as a tuple of units, e.g. (100,); got "
                                f"{self.hidden!r}")
            for units in self.hidden:
                layers.append(Dense(int(units)))
                for layer in (self.norm, self.activation):
                    if layer is not None:
                        layers.append(Layer(layer, {}) if isinstance(layer, str) else layer)
                if self.dropout > 0:
                    layers.append(Dropout(self.dropout))
            return Network(features, [*layers, Dense(outputs)])
        network = self.network if isinstance(self.network, Network) else self.network(features, outputs)
        if not isinstance(network, Network):
            raise TypeError(f"[{type(self).__name__}] expected network to be a linnet.Network, or a "
                            f"function that returns one; got {network!r}")
        if np.prod(network.input_shape) != features or network.output_shape != (outputs,):
            raise ValueError(f"[{type(self).__name__}] expected a network from {features} features to "
                             f"{outputs} outputs; got one from {network.input_shape} to "
                             f"{network.output_shape}")
        return network

    def _make_optimizer(self) -> Optimizer:
        if isinstance(self.optimizer, str):
            given = {} if self.learning_rate is None else {"learning_rate": self.learning_rate}
            return Optimizer(self.optimizer, given)
        if self.learning_rate is not None:
            raise ValueError(f"[{type(self).__name__}] expected learning_rate to be None beside an "
                             f"optimizer that has its own; got {self.learning_rate} and "
                             f"{self.optimizer!r}")
        return self.optimizer

    def _device(self) -> str:
        return self.device

    def _train(self, x: Floats, targets: NDArray[Any], weights: Floats, outputs: int) -> None:
        """Trains a new model on the rows that have a weight."""
        if not 0 <= self.validation_fraction < 1:
            raise ValueError(f"[{type(self).__name__}] expected validation_fraction to be in [0, 1); "
                             f"got {self.validation_fraction}")
        seed = int(check_random_state(self.random_state).randint(np.iinfo(np.int32).max))
        network = self._make_network(x.shape[1], outputs)
        counted = weights > 0
        if not counted.any():
            raise ValueError(f"[{type(self).__name__}] expected a row with a weight above 0; got none")
        if not counted.all():
            x, targets, weights = x[counted], targets[counted], weights[counted]
        data = Dataset(x.reshape(-1, *network.input_shape), targets,
                       weights=np.asarray(weights / weights.mean(), np.float32))
        validation = None
        if self.validation_fraction > 0:
            data, validation = data.split(self.validation_fraction, seed=seed,
                                          stratify=targets.dtype == np.int32)
        if self.ensemble != 1:
            self._train_ensemble(network, data, validation, seed)
            return
        model = Model(network, device=self._device(), team=_team(self.threads), seed=seed)
        trainer = Trainer(model, optimizer=self._make_optimizer(), schedule=self.schedule or Constant(),
                          loss=self._loss, loss_options=LossOptions(l2=self.l2), seed=seed)
        history = trainer.fit(data, epochs=self.epochs, batch=min(self.batch, len(data)),
                              validation=validation, patience=self.patience,
                              keep_best=validation is not None, shuffle=self.batch < len(data),
                              callbacks=ProgressBar() if self.verbose else None)
        self.model_ = trainer.best() if validation is not None else model
        self.models_ = [self.model_]
        self.history_ = history.table()
        self.n_iter_ = len(history)

    def _train_ensemble(self, network: Network, data: Dataset, validation: Dataset | None, seed: int) -> None:
        """Trains members side by side, whose seeds follow each other."""
        if not isinstance(self.ensemble, (int, np.integer)) or self.ensemble < 1:
            raise ValueError(f"[{type(self).__name__}] expected ensemble to be a number of members, at least 1; got "
                             f"{self.ensemble!r}")
        if self.device not in ("auto", "cpu"):
            raise ValueError(f"[{type(self).__name__}] expected device to be 'auto' or 'cpu' for an ensemble, whose members "
                             f"train on the CPU; got {self.device!r}")
        if self.verbose:
            raise ValueError(f"[{type(self).__name__}] expected verbose=False for an ensemble, whose members train at once")
        members = int(self.ensemble)
        fleet = Fleet(network, members, seeds=[(seed + k) % 2**63 for k in range(members)], threads=self.threads or 0,
                      optimizer=self._make_optimizer(), schedule=self.schedule or Constant(), loss=self._loss,
                      loss_options=LossOptions(l2=self.l2))
        held_out: dict[str, Any] = {} if validation is None else {"validation": validation, "keep_best": True}
        history = fleet.fit(data, epochs=self.epochs, batch=min(self.batch, len(data)), patience=self.patience,
                            shuffle=self.batch < len(data), **held_out)
        failed = [sentence for sentence in history.failures if sentence]
        if failed:
            raise _linnet.Error(f"[{type(self).__name__}] {failed[0]}")
        self.models_ = [member.copy() if validation is None else fleet.best(k) for k, member in enumerate(fleet.members)]
        self.model_ = self.models_[0]
        self.history_ = history.members[0].table()
        self.n_iter_ = max(len(member) for member in history.members)

    def _outputs(self, X: ArrayLike) -> Floats:
        """Returns the members' outputs, (members, N, outputs). A row's bits do not depend on other rows."""
        check_is_fitted(self)
        x = validate_data(self, X, reset=False, dtype=np.float32, order="C")
        samples = x.reshape(-1, *self.model_.sample_shape)
        return np.stack([model.predict(samples).astype(np.float64) for model in self.models_])

    def __getstate__(self) -> dict[str, Any]:
        state = dict(super().__getstate__())
        if "model_" in state:
            state["models_"] = [model.to_bytes() for model in state["models_"]]
            del state["model_"]
        return state

    def __setstate__(self, state: dict[str, Any]) -> None:
        state = dict(state)
        if "model_" in state:  # of a version without ensembles
            state["models_"] = [state.pop("model_")]
        if "models_" in state:
            state["models_"] = [Model.from_bytes(each, device=state["device"], team=_team(state["threads"]))
                                for each in state["models_"]]
            state["model_"] = state["models_"][0]
        state.setdefault("ensemble", 1)
        super().__setstate__(state)


_PARAMETERS = """

    Parameters
    ----------
    hidden : units of each hidden layer.
    activation : activation after each, a kind such as "relu", "tanh" or "gelu", or a layer.
    dropout : share of a hidden layer's values that a training step sets to 0, in [0, 1).
    norm : "batch_norm", "layer_norm" or a layer between a hidden layer and its activation; None: none.
    network : a linnet.Network, or a function of the numbers of features and outputs that returns one,
        instead of the perceptron that the parameters above describe. A row of X is reshaped to one
        sample of it.
    optimizer : a kind such as "adam" or "sgd", or a linnet optimizer.
    learning_rate : learning rate of an optimizer that is given by its kind; None: its default.
    schedule : learning-rate schedule; None: constant.
    l2 : adds l2 times the sum of all squared weights, biases left out, to the loss.
    batch : rows of a training step. A batch of all rows is not shuffled.
    epochs : largest number of passes over the rows.
    validation_fraction : share of the rows that is held out to choose the best epoch, in [0, 1);
        0: none, and the model is that of the last epoch.
    patience : epochs without a lower loss, of the rows held out or else of training, after which the
        training stops; 0: never.
    random_state : seed of weights, shuffling, dropout and the split: an int, None or a RandomState.
    device : "auto", "cpu" or "cuda".
    threads : threads of the process's team, which all estimators share; 0: all processors; None:
        OMP_NUM_THREADS, which joblib sets for its worker processes, or all processors.
    verbose : writes a line for each epoch to stderr.
    ensemble : number of networks that are trained side by side on the CPU (linnet.Fleet) from seeds that follow each
        other, and whose answers are averaged.

    Attributes
    ----------
    model_ : the trained linnet.Model, {outputs}; of an ensemble the first one.
    models_ : the models of an ensemble; else model_ alone.
    history_ : losses, learning rates and seconds by epoch, columns for pandas.DataFrame.
    n_iter_ : epochs that were trained."""


class LinnetClassifier(ClassifierMixin, _Estimator):  # type: ignore[misc]
    __doc__ = ("""Classifies rows into two or more classes by a neural network that minimises the
    cross-entropy. Scale the features first, e.g. by a StandardScaler."""
               + _PARAMETERS.format(outputs="whose outputs are the classes' logits")
               + """
    classes_ : the classes, in the order of the network's outputs.""")

    _loss = "cross_entropy"

    @spelled
    def __init__(self, *, hidden: Sequence[int] = (100,), activation: str | Layer = "relu",
                 dropout: float = 0.0, norm: str | Layer | None = None,
                 network: Network | Callable[[int, int], Network] | None = None,
                 optimizer: str | Optimizer = "adam", learning_rate: float | None = None,
                 schedule: Schedule | None = None, l2: float = 0.0, batch: int = 128,
                 epochs: int = 200, validation_fraction: float = 0.0, patience: int = 10,
                 class_weight: dict[Any, float] | str | None = None, random_state: Any = None,
                 device: str = "auto", threads: int | None = None, verbose: bool = False,
                 ensemble: int = 1) -> None:
        super().__init__(hidden=hidden, activation=activation, dropout=dropout, norm=norm,
                         network=network, optimizer=optimizer, learning_rate=learning_rate,
                         schedule=schedule, l2=l2, batch=batch, epochs=epochs,
                         validation_fraction=validation_fraction, patience=patience,
                         random_state=random_state, device=device, threads=threads, verbose=verbose,
                         ensemble=ensemble)
        self.class_weight = class_weight

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Trains a new model on rows X (N, features) and their classes y (N). The loss of a batch is
        the mean weighted by `sample_weight` (N) and `class_weight`."""
        x, labels = validate_data(self, X, y, dtype=np.float32, order="C")
        check_classification_targets(labels)
        of_classes = compute_sample_weight(self.class_weight, labels)
        if np.any(of_classes < 0):
            raise ValueError(f"[{type(self).__name__}] expected class_weight of at least 0; got {self.class_weight!r}")
        weights = _weights(sample_weight, x) * of_classes
        self.classes_, targets = np.unique(labels, return_inverse=True)
        if len(self.classes_) < 2:
            raise ValueError("[LinnetClassifier] expected at least 2 classes in y; got 1 class")
        self._train(x, targets.astype(np.int32), weights, len(self.classes_))
        return self

    def _logits(self, X: ArrayLike) -> Floats:
        """Returns the logits, (N, classes); those of an ensemble are the logarithms of its probabilities."""
        check_is_fitted(self)
        logits: Floats = self._outputs(X)[0] if len(self.models_) == 1 else self.predict_log_proba(X)
        return logits

    def decision_function(self, X: ArrayLike) -> Floats:
        """Returns the logits, (N, classes); for two classes the second's log odds, (N). Those of an ensemble are the
        logarithms of its probabilities."""
        logits = self._logits(X)
        return logits[:, 1] - logits[:, 0] if len(self.classes_) == 2 else logits

    def predict_proba(self, X: ArrayLike) -> Floats:
        """Returns the probabilities of the classes, (N, classes)."""
        logits = self._outputs(X)
        exponentials: Floats = np.exp(logits - logits.max(axis=2, keepdims=True))
        probabilities: Floats = exponentials / exponentials.sum(axis=2, keepdims=True)
        mean: Floats = probabilities.mean(axis=0)
        return mean

    def predict_log_proba(self, X: ArrayLike) -> Floats:
        """Returns the logarithms of the classes' probabilities, (N, classes)."""
        logits = self._outputs(X)
        shifted: Floats = logits - logits.max(axis=2, keepdims=True)
        logarithms: Floats = shifted - np.log(np.exp(shifted).sum(axis=2, keepdims=True))
        result: Floats = np.logaddexp.reduce(logarithms, axis=0) - np.log(len(logarithms))
        return result

    def predict(self, X: ArrayLike) -> NDArray[Any]:
        """Returns the most probable class of each row, (N)."""
        best = self._logits(X).argmax(axis=1)
        classes: NDArray[Any] = self.classes_[best]
        return classes


class LinnetRegressor(RegressorMixin, _Estimator):  # type: ignore[misc]
    __doc__ = ("""Predicts one or several numbers for each row by a neural network that minimises the
    squared error. Targets are standardised for the training. Scale the features first, e.g. by a
    StandardScaler."""
               + _PARAMETERS.format(outputs="whose outputs are (y - target_mean_) / target_scale_")
               + """
    target_mean_, target_scale_ : mean and standard deviation of each target.""")
    __doc__ = __doc__.replace("""    optimizer : a kind""", """    solver : "lm" trains by Levenberg-Marquardt, for high accuracy with a small network, e.g.
        hidden=(10,), activation="tanh", without dropout and norm: an epoch is then one iteration over
        all rows; None: the optimizer trains.
    optimizer : a kind""")

    _loss = "mse"

    @spelled
    def __init__(self, *, hidden: Sequence[int] = (100,), activation: str | Layer = "relu",
                 dropout: float = 0.0, norm: str | Layer | None = None,
                 network: Network | Callable[[int, int], Network] | None = None,
                 solver: str | None = None, optimizer: str | Optimizer = "adam",
                 learning_rate: float | None = None, schedule: Schedule | None = None,
                 l2: float = 0.0, batch: int = 128, epochs: int = 200,
                 validation_fraction: float = 0.0, patience: int = 10, random_state: Any = None,
                 device: str = "auto", threads: int | None = None, verbose: bool = False,
                 ensemble: int = 1) -> None:
        super().__init__(hidden=hidden, activation=activation, dropout=dropout, norm=norm,
                         network=network, optimizer=optimizer, learning_rate=learning_rate,
                         schedule=schedule, l2=l2, batch=batch, epochs=epochs,
                         validation_fraction=validation_fraction, patience=patience,
                         random_state=random_state, device=device, threads=threads, verbose=verbose,
                         ensemble=ensemble)
        self.solver = solver

    def _make_optimizer(self) -> Optimizer:
        if self.solver is None:
            return super()._make_optimizer()
        if self.solver != "lm":
            raise ValueError(f"[LinnetRegressor] expected solver to be None or 'lm'; got {self.solver!r}")
        if self.optimizer != "adam" or self.learning_rate is not None or self.schedule is not None:
            raise ValueError("[LinnetRegressor] expected no optimizer, learning_rate and schedule beside "
                             "solver='lm', which has none")
        if self.ensemble != 1:
            raise ValueError("[LinnetRegressor] expected ensemble=1 beside solver='lm'; got "
                             f"{self.ensemble!r}")
        return Optimizer("levenberg_marquardt", {})

    def _device(self) -> str:
        return "cpu" if self.solver == "lm" and self.device == "auto" else self.device

    def fit(self, X: ArrayLike, y: ArrayLike, sample_weight: ArrayLike | None = None) -> Self:
        """Trains a new model on rows X (N, features) and targets y, (N) or (N, targets). The loss of
        a batch is the mean weighted by `sample_weight` (N)."""
        x, y = validate_data(self, X, y, dtype=np.float32, order="C", multi_output=True,
                             y_numeric=True)
        weights = _weights(sample_weight, x)
        values = np.asarray(y, np.float64)
        self._one_target = values.ndim == 1
        values = values.reshape(len(x), -1)
        self.target_mean_ = np.average(values, axis=0, weights=weights)
        scale = np.sqrt(np.average((values - self.target_mean_) ** 2, axis=0, weights=weights))
        self.target_scale_ = np.where(scale > 0, scale, 1.0)
        values = (values - self.target_mean_) / self.target_scale_
        self._train(x, values.astype(np.float32), weights, values.shape[1])
        return self

    def predict(self, X: ArrayLike) -> Floats:
        """Returns the predicted targets, in the shape of y."""
        values: Floats = self._outputs(X).mean(axis=0) * self.target_scale_ + self.target_mean_
        return values[:, 0] if self._one_target else values

    def __sklearn_tags__(self) -> Any:
        tags = super().__sklearn_tags__()
        tags.target_tags.multi_output = True
        return tags


def _weights(sample_weight: ArrayLike | None, x: Floats) -> NDArray[np.float64]:
    """Returns the weights of the rows, at least 0."""
    weights: NDArray[np.float64] = _check_sample_weight(sample_weight, x, dtype=np.float64,
                                                        ensure_non_negative=True)
    return weights
