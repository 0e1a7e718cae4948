# SPDX-License-Identifier: Apache-2.0
"""What a newcomer tries who knows other frameworks, and the logs that they expect."""
import csv
import json
import tempfile
import unittest
from pathlib import Path

import numpy as np

import linnet as ln


def parts(rows=20):
    x = np.random.default_rng(1).random((rows, 3), np.float32)
    return x, (x.sum(axis=1) > 1.5).astype(np.int32)


def model():
    return ln.Model(ln.sequential(3, [ln.Dense(4), ln.ReLU(), ln.Dense(2)]), device="cpu")


class Layers(unittest.TestCase):
    def test_what_other_frameworks_call_arguments_gets_a_hint(self):
        for call, sentence in (
                (lambda: ln.Dense(4, activation="relu"), r"\[Dense\] .*'activation'; an activation is a layer of its own"),
                (lambda: ln.Conv2d(4, activation="relu"), r"\[Conv2d\] .* layer of its own"),
                (lambda: ln.Dense(4, input_shape=(3,)), r"takes the shape of a sample: sequential"),
                (lambda: ln.Dense(4, in_features=3), r"'in_features'; the network's input"),
                (lambda: ln.Dense(3, 4), r"'bias' in dense .*|expected .*bias"),
                (lambda: ln.Trainer(model(), class_weight={0: 1}), r"LossOptions\(class_weights=...\)")):
            with self.subTest(sentence=sentence), self.assertRaisesRegex((TypeError, ln.Error), sentence):
                call()

    def test_dense_applies_to_the_last_axis(self):
        x = np.random.default_rng(2).random((5, 4, 6, 3), np.float32)
        made = ln.Model(ln.sequential((4, 6, 3), [ln.Dense(2)]), device="cpu")
        weights = made.weights()
        np.testing.assert_allclose(made.predict(x), x @ weights["dense_1.weight"].T + weights["dense_1.bias"],
                                   rtol=1e-6, atol=1e-6)
        with self.assertRaisesRegex(ln.Error, r"outputs \(N, classes\); .* Flatten"):
            ln.Trainer(made).fit((x, np.zeros(5, np.int32)))


class Data(unittest.TestCase):
    def test_a_generator_is_pointed_to_record_source(self):
        rows = (np.zeros(3, np.float32) for _ in range(4))
        for call in (lambda: ln.Dataset(rows, np.zeros(4)), lambda: ln.Trainer(model()).fit(rows),
                     lambda: model().predict(iter([1.0, 2.0]))):
            with self.assertRaisesRegex(TypeError, r"RecordSource\(records, record=...\)"):
                call()
        with self.assertRaisesRegex(TypeError, r"\[RecordSource\] .*__len__ and __getitem__.*got generator"):
            ln.RecordSource(rows, record=3)

    def test_a_misspelt_input_is_not_another(self):
        network = ln.FunctionalNetwork()
        left, right = network.input("left", 2), network.input("right", 2)
        two = ln.Model(network.build({"y": left - right}), device="cpu")
        x = np.ones((3, 2), np.float32)
        np.testing.assert_array_equal(two.predict({"right": x, "left": x}), np.zeros((3, 2)))
        with self.assertRaisesRegex(ln.DataError, "input 'right' has no column.*is 'rigth' meant"):
            two.predict({"left": x, "rigth": x})
        with self.assertRaisesRegex(ln.DataError, "input 'right' has no column"):
            two.predict({"left": x, "mask": x})

    def test_class_weights_by_label(self):
        by_label = ln.LossOptions(class_weights={1: 3.0, 0: np.float32(1)})
        self.assertEqual(by_label.class_weights, [1, 3])
        x, y = parts()
        losses = [ln.evaluate(model(), (x, y), loss_options=ln.LossOptions(class_weights=weights)).loss
                  for weights in ({0: 1, 1: 3}, [1, 3])]
        self.assertEqual(losses[0], losses[1])
        with self.assertRaisesRegex(ValueError, r"\[LossOptions\] .*each label from 0 on; got 2, but none for 1"):
            ln.LossOptions(class_weights={0: 1, 2: 1})
        with self.assertRaisesRegex(TypeError, r"keys are labels, .*Dataset.classes.*got 'cat'"):
            ln.LossOptions(class_weights={"cat": 1})

    def test_a_file_of_another_program_is_not_written(self):
        with tempfile.TemporaryDirectory() as folder:
            for name, sentence in (("m.h5", "'.h5' is the ending of Keras.*m.safetensors"),
                                   ("m.pt", "PyTorch"), ("m.onnx", "an export writes ONNX")):
                with self.assertRaisesRegex(ln.Error, sentence):
                    model().save(Path(folder) / name)
            self.assertEqual(list(Path(folder).iterdir()), [])
            model().save(Path(folder) / "m.safetensors")


class Logs(unittest.TestCase):
    def test_csv_json_and_tensorboard(self):
        made = model()
        with tempfile.TemporaryDirectory() as folder:
            files = Path(folder) / "h.csv", Path(folder) / "h.jsonl"
            board = ln.TensorBoardLog(Path(folder) / "board", made)
            trainer = ln.Trainer(made)
            history = trainer.fit(parts(), epochs=3, callbacks=[ln.CsvLog(files[0]), ln.JsonLinesLog(files[1]), board])
            board.scalar("own/number", 1.5, step=3)
            board.histogram("own/values", np.arange(5.0), step=3)
            board.image("own/image", np.zeros((4, 4, 1), np.uint8), step=3)
            losses = [epoch.train.loss for epoch in history.epochs]
            with open(files[0], newline="") as file:
                self.assertEqual([float(row["train_loss"]) for row in csv.DictReader(file)], losses)
            lines = [json.loads(line) for line in files[1].read_text().splitlines()]
            self.assertEqual([line["train_loss"] for line in lines], losses)
            (events,) = (Path(folder) / "board").glob("events.out.tfevents.*")
            text = events.read_bytes()
            for tag in (b"loss/train", b"weight/dense_1.weight", b"own/number", b"own/values", b"own/image"):
                self.assertIn(tag, text)
        with self.assertRaisesRegex(TypeError, r"\[CsvLog\] has no argument 'path'"):
            ln.CsvLog(path="h.csv")


if __name__ == "__main__":
    unittest.main()
