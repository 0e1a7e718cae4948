# SPDX-License-Identifier: Apache-2.0
import json
import os
import struct
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
        self.assertLessEqual(set(trained) - {"trivial", "verdict"}, set(record), "the keys of `linnet train --json`")
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
        self.assertEqual(record["libraries"], [], "mnist-cnn needs Linnet's own kernels alone")

    def test_table_and_file(self):
        out, _ = self.run_linnet(*self.arguments, *self.length, "--json", "bench.json")
        record = json.loads((self.folder / "bench.json").read_text())
        self.assertRegex(out, r"(?m)^mnist-cnn on patterns \(resident\), train, batch 40, fp32$")
        self.assertRegex(out, r"(?m)^samples/s   \S+ median, \S+ to \S+, of 3 epochs of 96 ")
        self.assertIn(f"({record['commit']})", out)
        self.assertIn("parameters  31530", out)

    def test_values_of_a_table_have_no_accuracy(self):
        rows = "".join(f"{i},{i * 7 % 50},{i * 3}\n" for i in range(60))
        (self.folder / "numbers.csv").write_text("a,b,y\n" + rows)
        (self.folder / "numbers.toml").write_text('[data]\nfile = "numbers.csv"\ntarget = "y"\n')
        out, _ = self.run_linnet("bench", "numbers.toml", "--device", "cpu", *self.length)
        self.assertRegex(out, r"(?m)^test        loss \S+ on \d+ samples$")

    def test_inference(self):
        record, _ = self.bench("--mode", "infer")
        self.assertEqual((record["mode"], record["optimizer"]), ("infer", None))
        self.assertEqual((record["train_loss"], record["losses"]), (None, []))
        self.assertGreater(record["samples_per_second"], 0)
        for mode in ("infer", "train"):
            self.assert_error("--data streamed is for GPUs; the network runs on the CPU: leave it out",
                              *self.arguments, *self.length, "--mode", mode, "--data", "streamed")

    def test_fewer_samples(self):
        record, _ = self.bench("--samples", 80)
        self.assertEqual((record["train_samples"], record["last_batch"]), (80, "full"))

    def test_synthetic_data_are_said_to_be(self):
        record, err = self.run_linnet("bench", "resnet50-features", "--device", "cpu", "--samples",
                                      1, "--batch", 1, "--epochs", 1, "--warmup", 0, "--json", "-")
        record = json.loads(record)
        self.assertEqual(err, "linnet: using synthetic data in the shape of the real data: no --dataset is given\n")
        self.assertEqual((record["synthetic"], record["data"], record["mode"]),
                         (True, "synthetic", "infer"))

    def test_a_loss_that_does_not_fall_is_a_failure(self):
        record, err = self.bench(length=("--epochs", 1, "--warmup", 0, "--batch", 96), status=3)
        self.assertEqual(err, "linnet: failed: one step cannot show whether the loss falls\n")
        self.assertEqual(record["failed"], "one step cannot show whether the loss falls")

    def test_the_test_part_is_evaluated_when_asked(self):
        record, _ = self.bench()
        self.assertEqual((record["test_samples"], record["test_loss"], record["test_losses"]),
                         (0, None, []))
        tested, _ = self.bench("--test")
        self.assertEqual(tested["test_samples"], 10)
        for key, every in (("test_loss", "test_losses"), ("test_accuracy", "test_accuracies")):
            self.assertEqual(len(tested[every]), 4, "the warm-up's is there too")
            self.assertEqual(tested[key], tested[every][-1])
        self.assertEqual(tested["losses"], record["losses"], "looking changes nothing")
        self.assertEqual(len(tested["timed_seconds"]), 3)
        out, _ = self.run_linnet(*self.arguments, *self.length, "--test")
        self.assertRegex(out, r"(?m)^test        loss \S+, accuracy \S+ % on 10 samples$")

    def test_export(self):
        out, err = self.run_linnet("bench", "mnist-cnn", "--dataset", self.data, "--samples", 48, "--export", "data")
        self.assertEqual((out, err), ("", ""))
        about = json.loads((self.folder / "data/data.json").read_text())
        self.assertEqual(about, {"name": "patterns", "samples": 48, "test_samples": 10,
                                 "sample_shape": [28, 28, 1], "sample_dtype": "u8",
                                 "target_dtype": "i32", "classes": 10})
        pixels, labels = command.patterns(96, 1)
        size = 28 * 28
        self.assertEqual((self.folder / "data/samples.bin").read_bytes(),
                         b"".join(pixels[i * size:(i + 1) * size] for i in range(0, 96, 2)))
        self.assertEqual((self.folder / "data/targets.bin").read_bytes(),
                         struct.pack("<48i", *labels[::2]))
        pixels, labels = command.patterns(10, 2)
        self.assertEqual((self.folder / "data/test_samples.bin").read_bytes(), bytes(pixels))
        self.assertEqual((self.folder / "data/test_targets.bin").read_bytes(),
                         struct.pack("<10i", *labels))

    def test_export_of_values_and_ids(self):
        for workload, samples, targets in (("rosenbrock-mlp", ("f32", 4000), ("f32", 4)),
                                           ("gru-imdb", ("i32", 600), ("i32", 4))):
            self.run_linnet("bench", workload, "--samples", 5, "--export", workload,
                            env={**os.environ, "XDG_CACHE_HOME": str(self.folder)})
            about = json.loads((self.folder / workload / "data.json").read_text())
            self.assertEqual((about["samples"], about["sample_dtype"], about["target_dtype"]),
                             (5, samples[0], targets[0]))
            self.assertGreater(about["test_samples"], 0)
            for part, count in (("", 5), ("test_", about["test_samples"])):
                for name, size in (("samples", samples[1]), ("targets", targets[1])):
                    file = self.folder / workload / f"{part}{name}.bin"
                    self.assertEqual(file.stat().st_size, count * size, file)

    def test_drawn_data_follow_their_own_seed(self):
        files = []
        for number, seeds in enumerate(((0, 3), (1, 3), (1, 4))):
            self.run_linnet("bench", "mnist-cnn", "--dataset", "digits", "--samples", 20, "--seed",
                            seeds[0], "--data-seed", seeds[1], "--export", number)
            files.append((self.folder / str(number) / "samples.bin").read_bytes())
        self.assertEqual(files[0], files[1])
        self.assertNotEqual(files[1], files[2])

    def test_a_network_of_ones_own_is_timed_on_synthetic_samples(self):
        (self.folder / "mine.toml").write_text(
            '[network]\ninput = [12, 5]\nlayers = [{ type = "lstm", units = 6 }, { type = "dense", units = 4 }]\n'
            '[training]\nbatch = 10\nepochs = 90\n')
        out, err = self.run_linnet("bench", "mine.toml", "--threads", 1, "--json", "-")
        record = json.loads(out)
        self.assertEqual(err, "linnet: using synthetic data in the shape of the real data: the configuration names no data\n")
        self.assertEqual((record["workload"], record["batch"], record["epochs"], record["train_samples"]),
                         ("mine", 10, 3, 640))
        self.assertEqual((record["failed"], record["to_accuracy"]), (None, None))
        for given, want in (({"--batch": 20}, (20, 1280)), ({"--samples": 50}, (10, 50))):
            named = [word for pair in given.items() for word in pair]
            out, _ = self.run_linnet("bench", "mine.toml", "--mode", "infer", *named, "--json", "-")
            record = json.loads(out)
            self.assertEqual((record["mode"], record["batch"], record["train_samples"]), ("infer", *want))

    def test_a_file_is_timed_on_the_data_that_it_names(self):
        rows = [f"{i % 7},{i % 5},{'left' if i % 7 < 3 else 'right'}" for i in range(80)]
        (self.folder / "points.csv").write_text("\n".join(["x,y,kind", *rows]))
        (self.folder / "table.toml").write_text('[data]\nfile = "points.csv"\ntarget = "kind"\n')
        (self.folder / "images.toml").write_text(
            f'[data]\npath = "{self.data}"\n[network]\ninput = [28, 28, 1]\n'
            'layers = [{ type = "flatten" }, { type = "dense", units = 10 }]\n')
        out, err = self.run_linnet("bench", "images.toml", "--json", "-")
        record = json.loads(out)
        self.assertEqual((err, record["data"], record["train_samples"], record["batch"], record["synthetic"]),
                         ("", "patterns", 96, 128, False))
        out, _ = self.run_linnet("bench", "table.toml", "--json", "-")
        self.assertEqual(json.loads(out)["workload"], "table")
        self.assert_error("--dataset and --samples are for data that [data] names; 'table' describes its own files",
                          "bench", "table.toml", "--samples", 5)

    def test_a_race_to_an_accuracy(self):
        record, err = self.bench("--to-accuracy", 0.8, length=("--batch", 8, "--epochs", 60))
        race = record["to_accuracy"]
        self.assertEqual((err, race["wanted"], race["reached"]), ("", 0.8, True))
        self.assertGreaterEqual(race["accuracy"], 0.8)
        self.assertEqual((race["epochs"], race["accuracy"]), (len(record["losses"]), record["test_accuracies"][-1]))
        self.assertTrue(all(accuracy < 0.8 for accuracy in record["test_accuracies"][:-1]), "it stops at once")
        self.assertAlmostEqual(race["training_seconds"], sum(record["timed_seconds"]))
        self.assertGreater(race["seconds"], race["training_seconds"] + race["test_seconds"])
        out, _ = self.run_linnet(*self.arguments, "--batch", 8, "--epochs", 60, "--to-accuracy", 0.8)
        self.assertRegex(out, r"(?m)^accuracy    \S+ % after \d+ epochs? and \S+ s: \S+ s of training, ")
        out, err = self.run_linnet("bench", "mnist-cnn", "--dataset", "digits", "--samples", 20, "--epochs", 1,
                                   "--to-accuracy", 1, "--json", "-", status=3)
        record = json.loads(out)
        self.assertRegex(err, r"failed: 100.00 % of the test set were not reached in 1 epoch; the last has \S+ %\n")
        self.assertFalse(record["to_accuracy"]["reached"])

    def test_errors(self):
        self.assert_error("--test is for --mode train; --mode infer only predicts: leave it out",
                          *self.arguments, "--mode", "infer", "--test")
        (self.folder / "file").write_text("")
        export = ("bench", "mnist-cnn", "--dataset", self.data, "--export")
        self.assert_error("cannot make the folder 'file/data': Not a directory", *export, "file/data")
        self.assert_error("--epochs, --threads and --json are for a measurement; --export only writes the data: leave "
                          "them out", *export, "data", "--threads", 1, "--json", "-", "--epochs", 2)
        self.assert_error("unknown workload 'mnist-cn'; did you mean 'mnist-cnn'?", "bench",
                          "mnist-cn")
        self.assert_error("--warmup is for times of epochs; --to-accuracy times a training from its start: leave it out",
                          *self.arguments, "--to-accuracy", 0.5, "--warmup", 1)
        (self.folder / "values.toml").write_text(
            '[network]\ninput = [4]\nlayers = [{ type = "dense", units = 1 }]\n')
        _, err = self.run_linnet("bench", "values.toml", "--to-accuracy", 0.5, status=2)
        self.assertIn("linnet: error: an accuracy is for samples with classes; 'synthetic' has none\n", err)
        self.assert_error("resnet50-features only computes features and cannot be trained; use --mode infer", "bench", "resnet50-features", "--mode", "train")
        self.assert_error("--epochs: expected an integer of at least 1; got '0'", "bench",
                          "mnist-cnn", "--epochs", 0)
        self.assert_error("--data: expected resident or streamed; got 'steamed'; did you mean "
                          "'streamed'?", "bench", "mnist-cnn", "--data", "steamed")
        self.assert_error("'fashon-mnist' is neither a folder nor a known data set; did you mean "
                          "'fashion-mnist', one of fashion-mnist, digits, mnist, cifar10, cifar100, "
                          "cifar100-coarse, imdb, chest-xray or rosenbrock?", "bench", "mnist-cnn", "--device", "cpu",
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
