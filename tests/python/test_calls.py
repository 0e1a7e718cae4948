# SPDX-License-Identifier: Apache-2.0
"""What a user tries first: misspelt arguments, rows of data, copies, and how objects look."""
import copy
import pickle
import unittest

import numpy as np

import linnet as ln


def parts(rows=20):
    x = np.random.default_rng(1).random((rows, 3), np.float32)
    return x, (x.sum(axis=1) > 1.5).astype(np.int32)


def network():
    return ln.sequential(3, [ln.Dense(4), ln.ReLU(), ln.Dense(2)])


class Spelling(unittest.TestCase):
    def test_names_the_nearest_argument(self):
        model, (x, y) = ln.Model(network()), parts()
        trainer, data = ln.Trainer(model), ln.Dataset(x, y)
        for call, sentence in (
                (lambda: ln.Conv2d(4, pading="same"), r"\[Conv2d\] has no argument 'pading'; did you mean 'padding'"),
                (lambda: ln.Conv2d(4, kernel_size=3), "did you mean 'kernel'"),
                (lambda: ln.Adam(lr=1e-3), r"\[Adam\] .*'lr'; did you mean 'learning_rate'"),
                (lambda: ln.StepDecay(gama=0.1), "did you mean 'gamma'"),
                (lambda: ln.sequential(3, [], dtyp="f32"), r"\[sequential\] .* did you mean 'dtype'"),
                (lambda: ln.Clip(nrom=1), r"\[Clip\] .* did you mean 'norm'"),
                (lambda: trainer.fit(data, batch_size=3), r"\[Trainer.fit\] .* did you mean 'batch'"),
                (lambda: trainer.evaluate(data, bach=3), r"\[Trainer.evaluate\] .* did you mean 'batch'"),
                (lambda: ln.Trainer(model, class_weights=[1, 2]), r"loss_options=LossOptions\(class_weights=...\)"),
                (lambda: model.predict(x, bach=3), r"\[Model.predict\] has no argument 'bach'; did you mean 'batch'"),
                (lambda: data.split(0.2, straify=True), r"\[Dataset.split\] .* did you mean 'stratify'"),
                (lambda: ln.Dataset(x, y, weigths=y), r"\[Dataset\] .* did you mean 'weights'"),
                (lambda: ln.train(model, data, lr=1e-3), r"\[train\] has no argument 'lr'; it is one of "
                                                         r"optimizer=\w+\(learning_rate=...\)"),
                (lambda: ln.train(model, data, weight_decay=1e-3), r"optimizer=\w+\(weight_decay=...\)"),
                (lambda: ln.Trainer(model, momentum=0.9), r"optimizer=SGD\(momentum=...\)"),
                (lambda: ln.train(model, data, batch_size=3), "did you mean 'batch'"),
                (lambda: ln.train(model, data, num_epochs=3), "did you mean 'epochs'"),
                (lambda: ln.train(model, data, early_stopping=3), "did you mean 'patience'"),
                (lambda: ln.evaluate(model, data, los="mse"), r"\[evaluate\] .* did you mean 'loss'")):
            with self.subTest(sentence=sentence), self.assertRaisesRegex(TypeError, sentence):
                call()

    def test_names_of_kinds_stand_for_their_defaults(self):
        model, data = ln.Model(network()), ln.Dataset(*parts())
        for given in "adam", "Adam", ln.Adam():
            self.assertEqual(repr(ln.Objective(optimizer=given).optimizer), "Adam()")
        self.assertEqual(repr(ln.Objective(schedule="Cosine").schedule), "CosineDecay()")
        self.assertEqual(ln.Objective(loss="Cross_Entropy").loss, "cross_entropy")
        ln.train(model, data, epochs=1, optimizer="SGD", schedule="linear")
        self.assertEqual(repr(ln.Layer("ReLU", {})), "ReLU()")
        with self.assertRaisesRegex(ValueError, r"\[train\] expected optimizer to be .*; got 'adm'; did you mean 'adam'"):
            ln.train(model, data, optimizer="adm")
        with self.assertRaisesRegex(TypeError, r"expected optimizer to be an Optimizer or the name of one; got 3"):
            ln.train(model, data, optimizer=3)
        with self.assertRaisesRegex(TypeError, r"expected layers to be Layer; got 'ReLU': ReLU\(...\) is one"):
            ln.sequential(3, [ln.Dense(2), "ReLU"])

    def test_names_the_nearest_function(self):
        for name, meant in (("Conv2D", "Conv2d"), ("Linear", "Dense"), ("Densee", "Dense"), ("modle", "Model"),
                            ("BatchNorm2d", "BatchNorm"), ("load_model", "Model.load"), ("fit", "train")):
            with self.subTest(name=name), self.assertRaisesRegex(AttributeError, f"'{name}'; did you mean '{meant}'"):
                getattr(ln, name)
        self.assertFalse(hasattr(ln, "__no_such__"))

    def test_names_what_other_libraries_call_otherwise(self):
        model = ln.Model(network())
        for name, hint in (("fit", r"linnet\.train\(model, data"), ("evaluate", r"linnet\.evaluate\(model, data\)"),
                           ("state_dict", "did you mean 'weights'"), ("predict_proba", "'predict_probabilities'")):
            with self.subTest(name=name), self.assertRaisesRegex(AttributeError, f"'{name}'; .*{hint}"):
                getattr(model, name)
        self.assertFalse(hasattr(model, "nothing"))

    def test_says_what_a_call_takes(self):
        model, (x, y) = ln.Model(network()), parts()
        for call, sentence in (
                (lambda: model.predict(x, "all"), r"\[Model.predict\] takes \(data: .*, batch: int = 256\); got \(ndarray, str\)"),
                (lambda: model.save(), r"\[Model.save\] takes \(path: .*\); got \(\)"),
                (lambda: ln.read_weights(3), r"\[read_weights\] takes \(path: .*\); got \(int\)"),
                (lambda: ln.maximum(1), r"takes \(a: Expression, b: Expression\) or \(a: Expression, b: float\)"),
                (lambda: ln.Trainer(model).fit(x, y), r"fit\(\(x, y\), epochs=3\)"),
                (lambda: ln.Trainer(model).evaluate(x, y), r"\(inputs, targets\) is one argument"),
                (lambda: ln.sequential(3, ["relu"]), r"\[Network\] expected layers to be Layer; got 'relu'"),
                (lambda: ln.sequential(3, [ln.ReLU]), r"got the class ReLU: call it, ReLU\(...\)"),
                (lambda: ln.sequential(3, ln.Dense(2)), r"expected layers to be a list; got Dense"),
                (lambda: ln.Trainer(model, optimizer=ln.Adam), r"call it, Adam\(...\)"),
                (lambda: ln.Dataset(x, ["a", "b"] * 10), "numpy.unique"),
                (lambda: ln.Dataset(x.astype(object)), r"astype\('float32'\)"),
                (lambda: ln.Dataset(row for row in x), "to be an array of numbers; got generator; RecordSource")):
            with self.subTest(sentence=sentence), self.assertRaisesRegex(TypeError, sentence):
                call()
        with self.assertRaisesRegex(ln.DataError, "holds i32; convert it to f32"):
            model.predict([[1, 2, 3]])
        with self.assertRaisesRegex(ln.DataError, "labels of classes are integers"):
            ln.Trainer(model).fit((x, y.astype("f4")))

    def test_functions_of_numpy_know_no_expressions(self):
        model, data = ln.Model(network()), ln.Dataset(*parts())
        for loss, sentence in ((lambda y, t: np.mean((y - t) ** 2), "use the functions of linnet"),
                               (lambda y, t: (y - t).abs().mean(), r"no attribute 'abs'; use linnet.abs\(x\)"),
                               (lambda y, t: y.foo, "no attribute 'foo'$")):
            with self.subTest(sentence=sentence), self.assertRaisesRegex((TypeError, AttributeError), sentence):
                ln.Trainer(model, loss=loss).fit(data)

    def test_element_types_have_several_names(self):
        for dtype in ("i32", "int32", np.int32, np.dtype("i4")):
            self.assertEqual(ln.sequential(3, [ln.Embedding(5, 2)], dtype=dtype).output_shape, (3, 2))
        with self.assertRaisesRegex(ln.Error, "unknown element type 'complex64'"):
            ln.sequential(3, [], dtype=np.complex64)
        layer = ln.Conv2d(np.int32(4), kernel=np.array([3, 5]), stride=(np.int64(1), 2))
        self.assertEqual((layer.filters, layer.kernel, layer.stride), (4, [3, 5], [1, 2]))


