# SPDX-License-Identifier: Apache-2.0
"""Networks, models and trainers of Python do what those of C++ do."""
import ctypes
import json
import os
import pickle
import signal
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import warnings
from pathlib import Path

import numpy as np

import linnet as ln


class Bf16:
    """Numbers as PyTorch lends its bf16."""

    def __init__(self, numbers):
        self.halves = (np.asarray(numbers, np.float32).view(np.uint32) >> 16).astype(np.uint16)

    def __dlpack__(self, **_):
        capsule = self.halves.__dlpack__()
        pointer_of = ctypes.pythonapi.PyCapsule_GetPointer
        pointer_of.restype, pointer_of.argtypes = ctypes.c_void_p, [ctypes.py_object, ctypes.c_char_p]
        ctypes.c_uint8.from_address(pointer_of(capsule, b"dltensor") + 20).value = 4  # DLTensor.dtype.code
        return capsule

    def __dlpack_device__(self):
        return self.halves.__dlpack_device__()


def digits(train=2000, test=500):
    return ln.datasets.digits(train, test, 1)


def cnn():
    return ln.sequential((28, 28, 1), [
        ln.Rescale(1 / 255), ln.Conv2d(8, padding="same"), ln.ReLU(), ln.MaxPool2d(), ln.Flatten(),
        ln.Dense(10)])


