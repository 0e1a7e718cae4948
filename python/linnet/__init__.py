# SPDX-License-Identifier: Apache-2.0
"""Linnet trains and runs neural networks. docs/python.md has the first fifteen lines.

The names are those of the C++ API (docs/api.md), its designated initialisers are keyword arguments, and
arrays of NumPy, or of anything with the buffer protocol or DLPack, stand for its Tensors."""
from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any

from . import _hints as _hints, _linnet, layers, optimizers, schedules
from ._linnet import *  # noqa: F403
from ._linnet import (Expression, Layer, LayerWeights, Network, __version__ as __version__, abs, all, any,
                      datasets, max, min, pow, round, slice, sum, zoo)
from ._bench import BenchResult as BenchResult, bench as bench
from ._spelling import spelled as _spelled
from .callbacks import (Callback as Callback, CsvLog as CsvLog, FleetCallback as FleetCallback,
                        JsonLinesLog as JsonLinesLog, ProgressBar as ProgressBar, TensorBoardLog as TensorBoardLog)
from .layers import *  # noqa: F403
from .optimizers import *  # noqa: F403
from .schedules import *  # noqa: F403

if TYPE_CHECKING:
    from . import optuna, sklearn


class CustomLayer(Layer):
    """Describes a custom layer, as a function of its input and its weights that returns an expression.

    The function is called once, when the layer is added to a network. A saved model holds the resulting
    operators, so loading it does not need the function.

        def scaled_swish(x, weights):
            return x * ln.sigmoid(x * weights.add("scale", (x.shape[-1],), 1))

        network = ln.Network((8,), [ln.CustomLayer(scaled_swish), ln.Dense(1)])

    Arguments:
      function: returns the layer's output
      kind: kind of layer, for its default name and in errors; the function's name by default
      name: name of the layer; by default the kind and a number"""

    @_spelled
    def __init__(self, function: Callable[[Expression, LayerWeights], Expression], kind: str = "",
                 name: str = "") -> None:
        super().__init__(function, kind or getattr(function, "__name__", "custom"), name)


@_spelled
def sequential(sample: int | Sequence[int], layers: Sequence[Layer], dtype: Any = "f32") -> Network:
    """Returns a network of these layers on samples of this shape, e.g. (28, 28, 1)."""
    return Network(sample, layers, dtype)


# What PyTorch and Keras call them.
_OTHERS = {"Linear": "Dense", "Sequential": "sequential", "BatchNorm1d": "BatchNorm", "BatchNorm2d": "BatchNorm",
           "BatchNormalization": "BatchNorm", "DataLoader": "Dataset", "fit": "train", "load": "Model.load", "load_model": "Model.load"}

if not TYPE_CHECKING:
    def __getattr__(name: str) -> Any:
        if name in ("optuna", "sklearn"):  # need libraries that nothing else does
            import importlib
            return importlib.import_module("linnet." + name)
        text = f"module 'linnet' has no attribute '{name}'"
        if not name.startswith("_"):
            classes = {one.lower(): one for one in __all__ if one[0].isupper() == name[0].isupper()}
            near = _OTHERS.get(name) or classes.get(name.lower())
            text += f"; did you mean '{near}'?" if near else _linnet._did_you_mean(name, [*__all__, "optuna", "sklearn"])
        raise AttributeError(text)


_SHADOW = {"abs", "all", "any", "max", "min", "pow", "round", "slice", "sum"}  # Python's own
__all__ = sorted(name for name in globals()
                 if not name.startswith("_") and name not in _SHADOW | {"annotations", "Callable",
                                                                         "Sequence", "Any",
                                                                         "TYPE_CHECKING"})
