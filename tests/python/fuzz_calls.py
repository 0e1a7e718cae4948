#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Calls everything public with arguments of wrong types and shapes: fuzz_calls.py SEED ROUNDS.

An exception is an answer; a signal, an abort or a SystemError is not. The last call stands in the file
last_call.txt of the working folder."""
import ast
import inspect
import random
import sys
import warnings
from pathlib import Path

import numpy as np

import linnet as ln

# What runs long for large numbers gets small ones; fashion_mnist() would download.
SMALL = {"epochs", "steps", "iterations", "evaluations", "threads", "train", "test", "features", "depth",
         "train_samples", "folds", "batch", "shards", "prefetch", "decoders", "every_steps", "size", "keep",
         "repeats", "points", "bins", "calibration_bins", "residual_bins", "past", "future", "season"}
LEFT_OUT = {"fashion_mnist", "Dataset.map", "cuda_status"}


class Raising:
    """Fails in every way in which Python looks into it."""

    def __getattr__(self, name):
        raise RuntimeError(name)

    def __index__(self):
        raise RuntimeError("__index__")

    def __float__(self):
        raise RuntimeError("__float__")

    def __len__(self):
        raise RuntimeError("__len__")

    def __getitem__(self, key):
        raise RuntimeError("__getitem__")


class Lying:
    """Says that it has more than it gives."""

    def __len__(self):
        return 5

    def __getitem__(self, key):
        raise IndexError(key)

    __array__ = None


def values():
    network = ln.sequential(3, [ln.Dense(4), ln.ReLU(), ln.Dense(2)])
    model = ln.Model(network, threads=1)
    data = ln.Dataset(np.ones((8, 3), np.float32), np.zeros(8, np.int32))
    trainer = ln.Trainer(model)
    trainer.fit(data, epochs=1, batch=4, keep_best=True)
    f = ln.FunctionalNetwork()
    x = f.input("x", (2, 3))
    batch = next(iter(trainer.batches(data, size=4)))
    cyclic: list = []
    cyclic.append(cyclic)
    cyclic_dict: dict = {}
    cyclic_dict["a"] = cyclic_dict
    arrays = [np.zeros(shape, kind) for shape in ((), (0,), (3,), (8, 3), (2, 3, 4), (1,) * 12)
              for kind in ("f4", "f8", "i4", "i8", "u1", "?", "c8", "U3", "O", "M8[s]", "f2", ">f4")]
    other = [None, True, False, "", "f32", "input", "dense_1", "mse", "cpu", "cuda:9", "\0", "ü" * 300, b"bytes",
             float("nan"), float("inf"), -1.5, 1e300, [], [1, 2], (3,), [[1], [2, 3]], ["a", None], {},
             {"a": 1}, {"input": np.ones((8, 3), "f4")}, {1: 2}, cyclic, cyclic_dict, object(), Raising(), Lying(),
             range(3), slice(1, 2), ..., lambda *a: None, lambda a, b: a, int, ln.Dense, Exception,
             memoryview(b"abc"), np.ones((8, 3), "f4")[:, ::-1], np.float32(2), np.int64(3), np.bool_(True)]
    ours = [network, model, data, trainer, f, x, x[0], batch, trainer.step(batch), ln.Dense(2), ln.Dropout(0.5),
            ln.Adam(), ln.CosineDecay(), ln.Clip(1), ln.Objective(), ln.Augment(flip=0.5), ln.Watch(),
            ln.Tensor(np.ones(3)), ln.summarize(network), ln.Predictor(model), ln.block("b", [ln.Dense(1)]),
            trainer.evaluate(data), ln.Splits(), ln.LBFGS(iterations=1), ln.RecordSource([[1.0]] * 4, record=1),
            ln.CustomMetric("m", lambda y, t: y), ln.Callback(), ln.make_thread_team(1), ln.LossOptions(),
            trainer.batches(data), ln.OutputLoss("output", "mse")]
    small = [-1, 0, 1, 2, 3, 7]
    return small, [*arrays, *other, *ours, *small, 100, 2**31, 2**63, -2**63, 2**70], ours


def signatures():
    """Yields (owner, name, parameters) of what the stub declares, and of the Python files."""
    stub = ast.parse((Path(ln.__file__).parent / "_linnet" / "__init__.pyi").read_text())
    for node in stub.body:
        inner = node.body if isinstance(node, ast.ClassDef) else [node]
        for one in inner:
            if isinstance(one, ast.FunctionDef):
                owner = node.name if isinstance(node, ast.ClassDef) else ""
                names = [a.arg for a in [*one.args.posonlyargs, *one.args.args, *one.args.kwonlyargs]]
                yield owner, one.name, [name for name in names if name != "self"]
    for name in sorted(set(ln.__all__)):
        made = getattr(ln, name)
        if isinstance(made, type) and made.__module__ != "linnet._linnet" and not issubclass(made, Exception):
            yield "", name, [p for p in inspect.signature(made).parameters if p not in ("args", "kwargs")]
    for module in ("zoo", "datasets"):
        for name in dir(getattr(ln, module)):
            if not name.startswith("_"):
                yield module, name, ["name", "seed", "sample", "classes", "depth", "hidden", "features"]


def right_calls(ours):
    """Returns calls that are right, of which one argument at a time is then replaced."""
    network, model, data, trainer = ours[:4]
    x, y = np.ones((8, 3), np.float32), np.zeros(8, np.int32)
    return [(ln.Dataset, [x, y], {"weights": np.ones(8), "classes": ["a", "b"], "name": "n"}),
            (ln.sequential, [3, [ln.Dense(2)]], {"dtype": "f32"}), (ln.Conv2d, [4], {"kernel": 3, "padding": "same"}),
            (ln.Model, [network], {"device": "cpu", "threads": 1, "seed": 1, "precision": "bf16"}),
            (ln.Trainer, [model], {"optimizer": ln.Adam(), "schedule": ln.CosineDecay(), "loss": "mse",
                                   "trains": ["*"], "metrics": {"m": lambda y, t: y}, "clip": ln.Clip(1)}),
            (trainer.fit, [data], {"epochs": 1, "batch": 4, "validation": (x, y), "patience": 1, "shards": 2,
                                   "augment": ln.Augment(), "callbacks": [ln.Callback()]}),
            (trainer.step, [ours[7]], {}), (trainer.evaluate, [data], {"batch": 4}),
            (trainer.gradients, [ours[7]], {}), (trainer.load_state, [trainer.state()], {}),
            (trainer.batches, [data], {"size": 3, "shuffle": True}), (trainer.minimize, [data, ln.LBFGS(2)], {}),
            (model.predict, [x], {"batch": 3}), (model.predict, [{"input": x}], {}), (model.set_weights, [model.weights()], {}),
            (model.set_parameter, ["dense_1.bias", np.ones(4)], {}), (model.value_of, ["dense_1", x], {}),
            (model.input_gradient, [x], {"by": "input", "of": "output", "index": 1}), (model.jacobian, [x], {"by": "input", "of": "output"}),
            (model.hessian, [x], {"by": "input", "of": "output"}),
            (model.with_head, ["dense_2", ln.Dense(3)], {}),
            (ln.Predictor, [model], {"batches": [1, 2], "dtype": "f32"}), (ln.Predictor(model).predict, [x], {"out": np.empty((8, 2), "f4")}),
            (ln.Predictor(model).classify, [x], {}), (data.take, [[0, 1]], {}), (data.split, [0.5], {"seed": 1, "stratify": True}),
            (data.rows, [0, 4], {}), (ln.write_state, ["state", trainer.state()], {}), (model.save, ["model.safetensors"], {}),
            (ln.Model.load, ["model.safetensors"], {"device": "cpu"}), (ln.table_task, [{"a": [1, 2, 3] * 9, "y": [1, 2, 3] * 9}, "y"], {"test": 0.3}),
            (ln.parse_table, ["a,b\n1,2\n", "t"], {"separator": ","}), (ln.train, [model, data], {"epochs": 1, "batch": 4}),
            (ln.evaluate_metrics, [model, data], {"batch": 4}), (ln.summarize, [network, 4], {}), (ln.profile_training, [model, data], {"batch": 4, "steps": 2}),
            (ln.concat, [[ours[5], ours[5]]], {"axis": 0}), (ln.einsum, ["bij,bij->bi", [ours[5], ours[5]]], {}), (ln.reshape, [ours[5], (3, 2)], {}),
            (ln.RecordSource, [list(x)], {"record": 3}), (ln.zoo.mlp, [3, [4], ln.ReLU(), 2], {}), (ln.zoo.resnet18, [], {"sample": (32, 32, 3)}),
            (ln.Residual, [[ln.Dense(3)]], {"shortcut": [ln.Dense(3)]}), (ln.CustomLayer, [lambda x, w: x], {"kind": "k"}),
            (data.__getitem__, [[0, 1]], {}), (model, [x], {"batch": 3}), (network.summary, [4], {}), (model.plan, [4, "graph"], {}),
            (ln.Model.from_bytes, [model.to_bytes()], {"threads": 1}), (ln.max_batch, [network], {"memory_limit": 1 << 20}),
            (ln.series_task, [{"t": list(range(60)), "v": [1.0, 2.0] * 30}, "v"], {"past": 4, "future": 2}),
            (ln.prediction_report, [ln.predictions_of(model, data), data], {"calibration_bins": 5}),
            (ln.Splits, [data, data], {"test": data}), *estimator_calls(x, y)]


def estimator_calls(x, y):
    """Fits of scikit-learn's estimators, where it is installed."""
    try:
        from linnet.sklearn import LinnetClassifier, LinnetRegressor
    except ImportError:
        return []
    def fitted(made, **given):
        return lambda x, y, sample_weight, **more: made(**({"epochs": 1, "hidden": (2,), "threads": 1} | given | more)).fit(
            x, y, sample_weight).predict(x)
    return [(fitted(made), [x, y, np.ones(8)], {"hidden": (2,), "activation": "relu", "optimizer": "adam", "learning_rate": 1e-3,
                                                "validation_fraction": 0.25, "random_state": 1, "schedule": None, "batch": 4})
            for made in (LinnetClassifier, LinnetRegressor)]