class Rows(unittest.TestCase):
    def test_of_data_as_numpy_chooses_them(self):
        x, y = parts()
        data = ln.Dataset(x, y, weights=np.arange(20.0))
        for index in (slice(3, 9), slice(None), slice(-4, None), slice(None, None, -2), [1, 5, 5], np.array([-1, 0]),
                      x[:, 0] > 0.5, slice(30, 40)):
            with self.subTest(index=index):
                taken = data[index]
                np.testing.assert_array_equal(taken.column("input"), x[index])
                np.testing.assert_array_equal(taken.column("target"), y[index])
        np.testing.assert_array_equal(data[[3]].weights, [3])
        self.assertTrue(np.shares_memory(data[3:9].column("input"), x))
        for row in (0, -1, np.int64(7)):
            inputs, target = data[row]
            np.testing.assert_array_equal(inputs, x[row])
            self.assertEqual(target, y[row])
            inputs[:] = 0  # a copy, as PyTorch's DataLoader wants it
        self.assertEqual([int(target) for _, target in data], list(y))
        for wrong in (20, -21):
            with self.assertRaisesRegex(IndexError, f"row {wrong} is outside of the data set's 20 samples"):
                data[wrong]
        with self.assertRaises(IndexError):
            data[[20]]
        with self.assertRaises(IndexError):
            data[np.ones(3, bool)]
        with self.assertRaises((IndexError, TypeError)):
            data["input"]

    def test_several_columns_and_sources(self):
        x, y = parts()
        data = ln.Dataset({"a": x, "b": ln.RecordSource(list(x), record=3)})
        row = data[4]
        self.assertEqual(list(row), ["a", "b"])
        np.testing.assert_array_equal(row["b"], x[4])
        doubled = ln.Dataset(x, y).map("input", lambda record, place: 2 * record, record=3)
        np.testing.assert_array_equal(doubled[2][0], 2 * x[2])

    def test_a_mask_is_no_list_of_rows(self):
        data = ln.Dataset(*parts())
        for wrong in (np.ones(20, bool), [0.5]):
            with self.assertRaisesRegex(TypeError, r"data\[mask\]"):
                data.take(wrong)
        self.assertEqual(len(data.take([])), 0)

    def test_what_is_gone_through(self):
        data = ln.Dataset(*parts())
        trainer = ln.Trainer(ln.Model(network()))
        self.assertEqual(len(trainer.batches(data, size=6)), 4)
        self.assertEqual(len(trainer.batches(data, size=6, drop_last=True)), 3)
        self.assertEqual([len(batch) for batch in trainer.batches(data, size=6)], [6, 6, 6, 2])
        history = trainer.fit(data, epochs=3)
        self.assertEqual((len(history), [report.epoch for report in history]), (3, [1, 2, 3]))
        train, validation, test = ln.datasets.digits(10, 5)
        self.assertEqual((len(train), len(validation), len(test)), (10, 0, 5))


