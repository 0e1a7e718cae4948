# SPDX-License-Identifier: Apache-2.0
"""What the JAX peers share: a Flax model and an Optax rule, resident data, a training step or a
prediction compiled as a whole by jax.jit with its state donated, as Flax's guides have it. A peer
hands run() its module, whose call takes the samples as they are stored, (N, H, W, C) u8 for images,
and `train`; and `loss(outputs, targets)`.

Modes: jit compiles one step or one batch's prediction; epoch compiles all whole batches of an epoch
as one jax.lax.scan, and an incomplete last batch by itself.
"""
import os
import sys
import time
from pathlib import Path

import flax
import jax
import jaxlib
import numpy as np
import optax
from flax import linen as nn

sys.path.append(str(Path(__file__).resolve().parents[1] / "common"))
import peer  # noqa: E402

MODES = ("jit", "epoch")
MATMUL = {"auto": None, "fp32": "highest", "tf32": "tensorfloat32"}
# Linnet's first weights: Glorot uniform, and of convolutions in networks with batch norm
# N(0, 2 / fan in). Biases start at 0.
GLOROT = nn.initializers.glorot_uniform()
HE = nn.initializers.variance_scaling(2.0, "fan_in", "normal")


def pixels(x):
    """(N, H, W, C) u8 to f32 in [0, 1]."""
    return x.astype(np.float32) / 255


def imagenet_pixels(x):
    """The same, less ImageNet's mean and divided by its std."""
    return (pixels(x) - np.float32((0.485, 0.456, 0.406))) / np.float32((0.229, 0.224, 0.225))


def cross_entropy(outputs, targets):
    return optax.softmax_cross_entropy_with_integer_labels(outputs, targets).mean()


def squared_error(outputs, targets):
    return ((outputs - targets) ** 2).mean()


def momentum(rate):
    """SGD with momentum 0.9."""
    return optax.sgd(rate, momentum=0.9)


class Run:
    """One model on resident data."""

    def __init__(self, options, model, loss, optimizer):
        self.options, self.model, self.loss = options, model, loss
        jax.config.update("jax_platforms", "cuda" if options.device.startswith("cuda") else "cpu")
        if options.threads:  # JAX makes as many as it may use processors when it starts to compute
            os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:options.threads])
        if MATMUL[options.precision]:
            jax.config.update("jax_default_matmul_precision", MATMUL[options.precision])
        data = peer.Data(options.data)
        self.data_seconds = data.seconds
        self.samples, self.targets = jax.device_put((data.samples, data.targets))
        self.epoch_samples = peer.epoch_samples(options, len(data.samples))
        self.shuffle = np.random.default_rng(options.seed)
        self.key = jax.random.key(options.seed)
        variables = jax.jit(lambda key, x: model.init(key, x, train=False))(
            self.key, self.samples[:1])
        self.parameters = sum(each.size for each in jax.tree.leaves(variables["params"]))
        peer.check_parameters(options, self.parameters)
        self.predict = jax.jit(lambda variables, x: model.apply(variables, x, train=False))
        self.predict_many = jax.jit(lambda variables, x: jax.lax.map(
            lambda batch: model.apply(variables, batch, train=False), x))
        if options.infer:
            self.variables = variables
            return
        self.optimizer = optimizer
        self.first = jax.device_get((variables, optimizer.init(variables["params"])))
        self.restart()
        self.step = jax.jit(self._step, donate_argnums=0)
        self.steps = jax.jit(self._steps, donate_argnums=0)

    def restart(self):
        """Goes back to the first weights and moments; what was compiled stays."""
        if not self.options.infer:
            self.state = (*jax.device_put(self.first), np.int32(0), np.float32(0))

    def _step(self, state, samples, targets, index):
        variables, moments, count, total = state
        rest = {name: each for name, each in variables.items() if name != "params"}
        x = samples.at[index].get(mode="promise_in_bounds")
        y = targets.at[index].get(mode="promise_in_bounds")
        keys = {"dropout": jax.random.fold_in(self.key, count)}

        def mean_loss(params):
            outputs, changed = self.model.apply({"params": params, **rest}, x, train=True,
                                                rngs=keys, mutable=list(rest))
            return self.loss(outputs, y), changed
        (value, changed), gradients = jax.value_and_grad(mean_loss, has_aux=True)(
            variables["params"])
        updates, moments = self.optimizer.update(gradients, moments, variables["params"])
        params = optax.apply_updates(variables["params"], updates)
        return {"params": params, **changed}, moments, count + 1, total + value * len(index)

    def _steps(self, state, samples, targets, indices):
        def step(carry, index):
            return self._step(carry, samples, targets, index), None
        return jax.lax.scan(step, state, indices)[0]

    def _whole_batches(self):
        """How many of an epoch one call takes together; 0: each is a call of its own."""
        return self.epoch_samples // self.options.batch if self.options.mode == "epoch" else 0

    def epoch(self):
        """Seconds of an epoch, and its mean loss; None of predictions."""
        start = time.perf_counter()
        loss = self._predict_all() if self.options.infer else self._train_epoch()
        return time.perf_counter() - start, loss

    def _train_epoch(self):
        state = (*self.state[:3], np.float32(0))
        order = self.shuffle.permutation(len(self.samples)).astype(np.int32)[:self.epoch_samples]
        data = self.samples, self.targets
        many = self._whole_batches()
        together = many * self.options.batch
        if many:
            state = self.steps(state, *data, order[:together].reshape(many, self.options.batch))
        for begin, end in peer.bounds(len(order) - together, self.options.batch):
            state = self.step(state, *data, order[together + begin:together + end])
        self.state = jax.block_until_ready(state)
        return float(state[3]) / len(order)

    def _predict_all(self):
        many = self._whole_batches()
        together = many * self.options.batch
        if many:
            shape = (many, self.options.batch, *self.samples.shape[1:])
            self.outputs = self.predict_many(self.variables,
                                             self.samples[:together].reshape(shape))
        for begin, end in peer.bounds(self.epoch_samples - together, self.options.batch):
            self.outputs = self.predict(self.variables,
                                        self.samples[together + begin:together + end])
        jax.block_until_ready(self.outputs)

    def test(self):
        """Mean loss of the test set, and its accuracy where targets are classes; None without."""
        def evaluate(x, y):
            outputs = self.predict(self.state[0], x)
            return self.loss(outputs, y), np.asarray(outputs)
        return peer.tested(self.options.data, evaluate)

    def finite(self):
        return not self.options.infer or bool(np.isfinite(self.outputs).all())

    def about(self):
        device = jax.devices()[0]
        return {"framework": "jax", "mode": self.options.mode,
                "device": "cpu" if device.platform == "cpu" else device.device_kind,
                "parameters": self.parameters, "threads": len(os.sched_getaffinity(0)),
                "versions": {"jax": jax.__version__, "jaxlib": jaxlib.__version__,
                             "flax": flax.__version__}}


def forget():
    """Frees what an earlier run() of this process left."""
    jax.clear_caches()


def run(program, model, loss, optimizer=optax.adam(1e-3)):
    """Runs the whole program of this path, `__file__`: `model` must have as many parameters as
    workloads.json says."""
    started = time.perf_counter()
    options = peer.parser(program, "JAX", MODES, precisions=tuple(MATMUL)).parse_args()
    peer.report(Run(options, model, loss, optimizer), started)