def shown(value):
    simple = value is None or isinstance(value, (bool, int, float, str))
    return ascii(value)[:40] if simple else type(value).__name__


def main(seed, rounds):
    warnings.simplefilter("ignore")
    chosen = random.Random(int(seed))
    small, all_values, ours = values()
    log = open("last_call.txt", "w")
    calls = 0
    for owner, name, parameters in signatures():
        full = f"{owner}.{name}" if owner else name
        if name in LEFT_OUT or full in LEFT_OUT or name in ("fit", "minimize") and owner == "":
            continue
        for _ in range(int(rounds)):
            def value(parameter):
                return chosen.choice(small if parameter in SMALL else all_values)
            count = chosen.randint(0, len(parameters))
            positional = [value(p) for p in parameters[:count]]
            named = {p: value(p) for p in parameters[count:] if chosen.random() < 0.3}
            if chosen.random() < 0.1:
                named["no_such_argument"] = 1
            target = getattr(ln, owner) if owner else ln
            if name == "__init__":
                called = target
            else:
                if isinstance(target, type):
                    target = chosen.choice([one for one in ours if isinstance(one, target)] or
                                           [target.__new__(target)])
                try:
                    called = getattr(target, name, None)
                except TypeError:  # a property of an object that was never made
                    continue
            if not callable(called):
                continue
            log.seek(0)
            log.truncate()
            log.write(f"{full}({', '.join(map(shown, positional))}, "
                      f"{', '.join(f'{k}={shown(v)}' for k, v in named.items())})\n")
            log.flush()
            calls += 1
            try:
                called(*positional, **named)
            except SystemError:
                raise
            except BaseException as error:
                if isinstance(error, (KeyboardInterrupt, SystemExit)):
                    raise
                str(error)
    for called, positional, named in right_calls(ours):
        places = [*range(len(positional)), *named]
        for place in places * 2 * int(rounds):
            arguments, keywords = list(positional), dict(named)
            # Numbers that mean long work stay small.
            value = chosen.choice(small if place in SMALL or called == ln.table_task else all_values)
            (keywords if isinstance(place, str) else arguments)[place] = value
            log.seek(0)
            log.truncate()
            log.write(f"{called!r}({', '.join(map(shown, arguments))}, {place} replaced)\n")
            log.flush()
            calls += 1
            try:
                called(*arguments, **keywords)
            except SystemError:
                raise
            except Exception as error:
                str(error)
    print(f"{calls} calls")


if __name__ == "__main__":
    main(*sys.argv[1:])