class Looks(unittest.TestCase):
    def test_all_has_a_text(self):
        data, model = ln.Dataset(*parts()), ln.Model(network())
        trainer = ln.Trainer(model)
        for one, text in ((model, "<Model on cpu: input (3,) → output (2,), 26 parameters>"),
                          (trainer, "Trainer(model=<Model on cpu"), (ln.Predictor(model), "Predictor(input_shape=(3,)"),
                          (next(iter(trainer.batches(data, size=8))), "Batch(size=8, epoch=1, position=0, data=<Dataset"),
                          (ln.evaluate_metrics(model, data), "Metrics(kind='labels', samples=20, accuracy=0."),
                          (ln.table_task({"a": [1, 2, 3] * 9, "y": [1, 2, 3] * 9}, "y"), "TableTask(transform=Table"),
                          (ln.Residual([ln.Dense(3), ln.ReLU()]), "Residual(body=[Dense(units=3), ReLU()])"),
                          (ln.LossOptions(l2=0.5), "LossOptions(l2=0.5)"),
                          (trainer.fit(data), "<History: 1 epochs, last Evaluation(loss=")):
            with self.subTest(text=text):
                self.assertIn(text, repr(one))
        self.assertEqual([name for name in dir(ln._linnet) if isinstance(getattr(ln._linnet, name), type)
                          and getattr(ln._linnet, name).__repr__ is object.__repr__], [])

    def test_networks_and_models_say_what_they_hold(self):
        model = ln.Model(network())
        for one in (model, model.network):
            self.assertEqual(repr(one.summary(batch=4)), repr(ln.summarize(network(), 4)))
            self.assertEqual(one.plan(4, "graph"), ln.dump_training_step(network(), 4, "graph"))
        with self.assertRaisesRegex(TypeError, "did you mean 'device'"):
            model.summary(devce="cpu")

    def test_models_are_functions(self):
        model, (x, _) = ln.Model(network()), parts()
        np.testing.assert_array_equal(model(x), model.predict(x))


class Copies(unittest.TestCase):
    def test_of_settings(self):
        for one in (ln.Clip(1), ln.LossOptions(l2=0.5, class_weights=[1, 2]), ln.Augment(flip=True, crop=True), ln.Watch("mae"),
                    ln.Checkpoints("folder", keep=2), ln.LBFGS(3), ln.ParameterGroup("a.*", 2.0), ln.CpuOptions(),
                    ln.Freeze("a.*", 1, 2), ln.Whiten("stem"),
                    ln.DatasetOptions(size=(4, 5)), ln.TableTransformOptions(scaling="min_max"), ln.Layer("relu", {}),
                    ln.Residual([ln.Dense(3)]), ln.AdamW(1e-2), ln.OneCycle()):
            with self.subTest(one=one):
                self.assertEqual(repr(pickle.loads(pickle.dumps(one))), repr(one))
                self.assertEqual(repr(copy.deepcopy(one)), repr(one))
                self.assertEqual(repr(copy.copy(one)), repr(one))
        for one in (ln.Objective(loss=lambda y, t: y), ln.TrainingOptions(epochs=3)):
            self.assertEqual(repr(copy.deepcopy(one)), repr(one))
            with self.assertRaises(TypeError):  # they may hold functions
                pickle.dumps(one)
        with self.assertRaisesRegex(TypeError, "no pickle holds"):
            pickle.dumps(ln.CustomLayer(lambda x, w: x))
        data = ln.Dataset(*parts())
        self.assertTrue(np.shares_memory(copy.copy(data).column("input"), data.column("input")))


if __name__ == "__main__":
    unittest.main()
