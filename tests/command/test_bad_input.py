# SPDX-License-Identifier: Apache-2.0
import json
import pathlib
import unittest

import command

TABLE = pathlib.Path(__file__).resolve().parents[2] / "benchmarks/workloads.json"
WORKLOADS = [entry["name"] for entry in json.loads(TABLE.read_text())["workloads"]]

NETWORK = """[network]
input = [28, 28, 1]
layers = [
  {type = "conv2d", filters = 4, %s = 3},
]
"""


class BadInput(command.CommandTest):
    def test_commands(self):
        self.assert_error("there is no command 'trian'; did you mean 'train'?", "trian")
        out, err = self.run_linnet(status=2)
        self.assertIn("\nFirst steps with your own data:\n", out)
        self.assertEqual(err, "")

    def test_options(self):
        train = ("train", "--workload", "mnist-cnn")
        self.assert_error("unknown option '--epoch'; did you mean '--epochs'?", *train,
                          "--epoch", "3")
        self.assert_error("--epochs: expected an integer of at least 1; got '0'", *train,
                          "--epochs", 0)
        self.assert_error("--batch: expected an integer of at most 2147483647; got '2147483648'",
                          *train, "--batch", "2147483648")
        self.assert_error("--batch: expected an integer of at least 1; got '12x'", *train,
                          "--batch", "12x")
        self.assert_error("--device: expected auto, cpu, cuda, cuda:INDEX or cuda:UUID; got "
                          "'cdua'; did you mean 'cuda'?", *train, "--device", "cdua")
        for graph in ("-3", "abc", "0", "2.5", "10001"):
            self.assert_error("--graph: expected off, epoch or an integer in [1, 10000]; "
                              f"got '{graph}'", *train, f"--graph={graph}")
        self.assert_error("--conv-engine: expected legacy or graph; got 'legaci'; did you mean "
                          "'legacy'?", *train, "--conv-engine", "legaci")
        self.assert_error("--precision: expected auto, fp32, tf32, bf16, fp16 or fp64; got 'fp61'; did "
                          "you mean 'fp16'?", *train, "--precision", "fp61")
        self.assert_error("the precision fp16 is for CUDA; a CPU computes in fp32 (also for tf32), "
                          "bf16 or fp64", *train, "--device", "cpu", "--precision", "fp16")
        self.assert_error("unexpected argument 'extra'", "devices", "extra")

    def test_workloads(self):
        self.assert_error("unknown workload 'mnist-cn'; did you mean 'mnist-cnn'?", "train",
                          "--workload", "mnist-cn")
        self.assert_error("there is no file, folder or workload 'photos'; the workloads are "
                          f"{', '.join(WORKLOADS)}", "train", "photos")
        _, err = self.run_linnet("train", "mnist", status=2)
        self.assertIn("'mnist' is a data set, not a workload: linnet train --workload NAME --data mnist trains one of", err)
        _, err = self.run_linnet("nothing.csv", status=2)
        self.assertIn("there is no command, file or folder 'nothing.csv'; expected train", err)
        self.assert_error("unknown workload 'nist-cnn'; did you mean 'mnist-cnn'?", "profile",
                          "nist-cnn")
        self.assert_error(f"unknown workload 'zzzzzzzz'; expected {', '.join(WORKLOADS[:-1])} or "
                          f"{WORKLOADS[-1]}", "summary", "--workload", "zzzzzzzz")
        self.assert_error("linnet plan needs a configuration file or a workload, e.g. `linnet "
                          "plan mnist-cnn`", "plan")
        self.assert_error("linnet plan: expected a configuration file or --workload, not both; got 'a.toml' and 'mnist-cnn'", "plan", "a.toml", "--workload", "mnist-cnn")

    def test_data(self):
        self.assert_error("'fashon-mnist' is neither a folder nor a known data set; did you mean "
                          "'fashion-mnist', one of fashion-mnist, digits, mnist, cifar10, cifar100, "
                          "cifar100-coarse, imdb, chest-xray or rosenbrock?", "train", "--workload", "mnist-cnn", "--data",
                          "fashon-mnist")

    def test_a_missing_file_of_a_data_set_is_named(self):
        command.write_mnist(self.folder / "patterns", 20, 10)
        (self.folder / "patterns" / "train-labels-idx1-ubyte").unlink()
        _, err = self.run_linnet("train", "--workload", "mnist-cnn", "--data", "patterns", "--out",
                                 "run", status=2)
        self.assertRegex(err, r"^linnet: error: [^\n]*train-labels-idx1-ubyte[^\n]*\n$")
        self.assertFalse((self.folder / "run").exists())

    def test_a_cut_file_of_a_data_set_is_named(self):
        command.write_mnist(self.folder / "patterns", 20, 10)
        images = self.folder / "patterns" / "train-images-idx3-ubyte"
        images.write_bytes(images.read_bytes()[:-1])
        out, err = self.run_linnet("data", "info", "patterns", status=2)
        self.assertEqual(err, "")
        self.assertRegex(out, r"\n1 bad file\n  [^\n]*train-images-idx3-ubyte' gives [^\n]*\n")

    def test_configurations(self):
        config = self.folder / "config.toml"
        config.write_text(NETWORK % "kernal")
        self.assert_error("config.toml:4:34: unknown key 'kernal' in [network.layers 1]; did you "
                          "mean 'kernel'?", "train", "config.toml")
        config.write_text((NETWORK % "kernel") + "[training]\nepochs = true\n")
        self.assert_error("config.toml:7:10: 'epochs' in [training] must be an integer; got a "
                          "truth value", "plan", "config.toml")
        self.assert_error("cannot read 'none.toml': No such file or directory", "summary",
                          "none.toml")

    def test_data_that_does_not_fit_leaves_no_folder(self):
        command.write_mnist(self.folder / "patterns", 20, 10)
        (self.folder / "config.toml").write_text(
            '[data]\npath = "patterns"\n[network]\ninput = [4, 4, 1]\n'
            'layers = [{type = "flatten"}, {type = "dense", units = 10}]\n')
        _, err = self.run_linnet("train", "config.toml", "--out", "run", status=2)
        self.assertRegex(err, r"^linnet: error: [^\n]*\(4, 4, 1\)[^\n]*\(28, 28, 1\)[^\n]*\n$")
        self.assertFalse((self.folder / "run").exists())

    def test_a_folder_that_cannot_be_made(self):
        command.write_mnist(self.folder / "patterns", 20, 10)
        (self.folder / "file").write_text("x")
        self.assert_error("cannot make the folder 'file/run': Not a directory", "train",
                          "--workload", "mnist-cnn", "--data", "patterns", "--out", "file/run")


if __name__ == "__main__":
    unittest.main()
