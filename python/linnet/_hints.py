# SPDX-License-Identifier: Apache-2.0
"""Says what the methods of other libraries' models are called here."""
from __future__ import annotations

from typing import Any

from ._linnet import Model

TRAIN = "linnet.train(model, data, epochs=...) trains a model"
_METHODS = {"fit": TRAIN, "train": TRAIN, "compile": "linnet.train() takes the optimizer and the loss",
            "evaluate": "linnet.evaluate(model, data) measures a model", "eval": "predictions need no mode",
            "forward": "model.predict(x) computes outputs", "save_weights": "model.save(path) writes a model",
            "load_weights": "Model.load(path) reads a model"}
_WEIGHTS = dict.fromkeys(("parameters", "get_weights", "state_dict", "named_parameters"), "weights")
_NAMES = {**_WEIGHTS, "load_state_dict": "set_weights", "predict_proba": "predict_probabilities"}


def _no_attribute(model: Model, name: str) -> Any:
    text = f"'Model' object has no attribute '{name}'"
    if name in _METHODS:
        text += f"; {_METHODS[name]}"
    elif name in _NAMES:
        text += f"; did you mean '{_NAMES[name]}'?"
    raise AttributeError(text)


Model.__getattr__ = _no_attribute  # type: ignore[attr-defined]  # called for what is missing alone