class Training(unittest.TestCase):
    def test_learns(self):
        data = digits()
        trainer = ln.Trainer(ln.Model(cnn()), optimizer=ln.Adam(4e-3), schedule=ln.CosineDecay())
        history = trainer.fit(data.train, epochs=3, batch=64, validation=data.test)
        self.assertEqual(len(history.epochs), 3)
        self.assertGreater(trainer.evaluate(data.test).accuracy, 0.7)
        predicted = trainer.predict(data.test).argmax(axis=1)
        self.assertAlmostEqual((predicted == data.test.column("label")).mean(),
                               trainer.evaluate(data.test).accuracy, places=6)
        self.assertIn("validation_loss", history.table())
        self.assertIn("<table>", history._repr_html_())

    def test_a_schedule_of_knots(self):
        schedule = ln.Piecewise(at=[0, 1, 2], factors=(0.5, 1, 0.25), epochs=1)
        self.assertEqual((schedule.at, schedule.factors, schedule.epochs), ([0, 1, 2], [0.5, 1, 0.25], 1))
        self.assertEqual(repr(ln.Piecewise(epochs=2)), "Piecewise(epochs=2.0)")
        data = digits(256, 8)
        history = ln.Trainer(ln.Model(cnn()), optimizer=ln.SGD(0.1), schedule=schedule).fit(data.train, epochs=3, batch=64)
        expected = 0.1 * np.interp([3, 7, 11], [0, 4, 8], [0.5, 1, 0.25])
        np.testing.assert_allclose([epoch.learning_rate for epoch in history.epochs], expected, rtol=1e-12)
        for wrong, sentence in (({"at": [0, 0, 1]}, "expected places that rise in at; got 0 before 0"),
                                ({"at": [0, 1]}, "as many factors; got 2 and 3"),
                                ({"at": [0, float("nan"), 1]}, "'at' in piecewise must be in"),
                                ({"factors": [0, -1, 0]}, "'factors' in piecewise must be at least 0")):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(ln.Error, sentence):
                ln.Trainer(ln.Model(cnn()), schedule=ln.Piecewise(**wrong))

    def test_parameters_are_frozen_and_thawed(self):
        data = digits(256, 8)
        trainer = ln.Trainer(ln.Model(cnn()), optimizer="adam", average=ln.Average(0.9))
        trainer.set_trains(["dense*"])
        before = np.array(trainer.model.parameter("conv2d_1.weight"))
        trainer.fit(data.train, batch=64)
        np.testing.assert_array_equal(trainer.model.parameter("conv2d_1.weight"), before)
        trainer.set_trains(None)
        trainer.fit(data.train, batch=64)
        self.assertFalse(np.array_equal(trainer.model.parameter("conv2d_1.weight"), before))
        trainer.set_trains([ln.ParameterGroup("conv*", learning_rate_factor=0.5)])
        averaged = trainer.averaged().parameter("conv2d_1.weight")
        trainer.take_average()
        np.testing.assert_array_equal(trainer.model.parameter("conv2d_1.weight"), averaged)
        with self.assertRaisesRegex(ln.Error, "no parameter matches 'x'"):
            trainer.set_trains(["x"])
        with self.assertRaises(TypeError):
            trainer.set_trains([3])

    def test_parameters_rest_for_some_epochs(self):
        data = digits(256, 8)
        freeze = [ln.Freeze("conv*", until=1), ln.Freeze("dense*.bias", after=1)]
        trainer = ln.Trainer(ln.Model(cnn()), optimizer="adam")
        trainer.fit(data.train, batch=64, epochs=2, freeze=freeze)
        hand = ln.Trainer(ln.Model(cnn()), optimizer="adam")
        hand.set_trains(["dense*"])
        hand.fit(data.train, batch=64)
        hand.set_trains(["conv*", "dense*.weight"])
        hand.fit(data.train, batch=64)
        for name in hand.model.parameter_names:
            np.testing.assert_array_equal(trainer.model.parameter(name), hand.model.parameter(name), err_msg=name)
        model = ln.Model(cnn())
        before = np.array(model.parameter("conv2d_1.weight"))
        ln.train(model, data.train, epochs=1, freeze=["conv2d_1.*"])
        np.testing.assert_array_equal(model.parameter("conv2d_1.weight"), before)
        self.assertEqual(repr(freeze[0]), "Freeze(name='conv*', until=1)")
        with self.assertRaisesRegex(ln.Error, "expected until to be above after = 2; got 1"):
            trainer.fit(data.train, freeze=[ln.Freeze("conv*", after=2, until=1)])
        with self.assertRaisesRegex(TypeError, "a list of Freeze or str"):
            trainer.fit(data.train, freeze=[3])

    def test_a_convolution_is_whitened(self):
        images = digits(500, 8).train
        network = ln.Network((28, 28, 1), [ln.Rescale(), ln.Conv2d(8, 2, name="stem"), ln.ReLU(), ln.Flatten(), ln.Dense(10)])
        model = ln.Model(network, seed=1)
        ln.whiten(model, "stem", images, epsilon=1e-9)
        values = np.asarray(model.value_of("stem", images))[..., :4].reshape(-1, 4).astype(np.float64)
        np.testing.assert_allclose(np.cov(values.T, bias=True), np.eye(4), atol=1e-3)
        other = ln.Model(network, seed=1)
        ln.train(other, images, epochs=1, optimizer=ln.SGD(learning_rate=0), whiten=ln.Whiten("stem", epsilon=1e-9))
        np.testing.assert_array_equal(other.parameter("stem.weight"), model.parameter("stem.weight"))
        with self.assertRaisesRegex(ln.Error, "expected the name of a conv2d layer; these are stem"):
            ln.train(other, images, epochs=1, whiten="dense_1")

    def test_views_are_evaluated_beside_one(self):
        data = digits(256, 64)
        model = ln.Model(cnn())
        plain = ln.evaluate(model, data.test)
        self.assertIsNone(plain.one_view)
        stored = model.with_views(flip=True, shift=1)
        self.assertEqual((stored.network.views, model.network.views), ("flip,shift=1", None))
        for one in (model, stored):
            both = ln.evaluate(one, data.test, tta="flip,shift=1")
            self.assertEqual(both.loss, ln.evaluate(stored, data.test).loss)
            self.assertEqual(both.one_view.loss, plain.loss)
        self.assertEqual(ln.evaluate(model, data.test, tta=True).loss,
                         ln.evaluate(model.with_views(), data.test).loss)
        np.testing.assert_array_equal(stored.without_views().predict(data.test), model.predict(data.test))
        for wrong in ("turn", "shift=0", "shift=-1", "flip,", "", "shift=99999999999999999999"):
            with self.subTest(wrong=wrong), self.assertRaisesRegex(ln.Error, r"\[evaluate\] tta: expected flip, shift=PIXELS"):
                ln.evaluate(model, data.test, tta=wrong)
        with self.assertRaisesRegex(ln.Error, "expected views shifted by 0 to 27 pixels"):
            ln.evaluate(model, data.test, tta="shift=28")
        with self.assertRaises(TypeError):
            ln.evaluate(model, data.test, tta=1.5)

    def test_quantized_models_predict_nearly_the_same(self):
        data = digits()
        model = ln.Model(cnn(), device="cpu")
        ln.Trainer(model, optimizer=ln.Adam(4e-3)).fit(data.train, epochs=1, batch=64)
        self.assertEqual(ln.quantized_layers(model), 0)
        small = ln.quantize(model, data.train, samples=100)
        self.assertEqual(ln.quantized_layers(small), 2)
        wide, narrow = model.predict(data.test), small.predict(data.test)
        self.assertGreater((wide.argmax(axis=1) == narrow.argmax(axis=1)).mean(), 0.98)
        self.assertFalse(np.array_equal(wide, narrow))
        with self.assertRaisesRegex(ln.Error, "at least 1 sample"):
            ln.quantize(model, data.train, samples=0)

    def test_shards_side_by_side_give_the_same_weights(self):
        data = digits(300, 10)
        weights = []
        for side_by_side in (False, True):
            trainer = ln.Trainer(ln.Model(cnn(), device="cpu", threads=2), side_by_side=side_by_side)
            trainer.fit(data.train, epochs=1, batch=50, shards=2)
            weights.append(trainer.state())
        for name in weights[0]:
            np.testing.assert_array_equal(weights[0][name], weights[1][name])

    def test_steps_equal_a_fit(self):
        data = digits(500, 10)
        one, two = (ln.Trainer(ln.Model(cnn()), seed=3) for _ in range(2))
        one.fit(data.train, epochs=1, batch=50)
        for batch in two.batches(data.train, size=50):
            loss = two.step(batch).loss
        self.assertGreater(loss, 0)
        for name, values in one.state().items():
            np.testing.assert_array_equal(values, two.state()[name], err_msg=name)

    def test_the_loss_of_a_step_is_a_number_that_still_answers_when_called(self):
        data = digits(100, 10)
        trainer = ln.Trainer(ln.Model(cnn()))
        step = trainer.step(next(iter(trainer.batches(data.train, size=50))))
        self.assertIsInstance(step.loss, float)
        self.assertEqual(f"{step.loss:.3f}", f"{float(step.loss):.3f}")
        self.assertEqual(json.loads(json.dumps({"loss": step.loss}))["loss"], step.loss)
        with self.assertWarnsRegex(DeprecationWarning, "write 'loss'"):
            self.assertEqual(step.loss(), step.loss)

    def test_state_and_files(self):
        data = digits(500, 100)
        trainer = ln.Trainer(ln.Model(cnn()))
        trainer.fit(data.train, epochs=1)
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "model.safetensors"
            trainer.model.save(path)
            again = ln.Model.load(str(path))
            np.testing.assert_array_equal(again.predict(data.test), trainer.predict(data.test))
            ln.write_state(path, trainer.state())
            other = ln.Trainer(ln.Model(cnn(), seed=9))
            other.load_state(ln.read_state(path))
        trainer.fit(data.train, epochs=1)
        other.fit(data.train, epochs=1)
        np.testing.assert_array_equal(other.predict(data.test), trainer.predict(data.test))

    def test_weights(self):
        model = ln.Model(cnn())
        weights = model.weights()
        self.assertEqual(list(weights), model.parameter_names)
        weights["dense_1.bias"] = np.arange(10.0, dtype=np.float32)
        model.set_weights(weights)
        np.testing.assert_array_equal(model.parameter("dense_1.bias"), np.arange(10))
        for made in (np.float64, np.float16, Bf16):
            model.set_weights({"dense_1.bias": made(np.arange(10) + 1)}, partial=True)
            np.testing.assert_array_equal(model.parameter("dense_1.bias"), np.arange(10) + 1)
        with self.assertRaisesRegex(ln.Error, "'dense_7.bias'; did you mean 'dense_1.bias'"):
            model.set_weights({"dense_7.bias": np.zeros(1, np.float32)})
        with self.assertWarnsRegex(UserWarning, r"3 of 4 weights were not given .*: 'conv2d_1.weight', .*; partial=True"):
            model.set_weights({"dense_1.bias": np.zeros(10)})
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            model.set_weights(weights)

    def test_custom_layer_loss_schedule_and_metric(self):
        calls = []

        def scaled_swish(x, weights):
            calls.append(x.shape)
            return x * ln.sigmoid(x * weights.add("scale", x.shape[-1], 1))

        network = ln.sequential(2, [ln.Dense(8), ln.CustomLayer(scaled_swish), ln.Dense(1)])
        self.assertEqual(calls, [(8,)])
        x = np.random.default_rng(1).random((256, 2), np.float32)
        y = x.sum(axis=1, keepdims=True)
        model = ln.Model(network)
        self.assertIn("scaled_swish_1.scale", model.parameter_names)
        trainer = ln.Trainer(model, optimizer=ln.Adam(1e-2),
                             loss=lambda y, t: ln.mean(ln.sqrt(1 + ln.square(y - t)) - 1),
                             schedule=lambda epoch, step: 1 / (1 + epoch),
                             metrics={"worst": lambda y, t: ln.abs(y - t)})
        before = trainer.evaluate((x, y)).loss
        trainer.fit((x, y), epochs=5, batch=32)
        after = trainer.evaluate((x, y))
        self.assertLess(after.loss, before / 4)
        self.assertGreater(after.metrics["worst"], 0)

    def test_layers_within_layers(self):
        twice = ln.CustomLayer(lambda x, w: x * 2, "twice")
        block = ln.Residual(body=[ln.Dense(4), twice], shortcut=[ln.Dense(4)])
        network = ln.sequential(3, [block, ln.Bidirectional(layer=None) if False else ln.ReLU()])
        self.assertEqual(network.output_shape, (4,))
        self.assertIn("twice", network.to_json())

    def test_functional_network(self):
        f = ln.FunctionalNetwork()
        image, age = f.input("image", (8, 8, 1)), f.input("age", 1)
        features = ln.Dense(16)
        both = ln.concat([image | ln.Flatten() | features | ln.ReLU(), age * 0.1], axis=0)
        self.assertEqual(both.shape, (17,))
        self.assertEqual(both[1:5].shape, (4,))
        self.assertEqual(image[..., 0].shape, (8, 8))
        network = f.build({"class": both | ln.Dense(3), "features": both})
        self.assertEqual(network.input_names, ["image", "age"])
        data = ln.Dataset({"image": np.zeros((5, 8, 8, 1), np.float32), "age": np.ones((5, 1), np.float32)})
        out = ln.Model(network).predict_all(data)
        self.assertEqual({k: v.shape for k, v in out.items()}, {"class": (5, 3), "features": (5, 17)})

    def test_attention_to_another_sequence(self):
        f = ln.FunctionalNetwork()
        words, image = f.input("words", (3, 8)), f.input("image", (5, 6))
        network = f.build({"y": ln.cross_attention(words, image, heads=2, dropout=0.1, name="look")})
        names = [f"look.{name}" for name in ("q_proj_weight", "k_proj_weight", "v_proj_weight", "in_proj_bias",
                                             "out_proj.weight", "out_proj.bias")]
        model = ln.Model(network)
        self.assertEqual(sorted(model.parameter_names), sorted(names))
        self.assertEqual(model.parameter("look.k_proj_weight").shape, (8, 6))
        data = ln.Dataset({"words": np.ones((2, 3, 8), np.float32), "image": np.ones((2, 5, 6), np.float32)})
        self.assertEqual(model.predict_all(data)["y"].shape, (2, 3, 8))
        with self.assertRaisesRegex(ln.Error, "expected heads that divide 8 features; got 3"):
            ln.cross_attention(words, image, heads=3)

    def test_derivatives(self):
        f = ln.FunctionalNetwork()
        x = f.input("x", 2)
        y = ln.sin(x) * x
        network = f.build({"slope": ln.gradient(y, x), "listed": ln.gradient(y, [x])[0],
                           "rows": ln.jacobian(y, x), "curved": ln.hessian_vector(y, x, 2 * ln.exp(x))})
        at = np.array([[0.3, -1.2], [2.0, 0.7], [-0.4, 1.1]], np.float32)
        out = ln.Model(network).predict_all(ln.Dataset({"x": at}))
        slope = np.sin(at) + at * np.cos(at)
        np.testing.assert_allclose(out["slope"], slope, atol=1e-5)
        np.testing.assert_allclose(out["listed"], slope, atol=1e-5)
        np.testing.assert_allclose(out["rows"], slope[:, :, None] * np.eye(2), atol=1e-5)
        np.testing.assert_allclose(out["curved"], 2 * np.exp(at) * (2 * np.cos(at) - at * np.sin(at)), atol=1e-4)
        with self.assertRaisesRegex(ln.Error, "does not depend on x"):
            ln.gradient(f.input("z", 1), x)

    def test_value_jacobian_and_hessian_of_a_model(self):
        f = ln.FunctionalNetwork()
        x = f.input("x", 2)
        model = ln.Model(f.build({"y": ln.sum(ln.square(x) * x, [0], True)}))
        at = np.array([[0.5, -1.5], [2.0, 1.0]], np.float32)
        np.testing.assert_allclose(model.jacobian(at), 3 * at[:, None] ** 2, rtol=1e-5)
        wanted = 6 * at[:, None, :, None] * np.eye(2)
        np.testing.assert_allclose(model.hessian(at), wanted, atol=1e-5)
        found = model.with_derivatives(hessian=True).predict_all(ln.Dataset({"x": at}))
        self.assertEqual(list(found), ["y", "jacobian", "hessian"])
        np.testing.assert_allclose(found["hessian"], wanted, atol=1e-5)

    def test_a_loss_has_derivatives(self):
        x = np.linspace(-1, 1, 32, dtype=np.float32)[:, None]

        def loss(y, target):
            return ln.square(y - target) + ln.square(ln.gradient(y, ln.network_input(y)) - 2)

        model = ln.Model(ln.sequential(1, [ln.Dense(1)]), seed=1)
        ln.train(model, (x, 2 * x + 1), epochs=300, batch=32, loss=loss, optimizer=ln.Adam(learning_rate=0.05))
        np.testing.assert_allclose(model.jacobian(x), 2, atol=0.02)

    def test_double_precision(self):
        f = ln.FunctionalNetwork()
        x = f.input("x", 1)
        u = (x | ln.Dense(12) | ln.Tanh() | ln.Dense(1)) * (1 - ln.square(x))
        curve = ln.gradient(ln.gradient(u, x), x)
        network = f.build({"residual": curve + np.pi ** 2 * ln.sin(np.pi * x), "u": u})
        points = np.linspace(-1, 1, 41)[:, None]
        data = ln.Dataset({"x": points}, {"residual": np.zeros((41, 1))})

        def solved(precision):
            trainer = ln.Trainer(ln.Model(network, device="cpu", precision=precision, seed=3))
            trainer.fit(data, epochs=5, batch=41)
            found = trainer.minimize(data, ln.LBFGS(2000, gradient_tolerance=1e-10, loss_tolerance=0))
            return trainer.model, found.loss

        model, loss = solved("fp64")
        self.assertLess(loss, 0.1 * solved("fp32")[1])
        found = model.predict_all(data)["u"]
        self.assertEqual(found.dtype, np.float64)
        self.assertLess(np.abs(found - np.sin(np.pi * points)).max(), 1e-4)
        slope = model.input_gradient(data, of="u")
        self.assertEqual(slope.dtype, np.float64)
        self.assertLess(np.abs(slope - np.pi * np.cos(np.pi * points)).max(), 1e-3)
        again = pickle.loads(pickle.dumps(model))
        for name, weight in model.weights().items():
            self.assertEqual(weight.dtype, np.float64)
            np.testing.assert_array_equal(again.parameter(name), weight)
        with self.assertRaisesRegex(ln.Error, r"^\[conv2d 'conv2d_1'\] does not compute in fp64"):
            ln.Model(cnn(), device="cpu", precision="fp64")

    def test_levenberg_marquardt_in_double_precision(self):
        def drawn(shape, phase):
            return np.sin(12.9898 * np.arange(np.prod(shape)) + phase).reshape(shape)

        def net(units):
            return ln.sequential(2, [ln.Dense(units), ln.Tanh(), ln.Dense(1)])

        teacher = ln.Model(net(3), device="cpu", precision="fp64")
        teacher.set_weights({"dense_1.weight": 2.5 * drawn((3, 2), 1.7), "dense_1.bias": drawn(3, 0.2),
                             "dense_2.weight": drawn((1, 3), 2.2), "dense_2.bias": np.zeros(1)})
        x = drawn((100, 2), 0.4)
        y = teacher.predict(x)

        def loss(precision):
            trainer = ln.Trainer(ln.Model(net(4), device="cpu", precision=precision, seed=5),
                                 optimizer=ln.LevenbergMarquardt())
            return trainer.fit((x, y), epochs=100, batch=100).epochs[-1].train.loss

        self.assertLess(loss("fp64"), 1e-30)
        self.assertGreater(loss("fp32"), 1e-16)

    def test_expressions_end_with_their_function(self):
        kept = []
        ln.sequential(3, [ln.CustomLayer(lambda x, w: kept.append((x, w)) or x, "keeps")])
        x, weights = kept[0]
        with self.assertRaisesRegex(ln.Error, "after the function"):
            x + 1
        with self.assertRaisesRegex(ln.Error, "after its function"):
            weights.add("w", 3)

    def test_objectives(self):
        f = ln.FunctionalNetwork()
        x = f.input("x", 4)
        generator, critic = ln.block("g", [ln.Dense(4)]), ln.block("d", [ln.Dense(1)])
        network = f.build({"real": critic(x), "fake": critic(generator(f.normal(4)))})
        trainer = ln.Trainer(ln.Model(network), {
            "critic": ln.Objective(trains=["d.*"], output_losses=[
                ln.OutputLoss("real", "binary_cross_entropy", target=1),
                ln.OutputLoss("fake", "binary_cross_entropy", target=0)]),
            "generator": ln.Objective(trains=["g.*"], output_losses=[
                ln.OutputLoss("fake", "binary_cross_entropy", target=1)])})
        data = ln.Dataset({"x": np.ones((32, 4), np.float32)})
        for batch in trainer.batches(data, size=8):
            trainer.step("critic", batch)
            trainer.step("generator", batch)
        self.assertEqual(trainer.steps, 8)

    def test_sources_and_maps(self):
        x = np.random.default_rng(1).random((40, 3), np.float32)
        y = (x.sum(axis=1) > 1.5).astype(np.int32)
        source = ln.Dataset(ln.RecordSource(list(x), record=3), y)
        mapped = source.map("input", lambda record, place: record * 2, record=3)
        one, two = (ln.Trainer(ln.Model(ln.sequential(3, [ln.Dense(2)]))) for _ in range(2))
        one.fit(mapped, epochs=2, batch=8)
        two.fit((x * 2, y), epochs=2, batch=8)
        np.testing.assert_array_equal(one.predict(x), two.predict(x))
        bad = source.map("input", lambda record, place: 1 / 0, record=3)
        with self.assertRaisesRegex(ln.DataError, "ZeroDivisionError"):
            one.fit(bad)

    def test_pickles(self):
        model = ln.Model(cnn(), seed=5)
        x = digits(8, 1).train.column("image")
        again = pickle.loads(pickle.dumps(model))
        np.testing.assert_array_equal(again.predict(x), model.predict(x))
        again = ln.Model.from_bytes(model.to_bytes(), threads=1)
        self.assertEqual(again.threads, 1)
        np.testing.assert_array_equal(again.predict(x), model.predict(x))
        with self.assertRaisesRegex(ln.DataError, "cannot read the bytes of a model: "):
            ln.Model.from_bytes(model.to_bytes()[:100])
        network = pickle.loads(pickle.dumps(cnn()))
        self.assertEqual(network.to_json(), cnn().to_json())
        layer = pickle.loads(pickle.dumps(ln.Conv2d(4, padding="same")))
        self.assertEqual(repr(layer), repr(ln.Conv2d(4, padding="same")))


