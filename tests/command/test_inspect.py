# SPDX-License-Identifier: Apache-2.0
import gzip
import pathlib
import re
import shlex
import shutil
import subprocess
import unittest

import command


class Inspect(command.CommandTest):
    def test_summary_of_a_workload(self):
        summary = self.run_json("summary", "--workload", "mnist-cnn", "--batch", 64)
        self.assertEqual(summary["parameters"], 31530)
        self.assertEqual(summary["batch"], 64)
        self.assertEqual(sum(layer["parameters"] for layer in summary["layers"]), 31530)
        self.assertEqual(summary["layers"][-1]["output"], [10])
        # Two for each multiplication: 28*28*16*9 in the convolution, 3136*10 in the dense layer.
        self.assertGreaterEqual(summary["flops_per_sample"], 2 * (28 * 28 * 16 * 9 + 3136 * 10))
        larger = self.run_json("summary", "--workload", "mnist-cnn", "--batch", 1024)
        self.assertGreater(larger["training"]["total"], summary["training"]["total"])
        self.assertGreater(summary["training"]["total"], summary["prediction"]["total"])

    def test_summary_of_a_model_and_of_a_configuration_agree(self):
        _, folder = self.train()
        workload = self.run_json("summary", "--workload", "mnist-cnn", "--batch", 8)
        for file in (folder / "model.safetensors", command.EXAMPLES / "mnist.toml"):
            summary = self.run_json("summary", file, "--batch", 8)
            self.assertEqual({**summary, "name": ""}, {**workload, "name": ""})

    def test_summary_as_text(self):
        out, _ = self.run_linnet("summary", "--workload", "mnist-cnn")
        self.assertIn("31530 parameters", out)
        self.assertIn("memory at batch 64", out)

    def test_summary_shows_types_settings_and_last_shapes(self):
        (self.folder / "net.toml").write_text(
            '[network]\ninput = [8, 4]\nlayers = [{type = "conv1d", filters = 6}, '
            '{type = "max_pool1d", name = "pool"}, {type = "flatten"}]\n')
        out, _ = self.run_linnet("summary", "net.toml")
        rows = [line.split() for line in out.splitlines()[:4]]
        self.assertEqual(rows[0], ["layer", "type", "output", "parameters", "FLOPs/sample",
                                   "settings"])
        self.assertEqual(rows[1][:4], ["conv1d_1", "conv1d", "(6,", "6)"])
        self.assertEqual(rows[1][-3:], ["filters", "=", "6"])
        self.assertEqual(rows[2][:4], ["pool", "max_pool1d", "(3,", "6)"])

    def test_layers(self):
        out, _ = self.run_linnet("layers")
        self.assertIn("max_pool1d", out)
        self.assertIn("Takes the largest value of each window of steps, feature by feature.", out)
        for name in ("conv2d", "Conv2d"):
            out, _ = self.run_linnet("layers", name)
            self.assertIn("(N, H, W, C) → (N, H', W', filters)", out)
            self.assertIn("filters: integer; required\n      channels of the output; at least 1", out)
            self.assertIn("kernel: integer or [height, width]; default 3", out)
            self.assertIn("Conv2d{.filters = 16, .padding = Padding2d::same()}", out)
            self.assertIn('{ type = "conv2d", filters = 16, padding = "same" }', out)
        self.assert_error("there is no layer 'conv2'; did you mean 'conv2d'?", "layers", "conv2")

    def test_plan(self):
        arguments = ("plan", "--workload", "mnist-cnn", "--batch", 16)
        graph, _ = self.run_linnet(*arguments, "--dump", "graph")
        plan, _ = self.run_linnet(*arguments)
        self.assertIn("conv2d", graph)
        self.assertIn("optimizer", graph)
        self.assertNotEqual(graph, plan)
        self.assertTrue(plan.endswith("\n"))
        for arguments in ((*arguments, "--mode", "infer"),
                          ("plan", "--workload", "resnet50-features", "--batch", 1)):
            prediction, _ = self.run_linnet(*arguments, "--dump", "graph")
            self.assertIn("conv2d", prediction)
            self.assertNotIn("optimizer", prediction)
        self.assert_error("resnet50-features only computes features and cannot be trained; use --mode infer",
                          "plan", "--workload", "resnet50-features", "--mode", "train")

    def test_devices(self):
        devices = self.run_json("devices")
        self.assertGreaterEqual(devices["cpu"]["cores"], 1)
        self.assertGreater(devices["cpu"]["memory_bytes"], 1 << 20)
        cuda = devices["cuda"]  # there or not: test_cuda.py
        self.assertEqual(cuda["usable"], cuda["unusable"] is None)
        out, _ = self.run_linnet("devices")
        self.assertIn(devices["cpu"]["name"], out)

    def test_data_info(self):
        command.write_mnist(self.folder / "patterns", train=30, test=20)
        info = self.run_json("data", "info", "patterns")
        self.assertEqual((info["train"]["samples"], info["test"]["samples"]), (30, 20))
        self.assertEqual(info["train"]["sample_shape"], [28, 28, 1])
        self.assertEqual(info["train"]["samples_by_class"], [3] * 10)
        out, _ = self.run_linnet("data", "info", "patterns")
        self.assertIn("30 samples of (28, 28, 1) u8", out)

    def test_completion_scripts_parse(self):
        for shell in ("bash", "zsh", "fish"):
            out, _ = self.run_linnet("completion", shell)
            for word in ("train", "predict", "precision", "bf16"):
                self.assertIn(word, out)
            if shutil.which(shell):
                subprocess.run([shell, "-n"], input=out, text=True, check=True)

    def test_bash_completes(self):
        script, _ = self.run_linnet("completion", "bash")
        (self.folder / "script").write_text(script)
        for words, expected in ((["linnet", "tr"], "train"),
                                (["linnet", "train", "--devi"], "--device"),
                                (["linnet", "train", "--device", "cu"], "cuda")):
            out = subprocess.run(
                ["bash", "-c", f"source {self.folder}/script; COMP_WORDS=({' '.join(words)}); "
                 f"COMP_CWORD={len(words) - 1}; _linnet; echo \"${{COMPREPLY[@]}}\""],
                capture_output=True, text=True, check=True).stdout
            self.assertEqual(out.strip(), expected)

    def complete(self, *words):
        """The answers of the bash completion for the last word."""
        script, _ = self.run_linnet("completion", "bash")
        (self.folder / "script").write_text(script)
        quoted = " ".join(shlex.quote(str(word)) for word in words)
        return subprocess.run(
            ["bash", "-c", f"source ./script; COMP_WORDS=({quoted}); COMP_CWORD={len(words) - 1}; _linnet; "
             "printf '%s\\n' \"${COMPREPLY[@]}\""], cwd=self.folder, capture_output=True, text=True,
            check=True).stdout.splitlines()

    def test_bash_completes_columns_of_the_table(self):
        (self.folder / "my wines.csv").write_text('"fixed acidity";pH;"$(touch ran)";type\n1;2;3;a\n')
        with gzip.open(self.folder / "t.tsv.gz", "wt") as file:
            file.write("day\tpH\n1\t2\n")
        train = ("linnet", "train", "my wines.csv", "--target")
        self.assertEqual(self.complete(*train, ""), ["fixed acidity", "pH", "$(touch ran)", "type"])
        self.assertEqual(self.complete(*train, "p"), ["pH"])
        self.assertFalse((self.folder / "ran").exists())
        self.assertEqual(self.complete("linnet", "importance", "run", "t.tsv.gz", "--column", ""), ["day", "pH"])
        self.assertEqual(self.complete("linnet", "train", "--target", ""), [""])  # no table yet

    def test_bash_completes_paths(self):
        (self.folder / "my wines.csv").write_text("a\n")
        self.assertEqual(self.complete("linnet", "predict", "my"), ["my wines.csv"])
        self.assertEqual(self.complete("linnet", "train", "my wines.csv", "--out", "my"), ["my wines.csv"])
        self.assertEqual(self.complete("linnet", "my"), ["my wines.csv"])

    def test_separators_are_completed_and_readable(self):
        self.assertEqual(self.complete("linnet", "train", "--decimal", ""), [".", ","])
        out, _ = self.run_linnet("train", "--help")
        self.assertIn("--decimal {. ,}", out)
        self.assertIn("--target COLUMN", out)

    def test_help_has_an_example_everywhere(self):
        for words in ([], ["train"], ["predict"], ["summary"], ["plan"], ["devices"], ["data"],
                      ["data", "info"], ["completion"]):
            out, err = self.run_linnet(*words, "--help")
            self.assertIn(f"Usage: linnet {' '.join(words)} " if words else "Linnet trains", out)
            self.assertIn("Example: linnet", out, words)
            self.assertEqual(err, "")

    def test_help_has_groups_and_fits(self):
        out, _ = self.run_linnet("--help")
        names = re.findall(r"(?m)^  ([a-z-]+)  ", out)
        pages = {name: self.run_linnet(name, "--help")[0] for name in {*names} - {"linnet"}}
        pages |= {f"data {name}": self.run_linnet("data", name, "--help")[0] for name in ("info", "convert")}
        for name, page in pages.items():
            self.assertEqual([line for line in page.splitlines() if len(line) > 100], [], name)
            self.assertNotRegex(page, "(?i)subcommand|TEXT:|FLOAT|Excludes", name)
            options = len(re.findall(r"(?m)^  (?:-\w, )?--", page)) - 1  # without --help
            groups = re.findall(r"(?m)^(\w.*):$", page)
            if options > 10:
                first = page.split("\n\nMost used options:\n")[1].split("\n\n")[0]
                self.assertEqual(len(re.findall(r"(?m)^  (?:-\w, )?--", first)), 5, name)
            self.assertTrue(options <= 10 or len({*groups} - {"Arguments", "Help"}) > 1, f"{name}: {groups}")
        groups = re.findall(r"(?m)^(\w.*):$", pages["train"])
        self.assertEqual(groups, ["Arguments", "Most used options", "Data and run", "Training", "Images", "Device", "Tables",
                                  "Language models", "Series", "Trained models", "Several processes", "Help"])
        first = pages["train"].split("Most used options:\n")[1].split("\n\n")[0]
        self.assertEqual(re.findall(r"(?m)^  (--\S+)", first), ["--epochs", "--batch", "--lr", "--target", "--out"])
        self.assertIn("\n  -h, --help", pages["train"])
        self.assertIn("\nCommands:\n  info ", pages["data"])
        self.assertIn("Usage: linnet data [OPTIONS] COMMAND\n", pages["data"])
        self.assertIn("  --port N                  Port to listen on; 0: any that is free; 0 to 65535 (default: 8080)\n",
                      pages["serve"])

    def test_what_is_missing_is_described(self):
        self.assert_error("`linnet data` needs a command: info or convert", "data")
        self.assert_error("`linnet serve` needs MODEL: Run folders, or trained models (.safetensors), each perhaps as "
                          "NAME=MODEL; one that is replaced is loaded again", "serve")
        self.assert_error("`linnet evaluate` needs --data: A folder of data with targets, or a name; for models of a "
                          "table: a table with the target", "evaluate", "run")

    def test_version(self):
        out, _ = self.run_linnet("--version")
        self.assertRegex(out, r"^linnet \d+\.\d+\.\d+ \([0-9a-f]+|unknown\)\n$")

    def test_a_full_disk_is_one_sentence(self):
        if not pathlib.Path("/dev/full").exists():
            self.skipTest("no /dev/full")
        for words in (["devices"], ["--help"], ["--version"], ["plan", "--workload", "mnist-cnn"]):
            with open("/dev/full", "w") as full:
                self.assert_error("cannot write to standard output: No space left on device",
                                  *words, capture_output=False, stdout=full, stderr=-1)


if __name__ == "__main__":
    unittest.main()
