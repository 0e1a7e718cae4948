# SPDX-License-Identifier: Apache-2.0
import json
import unittest

import command


class Bench(command.CommandTest):
    def setUp(self):
        super().setUp()
        self.data = self.folder / "patterns"
        command.write_mnist(self.data, train=96, test=10)
        self.arguments = ("bench", "mnist-cnn", "--device", "cpu", "--threads", 1, "--dataset",
                          self.data)
        self.length = ("--batch", 40, "--epochs", 3, "--warmup", 1)

    def bench(self, *arguments, length=None, status=0):
        """The record that --json - prints, and standard error."""
        out, err = self.run_linnet(*self.arguments, *(length or self.length), *arguments, "--json",
                                   "-", status=status)
        self.assertEqual(out.count("\n"), 1, "exactly one line of JSON")
        return json.loads(out), err

    def test_record_of_a_training(self):
        record, err = self.bench()
        self.assertEqual(err, "")
        trained, _ = self.train()
        self.assertLessEqual(set(trained), set(record), "the keys of `linnet train --json`")
        self.assertEqual((record["workload"], record["mode"]), ("mnist-cnn", "train"))
        self.assertEqual((record["batch"], record["epochs"], record["warmup"]), (40, 3, 1))
        self.assertEqual((record["train_samples"], record["last_batch"]),
                         (96, "incomplete, included"))
        self.assertEqual((record["optimizer"], record["learning_rate"], record["schedule"]),
                         ("adam", 1e-3, "constant"))
        self.assertEqual((record["synthetic"], record["streamed"], record["failed"]),
                         (False, False, None))
        self.assertEqual(record["parameters"], 31530)
        self.assertEqual(len(record["losses"]), 4, "the warm-up's loss is recorded too")
        self.assertEqual(record["losses"][-1], record["train_loss"])
        self.assertLess(record["losses"][-1], record["losses"][0])
        least, median, most = (record["samples_per_second" + end] for end in ("_min", "", "_max"))
        self.assertTrue(0 < least <= median <= most, record)
        seconds = record["epoch_seconds"]
        self.assertAlmostEqual(median * seconds["median"] / 96, 1)
        self.assertAlmostEqual(least * seconds["max"] / 96, 1)
        self.assertAlmostEqual(most * seconds["min"] / 96, 1)
        self.assertGreater(record["peak_bytes"], record["planned_bytes"])
        self.assertTrue(any(name.startswith("oneDNN ") for name in record["libraries"]))

    def test_table_and_file(self):
        out, _ = self.run_linnet(*self.arguments, *self.length, "--json", "bench.json")
        record = json.loads((self.folder / "bench.json").read_text())
        self.assertRegex(out, r"(?m)^mnist-cnn on patterns \(resident\), train, batch 40, fp32$")
        self.assertRegex(out, r"(?m)^samples/s   \S+ median, \S+ to \S+, of 3 epochs of 96 ")
        self.assertIn(f"({record['commit']})", out)
        self.assertIn("parameters  31530", out)

    def test_inference(self):
        record, _ = self.bench("--mode", "infer")
        self.assertEqual((record["mode"], record["optimizer"]), ("infer", None))
        self.assertEqual((record["train_loss"], record["losses"]), (None, []))
        self.assertGreater(record["samples_per_second"], 0)
        streamed, _ = self.bench("--mode", "infer", "--data", "streamed")
        self.assertTrue(streamed["streamed"])

    def test_fewer_samples(self):
        record, _ = self.bench("--samples", 80)
        self.assertEqual((record["train_samples"], record["last_batch"]), (80, "full"))

    def test_synthetic_data_are_said_to_be(self):
        record, err = self.run_linnet("bench", "resnet50-features", "--device", "cpu", "--samples",
                                      1, "--batch", 1, "--epochs", 1, "--warmup", 0, "--json", "-")
        record = json.loads(record)
        self.assertEqual(err, "linnet: synthetic data, drawn in the shape of the real ones: no "
                              "--dataset was given\n")
        self.assertEqual((record["synthetic"], record["data"], record["mode"]),
                         (True, "synthetic", "infer"))

    def test_a_loss_that_does_not_fall_is_a_failure(self):
        record, err = self.bench(length=("--epochs", 1, "--warmup", 0, "--batch", 96), status=3)
        self.assertEqual(err, "linnet: failed: one step cannot show that the loss falls\n")
        self.assertEqual(record["failed"], "one step cannot show that the loss falls")

    def test_errors(self):
        self.assert_error("unknown workload 'mnist-cn'; did you mean 'mnist-cnn'?", "bench",
                          "mnist-cn")
        self.assert_error("resnet50-features computes features and has nothing to train; use "
                          "--mode infer", "bench", "resnet50-features", "--mode", "train")
        self.assert_error("--epochs: expected an integer of at least 1; got '0'", "bench",
                          "mnist-cnn", "--epochs", 0)
        self.assert_error("--data: expected resident or streamed; got 'steamed'; did you mean "
                          "'streamed'?", "bench", "mnist-cnn", "--data", "steamed")
        self.assert_error("'fashon-mnist' is neither a folder nor a known data set; did you mean "
                          "'fashion-mnist'?", "bench", "mnist-cnn", "--device", "cpu",
                          "--dataset", "fashon-mnist")
        _, err = self.run_linnet(*self.arguments, "--json", "missing/bench.json", status=2)
        self.assertIn("missing/bench.json", err)

    def test_completion(self):
        for shell in ("bash", "zsh", "fish"):
            script, _ = self.run_linnet("completion", shell)
            self.assertIn("resident streamed", script, shell)
            self.assertIn("bench", script)


if __name__ == "__main__":
    unittest.main()