class Fields(unittest.TestCase):
    def test_they_are_set_when_it_is_made(self):
        for made, field in ((ln.Dense(2), "units"), (ln.Adam(), "learning_rate"), (ln.CosineDecay(), "other")):
            with self.assertRaisesRegex(AttributeError, f"'{field}' cannot be set: make another"):
                setattr(made, field, 1)

    def test_weights_of_other_floats(self):
        model = ln.Model(ln.sequential(3, [ln.Dense(2)]))
        weights = {name: np.ones(array.shape) for name, array in model.weights().items()}
        model.set_weights(weights)
        np.testing.assert_array_equal(model.weights()["dense_1.bias"], [1, 1])


class Expressions(unittest.TestCase):
    def test_what_would_mislead_raises(self):
        network = ln.FunctionalNetwork()
        x = network.input("x", 3)
        for compare in (lambda: x == x, lambda: x != 1, lambda: x == None):  # noqa: E711
            with self.assertRaisesRegex(TypeError, "compared by linnet.equal"):
                compare()
        with self.assertRaisesRegex(TypeError, "not iterable"):
            list(x)
        with self.assertRaisesRegex(IndexError, "index 3 is outside of axis 0 of \\(3\\)"):
            x[3]
        self.assertEqual(len({x: 1}), 1)


