# SPDX-License-Identifier: Apache-2.0
"""What the TensorFlow peers share: a Keras model, resident data, and the ways to train it. A peer
hands run() its model, which takes the samples as they are stored, (N, H, W, C) u8 for images.

Modes: function is a custom training step in a tf.function, as TensorFlow's guides have it for
speed; xla the same with jit_compile; fit is Keras' compile(), fit() and predict() on arrays.
"""
import os
import sys
import time
from pathlib import Path

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")  # no greetings
import keras  # noqa: E402
import numpy as np  # noqa: E402
import tensorflow as tf  # noqa: E402
from keras import layers  # noqa: E402

sys.path.append(str(Path(__file__).resolve().parents[1] / "common"))
import peer  # noqa: E402

MODES = ("function", "xla", "fit")
PRECISIONS = ("auto", "fp32", "tf32")


def he():
    """Linnet's first weights of convolutions in networks with batch norm: N(0, 2 / fan in).
    Elsewhere they are Keras' own, Glorot uniform with biases of 0. Each layer wants one of its own:
    Keras' initializers return the same values whenever they are asked."""
    return keras.initializers.VarianceScaling(2.0, "fan_in", "untruncated_normal")


def pixels():
    """(N, H, W, C) u8 to f32 in [0, 1]."""
    return layers.Rescaling(1 / 255)


def imagenet_pixels():
    """The same, less ImageNet's mean and divided by its std."""
    mean, std = np.float32((0.485, 0.456, 0.406)), np.float32((0.229, 0.224, 0.225))
    return layers.Rescaling((1 / 255 / std).tolist(), (-mean / std).tolist())


def cross_entropy():
    return keras.losses.SparseCategoricalCrossentropy(from_logits=True)


def adam(rate=1e-3):
    return keras.optimizers.Adam(rate, epsilon=1e-8)


def momentum(rate):
    """SGD with momentum 0.9."""
    return keras.optimizers.SGD(rate, momentum=0.9)


class Run:
    """One model on resident data."""

    def __init__(self, options, model, loss, optimizer):
        self.options, self.model, self.loss, self.optimizer = options, model, loss, optimizer
        self.device = "/GPU:0" if options.device.startswith("cuda") else "/CPU:0"
        if options.precision != "auto":
            tf.config.experimental.enable_tensor_float_32_execution(options.precision == "tf32")
        data = peer.Data(options.data)
        self.data_seconds = data.seconds
        count = len(data.samples)
        self.epoch_samples = peer.epoch_samples(options, count)
        with tf.device(self.device):
            self.range = tf.range(count)
            self.samples, self.targets = data.samples, data.targets
            if options.mode != "fit":
                self.samples, self.targets = tf.constant(self.samples), tf.constant(self.targets)
        compiled = options.mode == "xla"
        self.predict = tf.function(lambda x: model(x, training=False), jit_compile=compiled)
        if options.infer:
            return
        if options.mode == "fit":
            model.compile(optimizer, loss)
            return
        optimizer.build(model.trainable_variables)
        self.total = tf.Variable(0.0)
        self.step = tf.function(self._step, jit_compile=compiled)

    def _step(self, index):
        x, y = tf.gather(self.samples, index), tf.gather(self.targets, index)
        with tf.GradientTape() as tape:
            loss = self.loss(y, self.model(x, training=True))
        gradients = tape.gradient(loss, self.model.trainable_variables)
        self.optimizer.apply_gradients(zip(gradients, self.model.trainable_variables))
        self.total.assign_add(loss * tf.cast(tf.size(index), tf.float32))

    def epoch(self):
        """Seconds of an epoch, and its mean loss; None of predictions."""
        start = time.perf_counter()
        with tf.device(self.device):
            loss = self._predict_all() if self.options.infer else self._train_epoch()
        return time.perf_counter() - start, loss

    def _train_epoch(self):
        if self.options.mode == "fit":
            return self._fit_epoch()
        self.total.assign(0.0)
        order = tf.random.shuffle(self.range)
        for begin, end in peer.bounds(self.epoch_samples, self.options.batch):
            self.step(order[begin:end])
        return float(self.total) / self.epoch_samples

    def _fit_epoch(self):
        count = self.epoch_samples
        history = self.model.fit(self.samples[:count], self.targets[:count], self.options.batch,
                                 verbose=0)  # shuffles; its loss is the mean of all samples
        return history.history["loss"][-1]

    def _predict_all(self):
        if self.options.mode == "fit":
            self.outputs = self.model.predict(self.samples[:self.epoch_samples],
                                              self.options.batch, verbose=0)
            return
        for begin, end in peer.bounds(self.epoch_samples, self.options.batch):
            self.outputs = self.predict(self.samples[begin:end])
        self.outputs = self.outputs.numpy()  # waits

    def test(self):
        """Mean loss of the test set, and its accuracy where targets are classes; None without."""
        def evaluate(x, y):
            outputs = self.predict(tf.constant(x))
            return self.loss(y, outputs), outputs.numpy()
        return peer.tested(self.options.data, evaluate)

    def finite(self):
        return not self.options.infer or bool(np.isfinite(self.outputs).all())

    def about(self):
        gpu = self.device == "/GPU:0"
        threads = tf.config.threading.get_intra_op_parallelism_threads()
        return {"framework": "tensorflow", "mode": self.options.mode,
                "device": tf.config.list_physical_devices("GPU")[0].name if gpu else "cpu",
                "parameters": parameters_of(self.model),
                "threads": threads or len(os.sched_getaffinity(0)),
                "versions": {"tensorflow": tf.__version__, "keras": keras.__version__}}


def parameters_of(model):
    return sum(int(np.prod(each.shape)) for each in model.trainable_variables)


def run(program, network, loss, optimizer=adam):
    """Runs the whole program of this path, `__file__`: `network()`, `loss()` and `optimizer()` make
    the Keras model, which must have as many parameters as workloads.json says, its loss and its
    rule."""
    started = time.perf_counter()
    options = peer.parser(program, "TensorFlow", MODES, precisions=PRECISIONS).parse_args()
    keras.utils.set_random_seed(options.seed)
    if options.threads:
        tf.config.threading.set_intra_op_parallelism_threads(options.threads)
        tf.config.threading.set_inter_op_parallelism_threads(options.threads)
    model = network()
    peer.check_parameters(options, parameters_of(model))
    peer.report(Run(options, model, loss and loss(), optimizer()), started)
