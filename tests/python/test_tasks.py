# SPDX-License-Identifier: Apache-2.0
"""Trainings that are made for a kind of data, and what is asked of models and networks beside training."""
import tempfile
import unittest
from pathlib import Path

import numpy as np

import files
import linnet as ln


def measurements(rows=300):
    random = np.random.default_rng(1)
    x, noise = random.random(rows), random.random(rows)
    kind = random.choice(["red", "green"], rows)
    return {"x": list(x), "noise": list(noise), "kind": [str(k) for k in kind],
            "y": [str(v) for v in np.where(x + 0.5 * (kind == "red") > 0.75, "high", "low")]}


class Tasks(unittest.TestCase):
    def test_images(self):
        with tempfile.TemporaryDirectory() as folder:
            files.image_folder(Path(folder))
            task = ln.image_task(folder, validation=0.2, test=0.2, seed=1, files=ln.DatasetOptions(channels=1))
        self.assertEqual(sorted(task.data.train.classes), ["one", "three", "two", "zero"])
        self.assertEqual(task.network.output_shape, (4,))
        self.assertEqual((len(task.data.train), len(task.data.test)), (120, 40))
        history = ln.train(ln.Model(task.network, threads=1), task.data, task.training, epochs=1)
        self.assertEqual(len(history.epochs), 1)
        self.assertEqual(ln.image_task(task.data).data.test.classes, task.data.test.classes)

    def test_images_with_options_of_their_files(self):
        with tempfile.TemporaryDirectory() as folder:
            files.image_folder(Path(folder))
            bad = next(Path(folder).rglob("*.png"))
            bad.write_bytes(bad.read_bytes()[:50])
            with self.assertRaisesRegex(ln.DataError, 'on_bad_image="skip"'):
                ln.image_task(folder, seed=1)
            task = ln.image_task(folder, seed=1, on_bad_image="skip", channels=1, exif="ignore")
            self.assertIn(f"1 bad image file was left out, the first: '{bad}'", task.notes[0])
            with self.assertRaisesRegex(TypeError, "image_task. has no argument 'on_bad'"):
                ln.image_task(folder, on_bad="skip")

    def test_texts(self):
        with tempfile.TemporaryDirectory() as folder:
            path = files.reviews(Path(folder) / "reviews.tsv")
            task = ln.text_task(path, words=100, seed=1)
            model = ln.Model(task.network, threads=1)
            ln.train(model, task.data, task.training, epochs=20)
            self.assertEqual(ln.evaluate_metrics(model, task.data.test).accuracy, 1)
            again = ln.labelled_texts(path, task.data.train.vocabulary, task.length)
        self.assertEqual(again.test.column("text").shape, (400, task.length))
        ids = ln.encode_text("a wonderful story", task.data.train.vocabulary, task.length)
        self.assertEqual(model.predict(ids).argmax(), 1)

    def test_a_text_is_continued(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "corpus.txt"
            path.write_text("the cat sat on the mat.\n" * 60)
            task = ln.prepare(path, task="language", context=16, layers=1, width=16, heads=2)
        model = ln.Model(task.network, device="cpu", threads=1)
        ln.train(model, task.data, task.training, epochs=12, batch=8, optimizer=ln.AdamW(learning_rate=0.01))
        self.assertEqual(ln.generate(model, "the c", length=30, temperature=0), "at sat on the mat.\nthe cat sat")
        told = []
        text = ln.generate(model, "the c", seed=2, on_text=lambda each: told.append(each) or len(told) < 9)
        self.assertEqual("".join(told), text)
        self.assertEqual(len(text), 9)
        with self.assertRaisesRegex(ln.Error, "does not know the character 'd'"):
            ln.generate(model, "dog")
        with self.assertRaises(ZeroDivisionError):
            ln.generate(model, "the c", on_text=lambda each: 1 // 0)

    def test_a_path_tells_what_it_holds(self):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "days.csv"
            path.write_text("day,x,y\n" + "".join(f"{day},{day % 5 / 2},{day % 7}\n" for day in range(200)))
            rows = ln.prepare(path, target="y", seed=1)
            self.assertEqual(rows.notes, ln.table_task(ln.read_table(path), "y", seed=1).notes)
            model = rows.model(threads=1)
            ln.train(model, rows.data, rows.training, epochs=1)
            self.assertEqual(model.table.targets, ["y"])
            self.assertEqual(ln.prepare(path, target="y", past=5).model(threads=1).series.past, 5)
            texts = ln.prepare(files.reviews(Path(folder) / "reviews.tsv"))
            self.assertEqual(texts.data.train.classes, ["negative", "positive"])
            images = ln.prepare(files.image_folder(Path(folder) / "photos"), validation=0.2)
            self.assertEqual(images.network.output_shape, (4,))
            with self.assertRaisesRegex(TypeError, "no kind of data has the setting 'targets'"):
                ln.prepare(path, targets="y")
            with self.assertRaisesRegex(ln.Error, "--past is for windows of a series"):
                ln.prepare(Path(folder) / "photos", past=3)
            with self.assertRaisesRegex(ln.Error, "the folder is empty"):
                (Path(folder) / "empty").mkdir()
                ln.prepare(Path(folder) / "empty")

    def test_oversampling(self):
        def only(columns):
            return next(iter(columns.values()))

        data = ln.Dataset(np.arange(6, dtype="f4")[:, None], np.array([0, 0, 1, 0, 0, 2]))
        more = ln.oversample(data)
        self.assertEqual(np.bincount(only(more.targets)).tolist(), [4, 4, 4])
        self.assertEqual(only(more.inputs)[:6].ravel().tolist(), [0, 1, 2, 3, 4, 5])
        self.assertEqual(np.bincount(only(ln.oversample(data, share=0.5, ignore_index=2).targets)).tolist(), [4, 2, 1])
        with self.assertRaisesRegex(ln.Error, "oversampling repeats samples of rare classes"):
            ln.oversample((np.zeros((2, 1), "f4"), np.zeros((2, 1), "f4")))

    def test_series(self):
        rows = 400
        table = {"day": [str(np.datetime64("2024-01-01") + np.timedelta64(i, "D")) for i in range(rows)],
                 "value": [float(np.sin(i / 5)) for i in range(rows)]}
        task = ln.series_task(table, "value", past=12, future=3, network="mlp", seed=1)
        self.assertEqual((task.transform.past, task.transform.future, task.transform.targets), (12, 3, ["value"]))
        model = task.model(threads=1)
        ln.train(model, task.data, task.training, epochs=20)
        score = ln.evaluate_series(model, task.test)[0]
        self.assertLess(score.model.all_mae, score.persistence.all_mae)
        self.assertEqual(score.model.mae.shape, (3,))
        steps = ln.forecast(model, table)
        self.assertEqual([step.place.time for step in steps], ["2025-02-04", "2025-02-05", "2025-02-06"])
        self.assertEqual(ln.forecast_windows(model, task.test)[0].shape, (len(task.test), 3))
        self.assertEqual(model.series.past, 12)
        self.assertEqual(ln.SeriesTransform.from_json(model.series.to_json()).channels, model.series.channels)

    def test_transforms(self):
        table = measurements()
        task = ln.table_task(table, "y", transform=ln.TableTransformOptions(
            scaling="min_max", ignore=["noise"], column_scaling={"x": "robust"}))
        self.assertEqual(task.transform.input_columns, ["x", "kind"])
        self.assertEqual(task.transform.target_kind, "classes")
        transform = ln.TableTransform.fit(table, "y", ln.TableTransformOptions(scaling="min_max"))
        numbers = transform.transform(table).column("numbers")
        self.assertEqual((numbers.min(), numbers.max()), (0, 1))
        again = ln.TableTransform.from_json(transform.to_json())
        np.testing.assert_array_equal(again.inputs(table).column("numbers"), numbers)
        self.assertTrue(set(task.validation_rows).isdisjoint(task.test_rows))
        with self.assertRaisesRegex(ValueError, "did you mean 'min_max'"):
            ln.TableTransformOptions(scaling="minmax")


class Reports(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.table = measurements()
        cls.task = ln.table_task(cls.table, "y", ensemble=1, seed=1)
        cls.model = cls.task.model(threads=1, seed=1)
        ln.train(cls.model, cls.task.data, cls.task.training, epochs=40)

    def test_importance(self):
        found = ln.permutation_importance(self.model, self.table, repeats=3, seed=1)
        self.assertEqual([one.column for one in found.columns], ["x", "noise", "kind"])
        means = {one.column: one.mean for one in found.columns}
        self.assertGreater(min(means["x"], means["kind"]), means["noise"] + 0.1)
        self.assertEqual(found.columns[0].losses.shape, (3,))
        self.assertLess(found._repr_html_().index("<td style='text-align:left'>kind"),
                        found._repr_html_().index("<td style='text-align:left'>noise"))

    def test_partial_dependence(self):
        found = ln.partial_dependence(self.model, self.table, "x", points=5)
        self.assertEqual((len(found.values), len(found.means), len(found.outputs)), (5, 5, 2))
        high = found.outputs.index("high")
        self.assertGreater(found.means[-1][high], found.means[0][high] + 0.3)

    def test_prediction_report(self):
        data = self.task.data.test
        report = ln.prediction_report(ln.predictions_of(self.model, data), data, calibration_bins=5)
        self.assertEqual(report.samples, len(data))
        curve = report.classes[0].curve
        self.assertEqual(curve.recall.shape, curve.thresholds.shape)
        self.assertEqual(curve.recall[-1], 1)
        self.assertGreater(curve.roc_area(), 0.9)
        self.assertLessEqual(len(report.classes[0].calibration.bins), 5)
        self.assertTrue(report._repr_html_().startswith("<table>"))
        choice = ln.cheapest_threshold(curve, false_positive=100)
        self.assertEqual(choice.false_positives, 0)

    def test_curves_of_arrays(self):
        curve = ln.threshold_curve([0.9, 0.8, 0.3, 0.1], [1, 0, 1, 0])
        np.testing.assert_array_equal(curve.true_positives, [1, 1, 2, 2])
        self.assertEqual(curve.roc_area(), 0.75)
        self.assertAlmostEqual(ln.calibration([0.25, 0.75], [0, 1]).brier, 0.0625)
        with self.assertRaises(ln.Error):
            ln.calibration([2.0], [1])


class Plans(unittest.TestCase):
    def network(self):
        return ln.sequential((16, 16, 3), [ln.Conv2d(8, padding="same"), ln.ReLU(), ln.Flatten(), ln.Dense(4)])

    def test_memory(self):
        plain = ln.summarize(self.network(), 64).training
        adam = ln.summarize(self.network(), 64, ln.TrainingOptions(optimizer=ln.SGD(0.1))).training
        self.assertLess(adam.optimizer, plain.optimizer)
        limit = plain.total // 2
        parts = ln.summarize(self.network(), 64, ln.TrainingOptions(memory_limit=limit)).training
        self.assertGreater(parts.shards, 1)
        self.assertLessEqual(parts.total, limit)

    def test_the_largest_batch(self):
        found = ln.max_batch(self.network(), memory_limit=8 << 20)
        self.assertLessEqual(found.memory.total, 8 << 20)
        self.assertGreater(ln.summarize(self.network(), found.batch + 1).training.total, 8 << 20)
        self.assertGreater(ln.max_batch(self.network(), memory_limit=8 << 20, shards=True).batch, found.batch)

    def test_a_fit_within_a_limit(self):
        data = ln.datasets.digits(256, 1, 1).train
        network = ln.sequential((28, 28, 1), [ln.Rescale(1 / 255), ln.Flatten(), ln.Dense(64), ln.Dense(10)])
        free = ln.Trainer(ln.Model(network)).fit(data, batch=256)
        limited = ln.Trainer(ln.Model(network)).fit(data, batch=256, memory_limit=int(0.9 * free.planned_bytes))
        self.assertEqual(free.shards, 1)
        self.assertGreater(limited.shards, 1)
        self.assertLess(limited.planned_bytes, free.planned_bytes)
        with self.assertRaisesRegex(ln.Error, "bytes|MiB|KiB"):
            ln.Trainer(ln.Model(network)).fit(data, batch=256, memory_limit=1000)

    def test_ranks(self):
        alone = ln.Ranks()
        self.assertEqual((alone.rank, alone.size, alone.engine), (0, 1, "none"))
        x = np.random.default_rng(1).random((32, 3), np.float32)
        one, two = (ln.Trainer(ln.Model(ln.sequential(3, [ln.Dense(2)])), **given)
                    for given in ({}, {"ranks": alone, "bucket_bytes": 1 << 10}))
        for trainer in (one, two):
            trainer.fit((x, np.zeros(32, np.int32)), batch=8, shards=2)
        np.testing.assert_array_equal(one.predict(x), two.predict(x))
        self.assertTrue(issubclass(ln.RankError, ln.Error) and issubclass(ln.RankError, ConnectionError))
        with self.assertRaises(ln.Error):
            ln.Ranks.open(engine="gloo", size=3, master_address="127.0.0.1", master_port=1)


class Onnx(unittest.TestCase):
    def test_there_and_back(self):
        model = ln.Model(ln.sequential((8, 8, 3), [ln.Conv2d(4), ln.ReLU(), ln.Flatten(), ln.Dense(5)]), seed=2)
        x = np.random.default_rng(1).random((4, 8, 8, 3), np.float32)
        with tempfile.TemporaryDirectory() as folder:
            ln.export_onnx(model, Path(folder) / "model.onnx")
            found = ln.import_onnx(Path(folder) / "model.onnx", threads=1)
        self.assertEqual([(port.sample, port.axes, port.batch) for port in found.inputs], [((8, 8, 3), [2, 3, 1], 0)])
        np.testing.assert_allclose(found.model.predict(x), model.predict(x), atol=1e-5)
        port = found.inputs[0]
        self.assertEqual((port.type, port.dims, port.below), ("FLOAT", [-1, 3, 8, 8], 0))
        self.assertTrue(found.producer.startswith("linnet "))
        self.assertEqual((found.metadata, found.left_out), ({}, []))
        self.assertIn("Conv", [operator.name for operator in ln.onnx_operators()])
        with self.assertRaises(ln.DataError):
            ln.import_onnx("missing.onnx")


if __name__ == "__main__":
    unittest.main()