class Callbacks(unittest.TestCase):
    def test_hear_of_everything(self):
        heard = []

        class Listener(ln.Callback):
            def on_batch(self, step):
                heard.append(("batch", step.step, step.loss))

            def on_epoch(self, report):
                heard.append(("epoch", report.epoch, report.train.loss))

            def on_end(self, history):
                heard.append(("end", len(history.epochs), 0))

        data = digits(300, 10)
        trainer = ln.Trainer(ln.Model(cnn()))
        trainer.fit(data.train, epochs=2, batch=100, callbacks=Listener())
        self.assertEqual([name for name, _, _ in heard],
                         ["batch"] * 3 + ["epoch"] + ["batch"] * 3 + ["epoch", "end"])

    def test_exceptions_pass_through(self):
        class Failing(ln.Callback):
            def on_epoch(self, report):
                raise KeyError("mine")

        with self.assertRaisesRegex(KeyError, "mine"):
            ln.Trainer(ln.Model(cnn())).fit(digits(300, 10).train, callbacks=[Failing()])

    def test_what_stop_requested_returns(self):
        for answer, epochs in ((None, 3), (np.bool_(True), 1), (np.bool_(False), 3)):
            class Asked(ln.Callback):
                def stop_requested(self):
                    return answer

            trainer = ln.Trainer(ln.Model(ln.sequential(2, [ln.Dense(2)])))
            history = trainer.fit((np.ones((8, 2), "f4"), np.zeros(8, "i4")), epochs=3, callbacks=[Asked()])
            self.assertLessEqual(len(history.epochs), epochs)
            self.assertEqual(history.interrupted, epochs == 1)

    def test_an_interrupt_of_a_source_passes_through(self):
        class Records:
            def __len__(self):
                return 8

            def __getitem__(self, index):
                raise KeyboardInterrupt

        model = ln.Model(ln.sequential(2, [ln.Dense(2)]))
        records = ln.Dataset({"input": ln.RecordSource(Records(), record=2)})
        mapped = ln.Dataset(np.ones((8, 2), "f4")).map("input", lambda *record: Records()[0], record=2)
        for data in (records, mapped):
            with self.assertRaises(KeyboardInterrupt):
                model.predict(data)
            with self.assertRaises(KeyboardInterrupt):
                data[0]

    def test_stop_and_use_within(self):
        data = digits(300, 100)
        trainer = ln.Trainer(ln.Model(cnn()))

        class Stopping(ln.Callback):
            def on_epoch(self, report):
                self.accuracy = trainer.evaluate(data.test).accuracy
                try:
                    trainer.fit(data.train)
                except ln.Error as error:
                    self.error = str(error)

            def stop_requested(self):
                return hasattr(self, "accuracy")

        stopping = Stopping()
        history = trainer.fit(data.train, epochs=50, callbacks=stopping)
        self.assertTrue(history.interrupted)
        self.assertLess(len(history.epochs), 50)
        self.assertIn("fit", stopping.error)

    def test_ctrl_c(self):
        data = digits()
        trainer = ln.Trainer(ln.Model(cnn()))
        # A process that a shell started in the background ignores the signal.
        before = signal.signal(signal.SIGINT, signal.default_int_handler)
        self.addCleanup(signal.signal, signal.SIGINT, before)
        timer = threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT))
        timer.start()
        with self.assertRaises(KeyboardInterrupt):
            trainer.fit(data.train, epochs=100000)
        self.assertGreater(trainer.steps, 0)
        trainer.fit(data.train, epochs=1)

    def test_progress_bar(self):
        import io
        out = io.StringIO()
        ln.Trainer(ln.Model(cnn())).fit(digits(300, 10).train, epochs=2, callbacks=ln.ProgressBar(out))
        self.assertIn("epoch 2/2", out.getvalue())


