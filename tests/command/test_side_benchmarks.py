# SPDX-License-Identifier: Apache-2.0
"""benchmarks/c_file.py, kernels.py, serve_load.py and others, at sizes that measure nothing."""
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import unittest
import xml.etree.ElementTree

import command

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
import memory_tables  # noqa: E402
import rank_tables  # noqa: E402
import result_name  # noqa: E402
import result_page  # noqa: E402
import result_table  # noqa: E402

LATENCY_BENCH = pathlib.Path(command.LINNET).parent / "latency_bench"


class SideBenchmarks(command.CommandTest):
    def measure(self, script, *arguments):
        """Runs a script; returns its result after checks that all results need."""
        process = subprocess.run(
            [sys.executable, "-B", BENCHMARKS / script, "--linnet", command.LINNET, "--out", self.folder,
             *map(str, arguments)], capture_output=True, text=True, timeout=240)
        self.assertEqual(process.returncode, 0, process.stderr)
        page = pathlib.Path(process.stdout.strip())
        self.assertRegex(page.stem, result_name.PATTERN)
        text = page.with_suffix(".json").read_text()
        result = json.loads(text)
        self.assertEqual(page.read_text(), result_table.markdown(result))
        self.assertIn("</table>", result_page.page(result))
        for written in (text, page.read_text()):
            self.assertNotIn(f"{BENCHMARKS.parent}/", written)
            self.assertNotIn("/tmp/", written)
        return result, page.read_text()

    def own(self, file, *arguments):
        return subprocess.run([sys.executable, "-B", BENCHMARKS / "own/run.py", self.folder / file, "--linnet",
                               command.LINNET, *map(str, arguments)], capture_output=True, text=True, timeout=240)

    def test_a_race_of_two_seeds(self):
        command.write_mnist(self.folder / "patterns", train=20)
        for accuracy, status, missed in ((0, 0, []), (1, 1, [1, 2])):
            ran = subprocess.run([sys.executable, "-B", BENCHMARKS / "race.py", command.EXAMPLES / "mnist_99.toml", "--accuracy",
                                  str(accuracy), "--linnet", command.LINNET, "--dataset", self.folder / "patterns", "--seeds", "2",
                                  "--threads", "1", "--out", self.folder / "race"], capture_output=True, text=True, timeout=240)
            self.assertEqual(ran.returncode, status, ran.stderr)
            result = json.loads((self.folder / "race.json").read_text())
            self.assertEqual((result["missed"], [race["seed"] for race in result["races"]]), (missed, [1, 2]))
            epochs = [race["record"]["to_accuracy"]["epochs"] for race in result["races"]]
            self.assertEqual(epochs, [3, 3] if missed else [1, 1])
            page = (self.folder / "race.md").read_text()
            self.assertIn(ran.stdout, page)
            self.assertIn(f"{len(missed)} of 2 seeds missed it", page)
            self.assertRegex(page, rf"\| 2 \| [\d.]+ % \| {epochs[1]} \| [\d.]+ \| [\d.]+ \|")
        ran = subprocess.run([sys.executable, "-B", BENCHMARKS / "race.py", "none.toml", "--accuracy", "1", "--linnet",
                              command.LINNET], capture_output=True, text=True, timeout=60)
        self.assertEqual((ran.returncode, ran.stdout), (1, ""))
        self.assertIn("none.toml", ran.stderr)

    def test_a_network_of_ones_own(self):
        layers = 'layers = [{ type = "dense", units = 3 }, { type = "tanh" }, { type = "dense", units = 2 }]'
        (self.folder / "mine.toml").write_text(f"[network]\ninput = [4]\n{layers}\n[training]\nbatch = 8\n")
        peer = self.folder / "peer"  # stands for a Python with PyTorch
        peer.write_text('#!/bin/sh\ntest -s "$4/data.json" || exit 1\n'
                        'echo \'{"train": 10, "infer": 20, "parameters": 23, "torch": "9.9"}\'\n')
        peer.chmod(0o755)
        ran = self.own("mine.toml", "--torch", peer, "--repetitions", 2)
        self.assertEqual(ran.returncode, 0, ran.stderr)
        self.assertIn("mine, batch 8, 23 parameters; PyTorch 9.9, 23 parameters; repetitions: 2\n", ran.stdout)
        self.assertRegex(ran.stdout, r"(?m)^\| training \| \d\S+ \(\S+ to \S+\) \| 10 \(10 to 10\) \| \d\S+ × \(")
        self.assertRegex(ran.stdout, r"(?m)^\| predicting \| .* \| 20 \(")
        ran = self.own("mine.toml", "--torch", "false", "--repetitions", 1)
        self.assertEqual(ran.returncode, 0)
        self.assertRegex(ran.stdout, r"(?m)^\| training \| \d\S+ \(\S+ to \S+\) \| – \| – \|$")
        for text, words in ((f"[augment]\nflip = true\n[network]\ninput = [4]\n{layers}\n",
                             "[augment] is not compared with PyTorch here"),
                            ("[training]\nepochs = 1\n", "has no layers in [network]")):
            (self.folder / "other.toml").write_text(text)
            ran = self.own("other.toml", "--torch", peer)
            self.assertEqual((ran.returncode, ran.stdout), (2, ""))
            self.assertIn(words, ran.stderr)

    @unittest.skipUnless(LATENCY_BENCH.exists(), "latency_bench is not built")
    @unittest.skipUnless(shutil.which("gcc"), "there is no gcc")
    def test_c_file(self):
        result, text = self.measure("c_file.py", "--repetitions", 1, "--calls", 10, "--python", "none")
        self.assertEqual([each["name"] for each in result["networks"]], ["mlp", "mnist-cnn", "gru"])
        for network in result["networks"]:
            engines = network["engines"]
            self.assertEqual(list(engines), ["c", "c-int8", "c-quantized", "c-native", "c-int8-native",
                                             "c-quantized-native", "linnet"])
            for name, engine in engines.items():
                self.assertIsNone(engine["failed"])
                self.assertGreater(engine["median_us"]["median"], 0)
                rounds = "int8" in name or "quantized" in name
                self.assertLess(engine["difference"], 0.1 if rounds else 1e-5, name)
            sizes = [engines[name]["size"]["text"] + engines[name]["size"]["data"]
                     for name in ("c", "c-int8", "c-quantized")]
            self.assertGreater(sizes[0], 4 * network["parameters"])
            self.assertLess(sizes[1], sizes[0] / 2)
            self.assertLess(sizes[2], sizes[0] if network["name"] == "gru" else sizes[0] / 2)
        self.assertIn("| C file, int8, `-O3 -march=native` |", text)

    def test_kernels(self):
        result, text = self.measure("kernels.py", "mnist-cnn", "rosenbrock-mlp:infer", "--batch", 16, "--repetitions",
                                    2, "--steps", 1)
        self.assertEqual([(step["workload"], step["mode"], step["batch"]) for step in result["steps"]],
                         [("mnist-cnn", "train", 16), ("rosenbrock-mlp", "infer", 16)])
        self.assertTrue(all(len(kernel["seconds"]) == 2 for kernel in result["kernels"]))
        shares = [kernel["share"] for kernel in result["kernels"] if kernel["mode"] == "train"]
        self.assertAlmostEqual(sum(shares), 1, delta=0.1)
        self.assertGreater(result["roof"]["flops_ceiling"], 1e9)
        self.assertIn("## mnist-cnn, train, batch 16", text)
        self.assertIn("| optimizer_update |", text)
        self.assertIn("(16, 1000), (1000, 1000) -> (16, 1000)", text)
        check = subprocess.run([sys.executable, "-B", BENCHMARKS / "check_regression.py",
                                *2 * list(self.folder.glob("*kernels-2-workloads.json"))],
                               capture_output=True, text=True, timeout=60)
        self.assertEqual(check.returncode, 0, check.stderr)
        self.assertIn("0 changes, 0 of them regressions", check.stdout)

    @unittest.skipUnless(shutil.which("wrk"), "there is no wrk")
    def test_serve_load(self):
        result, text = self.measure("serve_load.py", "--repetitions", 1, "--seconds", 1,
                                    "--connections", "1,4")
        self.assertEqual([(each["body"], each["batch"], each["connections"]) for each in result["loads"]],
                         [(body, batch, count) for body in ("json", "png") for batch in (1, 32)
                          for count in (1, 4)])
        for each in result["loads"]:
            run, = each["runs"]
            self.assertEqual((each["failed"], run["refused"], run["socket_errors"]), (None, 0, 0))
            self.assertGreater(run["requests"], 0)
            self.assertLessEqual(run["p50_us"], run["p99_us"])
            if each["batch"] == 1 or each["connections"] == 1:
                self.assertEqual(run["samples_per_batch"], 1)
        self.assertTrue(re.search(r"\| PNG, \d+ bytes \| up to 32 \| 4 \| [\d,.]+ \(", text), text)

    def test_serve_attacks(self):
        result, text = self.measure("serve_attacks.py", "--seconds", 0.3, "--attacks", "deep,smuggled")
        self.assertEqual([row["attacks"] for row in result["rows"]],
                         [[], ["deep"], ["smuggled"], ["deep", "smuggled"]])
        for row in result["rows"]:
            self.assertEqual((row["faults"], row["first_fault"]), (0, None))
            self.assertGreater(row["answers"], 0)
            self.assertLessEqual(row["p50_s"], row["most_s"])
        self.assertLess(result["end_s"], 10)
        self.assertTrue(re.search(r"\| all at once \| [\d,]+ \| 0 \|", text), text)

    def test_tables_of_ranks(self):
        def row(ranks, rate, **rates):
            return {"workload": "mnist-cnn", "batch": 128, "ranks": ranks, "threads": 1, "rate": rate, "engines": rates}

        both = {"linnet": [90, 100, 110], "torch-ddp": [20, 25, 30]}
        # 2 latencies of 1 ms in each of 16 pieces, and 1 s for 64 MiB.
        sums = {"carrier": "gloo", "rate": None, "floats": [256, 1 << 24], "seconds": [[0.001] * 3, [1.032] * 3]}
        here, there, model = rank_tables.tables({
            "rows": [row(2, None, **both), row(2, "1gbit", **both, **{"linnet-afterwards": [50, 60, 70]})],
            "sums": [sums]})
        self.assertEqual(here.rows, [("mnist-cnn", 128, "2 x 1", "100 (90 to 110)", "–", "–", "25 (20 to 30)", "4.00")])
        self.assertEqual(there.rows[0][3:7], ("–", "100 (90 to 110)", "–", "60 (50 to 70)"))
        self.assertEqual(model.rows[0][:4], ("gloo", "this machine", "1000", "0.07"))
        size, byte = 4 * 23528522, 1 / (1 << 26)
        self.assertEqual(model.rows[0][4], f"{1e3 * (23 * 2 * 0.001 + size * byte):,.0f}")

    def test_memory(self):
        result, text = self.measure("memory.py", "--parts", "planned", "--workloads", "mnist-cnn", "--planned", "40M")
        self.assertEqual([(each["workload"], each["mode"]) for each in result["planned"]],
                         [("mnist-cnn", "train"), ("mnist-cnn", "infer")])
        for each in result["planned"]:
            self.assertLessEqual(each["planned_bytes"], 40 << 20)
        self.assertIn("| mnist-cnn | train |", text)

    def test_memory_tables(self):
        def engine(batch, peak, *steps):
            return {"batch": batch, "peak_bytes": peak, "all_data": False, "failed": None, "step_seconds": list(steps)}
        both = {"linnet": engine(300, 1 << 20, 0.001, 0.002, 0.003), "torch": engine(100, 1 << 24, 0.004)}
        largest, by_batch = memory_tables.tables({
            "largest": {"loaded": {"linnet": 1 << 24, "torch": 1 << 28},
                        "rows": [{"workload": "mnist-cnn", "mode": "train", "limit": 1 << 31, "engines": both}]},
            "decades": {"workload": "mnist-cnn", "batches": [{"batch": 16, "engines": both},
                                                            {"batch": 1600, "engines": both}]}})
        self.assertEqual(largest.rows, [("mnist-cnn", "train", "2 GiB", "300", "100", "3.00")])
        self.assertEqual(by_batch.rows[0], ("16", "1.0", "2", "16.0", "4"))
        drawn = memory_tables.drawing({"workload": "mnist-cnn", "batches": [{"batch": 16, "engines": both},
                                                                          {"batch": 1600, "engines": both}]})
        self.assertEqual(xml.etree.ElementTree.fromstring(drawn).tag, "{http://www.w3.org/2000/svg}svg")
        self.assertEqual(drawn.count("<polyline"), 4)

    def test_what_is_missing_is_said(self):
        linnet = self.folder / "linnet"
        for script, program in (("c_file.py", "linnet;"), ("serve_load.py", "linnet;"),
                                ("c_file.py", "latency_bench"), ("serve_load.py", "wrk")):
            if program != "linnet;":
                linnet.touch()
            process = subprocess.run(
                [sys.executable, "-B", BENCHMARKS / script, "--linnet", linnet],
                capture_output=True, text=True, timeout=60, env={**os.environ, "PATH": "/nowhere"})
            self.assertEqual(process.returncode, 2)
            self.assertIn("error: there is no ", process.stderr.splitlines()[-1])
            self.assertIn(program, process.stderr.splitlines()[-1])


if __name__ == "__main__":
    unittest.main()