class Threads(unittest.TestCase):
    def test_several_predict_at_once(self):
        model = ln.Model(cnn(), threads=1)
        x = digits(64, 10).train.column("image")
        predictor = ln.Predictor(model)
        expected = model.predict(x)
        wrong = []

        def work(predict):
            for _ in range(20):
                if not np.array_equal(predict(x), expected):
                    wrong.append(predict)

        threads = [threading.Thread(target=work, args=(f,))
                   for f in (model.predict, predictor.predict, predictor.predict, model.predict)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        self.assertFalse(wrong)

    def test_python_runs_while_a_fit_does(self):
        data = digits()
        trainer = ln.Trainer(ln.Model(cnn()))
        fitting = threading.Thread(target=lambda: trainer.fit(data.train, epochs=3))
        fitting.start()
        turns = 0
        while fitting.is_alive():
            turns += 1
            time.sleep(0.001)
        fitting.join()
        self.assertGreater(turns, 5)

    def test_fork(self):
        model = ln.Model(cnn(), threads=2)
        x = digits(8, 1).train.column("image")
        expected = model.predict(x)
        reading, writing = os.pipe()
        child = os.fork()
        if child == 0:
            try:
                model.predict(x)
                text = "no error"
            except ln.Error as error:
                text = str(error)
            other = ln.Model(cnn(), threads=2)
            text += str(np.array_equal(other.predict(x), expected))
            os.write(writing, text.encode())
            os._exit(0)
        os.close(writing)
        deadline = time.time() + 60
        while os.waitpid(child, os.WNOHANG) == (0, 0):
            if time.time() > deadline:
                os.kill(child, signal.SIGKILL)
                self.fail("the child process hangs")
            time.sleep(0.01)
        text = os.read(reading, 1000).decode()
        os.close(reading)
        self.assertIn("before the process was forked", text)
        self.assertTrue(text.endswith("True"), text)


    def test_a_process_ends_while_a_daemon_computes(self):
        program = """if True:
            import sys, threading, time
            import numpy as np, linnet as ln
            trainer = ln.Trainer(ln.Model(ln.sequential(8, [ln.Dense(2)]), threads=1))
            data = (np.ones((512, 8), "f4"), np.zeros(512, "i4"))
            threading.Thread(target=trainer.fit, args=(data,), kwargs={"epochs": 10**7}, daemon=True).start()
            time.sleep(0.3)
            sys.exit(7)"""
        for _ in range(3):
            done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, timeout=60)
            self.assertEqual((done.returncode, done.stderr), (7, ""))

    def test_a_forked_process_ends(self):
        # New threads have the old ones' identity, so the old team's destructor would wait for the new one.
        code = ("import os, signal, sys, linnet as ln\n"
                "def made(**given): return ln.Model(ln.sequential(4, [ln.Dense(2)]), **given)\n"
                "team = ln.make_thread_team(2)\n"
                "models = [made(threads=2), made(team=team)]\n"
                "trainer, predictor = ln.Trainer(models[0]), ln.Predictor(models[1])\n"
                "child = os.fork()\n"
                "if child == 0:\n"
                "    signal.alarm(30)\n"
                "    other = made(threads=3)\n"
                "    sys.exit(3)\n"
                "print(os.waitstatus_to_exitcode(os.waitpid(child, 0)[1]))")
        ended = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, timeout=60)
        self.assertEqual(ended.stdout, "3\n", ended.stderr)


class Predictors(unittest.TestCase):
    def test_out(self):
        model = ln.Model(cnn())
        predictor = ln.Predictor(model, batches=[1])
        x = np.zeros((1, 28, 28, 1), np.float32)
        out = np.empty((1, 10), np.float32)
        self.assertIs(predictor.predict(x, out=out), out)
        np.testing.assert_array_equal(out, model.predict(x))
        with self.assertRaisesRegex(ln.Error, "outputs of f32"):
            predictor.predict(x, out=np.empty((1, 10)))
        with self.assertRaises(ln.Error):
            predictor.predict(x, out=np.empty((2, 10), np.float32))


    def test_the_memory_that_stays(self):
        model = ln.Model(cnn())
        predictor = ln.Predictor(model)
        x = np.random.default_rng(1).random((2, 28, 28, 1), np.float32)
        predictor.input(2).numpy()[:] = x
        predictor.run(2)
        predictor.wait()
        np.testing.assert_array_equal(predictor.output(2).numpy(), model.predict(x))


class Errors(unittest.TestCase):
    def test_kinds(self):
        for kind, base in ((ln.DataError, ValueError), (ln.DeviceError, RuntimeError),
                           (ln.OutOfMemory, MemoryError)):
            self.assertTrue(issubclass(kind, ln.Error) and issubclass(kind, base))
        with self.assertRaisesRegex(ln.DataError, "cannot read"):
            ln.Model.load("missing.safetensors")
        with self.assertRaisesRegex(ln.DeviceError, "CUDA|cuda|plug-in"):
            ln.Model(cnn(), device="cuda:77")
        with self.assertRaises(ln.OutOfMemory) as caught:
            ln.Model(ln.sequential(1 << 20, [ln.Dense(1 << 24)]))
        self.assertGreater(caught.exception.wanted, 0)

    def test_sentences(self):
        with self.assertRaisesRegex(ln.Error, "filters"):
            ln.Conv2d(0)
        with self.assertRaisesRegex(TypeError, r"\[Trainer.fit\] has no argument 'epoch'; did you mean"):
            ln.Trainer(ln.Model(cnn())).fit(digits(10, 1).train, epoch=3)
        with self.assertRaisesRegex(TypeError, r"\[Trainer.fit\] expected epochs to be an int; got 'three'"):
            ln.Trainer(ln.Model(cnn())).fit(digits(10, 1).train, epochs="three")
        with self.assertRaisesRegex(ln.Error, "dense"):
            ln.sequential((2, 2, 2), [ln.Dense(3, bias=1)])


if __name__ == "__main__":
    unittest.main()
