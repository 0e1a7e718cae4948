# SPDX-License-Identifier: Apache-2.0
"""benchmarks/run.py with Linnet and peers that compute nothing."""
import json
import os
import pathlib
import subprocess
import sys
import unittest
import unittest.mock

import command

BENCHMARKS = pathlib.Path(__file__).resolve().parents[2] / "benchmarks"
sys.path.insert(0, str(BENCHMARKS))
import engines  # noqa: E402
import figures  # noqa: E402
import machine  # noqa: E402
import result_name  # noqa: E402
import result_page  # noqa: E402
import result_table  # noqa: E402


class Suite(command.CommandTest):
    def suite(self, *arguments, status=0):
        process = subprocess.run(
            [sys.executable, "-B", BENCHMARKS / "run.py", "--linnet", command.LINNET, "--out",
             self.folder, *map(str, arguments)], capture_output=True, text=True, timeout=240)
        self.assertEqual(process.returncode, status, process.stderr)
        return process.stdout.strip(), process.stderr

    def test_linnet_beside_peers(self):
        out, err = self.suite("mnist-cnn", "--quick", "--threads", 1, "--data", "mnist=digits",
                              "--peers", "fake,fake-flat,fake-broken")
        page = pathlib.Path(out)
        self.assertEqual(page.parent, self.folder)
        self.assertRegex(page.stem, result_name.PATTERN)
        result = json.loads(page.with_suffix(".json").read_text())
        self.assertEqual((result["format"], result["settings"]["protocol"]), (1, "quick"))
        self.assertGreater(result["machine"]["processors"], 0)
        self.assertIn("busy", result["load"])
        self.assertIn(result["instruction_sets"]["used"], page.stem)
        self.assertRegex(result["versions"]["linnet"]["compiler"], r"^(GCC|Clang) \d")
        row, = result["workloads"]
        self.assertEqual((row["name"], row["batch"], row["samples"], row["data"], row["synthetic"],
                          row["failed"]), ("mnist-cnn", 128, 1280, "digits", False, None))

        ours, fake = row["engines"]["linnet"], row["engines"]["fake"]
        for engine in (ours, fake):
            self.assertIsNone(engine["failed"])
            self.assertEqual(len(engine["runs"]), 2)
            self.assertEqual(engine["runs"][0]["parameters"], 31530)
            self.assertEqual(len(engine["runs"][0]["losses"]), 3)
            self.assertGreater(engine["startup_s"]["median"], 0)
            self.assertGreater(engine["peak_bytes"]["median"], 0)
        self.assertNotEqual(ours["runs"][0]["loss"], ours["runs"][1]["loss"], "other seeds")
        order = [line.split()[2] for line in err.splitlines()
                 if line.startswith("mnist-cnn@128/1 ")]
        self.assertEqual(order, ["linnet:", "fake:", "fake-flat:", "fake-broken:", "linnet:",
                                 "fake:"], "in turn, and what failed is not run again")

        ratio = row["ratios"]["fake"]
        speeds = [[run["samples_per_second"] for run in engine["runs"]] for engine in (ours, fake)]
        self.assertEqual(ratio["each"], [a / b for a, b in zip(*speeds)])
        self.assertTrue(ratio["low"] <= ratio["median"] <= ratio["high"])
        self.assertEqual(row["engines"]["fake-flat"]["failed"],
                         "the loss does not fall: 2.3 to 2.3")
        self.assertEqual(row["engines"]["fake-broken"]["failed"],
                         "exit status 1: this peer is broken, as it was asked to be")
        self.assertEqual((row["ratios"]["fake-flat"], row["ratios"]["fake-broken"]), (None, None))

        table = page.read_text()
        self.assertIn("| `mnist-cnn`, 1 thread, digits, 1280 samples, batch 128, 1 + 2 epochs | "
                      "linnet |", table)
        self.assertIn("| failed: the loss does not fall: 2.3 to 2.3 |", table)
        self.assertIn("failed: the loss does not fall: 2.3 to 2.3",
                      result_page.page(result))

        self.assertIn("benchmarks/peers/fake/mnist_cnn.py", fake["command"])
        for ending in (".json", ".md"):
            self.assertNotIn(f"{BENCHMARKS.parent}/", page.with_suffix(ending).read_text(), ending)

        again, _ = self.suite("mnist-cnn", "--quick", "--threads", 1, "--data", "mnist=digits",
                              "--peers", "none", "--repetitions", 1)
        self.assertNotEqual(again, out, "no result is written over")

    def test_inference_and_a_peer_without_the_workload(self):
        out, _ = self.suite("rosenbrock-mlp:infer", "--quick", "--threads", 1, "--peers", "fake",
                            "--repetitions", 1)
        row, = json.loads(pathlib.Path(out).with_suffix(".json").read_text())["workloads"]
        self.assertEqual((row["mode"], row["engines"]["linnet"]["failed"]), ("infer", None))
        self.assertEqual(row["engines"]["fake"]["failed"],
                         "there is no benchmarks/peers/fake/rosenbrock_mlp.py")

    def test_flux_in_a_project_of_the_user(self):
        """By a julia that checks its arguments and hands them to the peer that computes nothing."""
        bin_folder, project = self.folder / "bin", self.folder / "project"
        for each in (bin_folder, project):
            each.mkdir()
        julia = bin_folder / "julia"
        julia.write_text(f"""#!{sys.executable}
import os, sys
if sys.argv[1:5] != ["--startup-file=no", "--project={project}", "--threads=1",
                     "{BENCHMARKS / 'peers/flux/mnist_cnn.jl'}"]:
    sys.exit(f"julia got {{sys.argv}}")
fake = "{BENCHMARKS / 'peers/fake/mnist_cnn.py'}"
os.execv(sys.executable, [sys.executable, fake, *sys.argv[5:]])
""")

        def failed(path):
            with unittest.mock.patch.dict(os.environ, PATH=path):
                out, _ = self.suite("mnist-cnn", "--quick", "--threads", 1, "--data",
                                    "mnist=digits", "--peers", "none", "--repetitions", 1,
                                    "--flux", project)
            row, = json.loads(pathlib.Path(out).with_suffix(".json").read_text())["workloads"]
            return row["engines"]["flux"]["failed"]
        bare, with_julia = "/nowhere", f"{bin_folder}:{os.environ['PATH']}"
        self.assertEqual(failed(bare), "$FLUX is not a Julia project: it has no Project.toml")
        (project / "Project.toml").touch()
        self.assertEqual(failed(bare), "there is no julia on the PATH")
        julia.chmod(0o755)
        self.assertIsNone(failed(with_julia))

    def test_batches_and_threads(self):
        out, _ = self.suite("rosenbrock-mlp:infer", "--quick", "--batches", "1,3000", "--threads",
                            "1,2", "--peers", "none", "--repetitions", 1)
        result = json.loads(pathlib.Path(out).with_suffix(".json").read_text())
        self.assertEqual([(row["batch"], row["samples"], row["threads"],
                           row["engines"]["linnet"]["runs"][0]["threads"], row["failed"])
                          for row in result["workloads"]],
                         [(1, 1000, 1, 1, None), (1, 1000, 2, 2, None),
                          (3000, 3000, 1, 1, None), (3000, 3000, 2, 2, None)])
        self.assertGreater(result["installed_bytes"]["linnet"], 1 << 20)
        table = pathlib.Path(out).read_text()
        self.assertIn("## Latency at batch 1", table)
        self.assertIn("| rosenbrock-mlp:infer, 2 threads | linnet | ", table)
        self.assertIn("## Installed size", table)
        page = result_page.page(result)
        for title in ("samples/s by batch, threads 2", "samples/s by threads, batch 3000",
                      "Latency at batch 1", "Installed size"):
            self.assertIn(title, page)

    def test_beside_a_busy_neighbour(self):
        out, err = self.suite("mnist-cnn", "--quick", "--threads", 1, "--data", "mnist=digits",
                              "--peers", "fake,fake-broken", "--repetitions", 1, "--neighbour")
        order = [line.split("1/1 ")[1].split(":")[0] for line in err.splitlines()
                 if line.startswith("mnist-cnn@128/1 ")]
        self.assertEqual(order, ["linnet", "linnet, disturbed", "fake", "fake, disturbed",
                                 "fake-broken"], "in turn, and what failed is not run again")
        result = json.loads(pathlib.Path(out).with_suffix(".json").read_text())
        row, = result["workloads"]
        found = row["neighbour"]["linnet"]
        self.assertEqual(found["kept"]["each"],
                         [found["runs"][0]["samples_per_second"] /
                          row["engines"]["linnet"]["runs"][0]["samples_per_second"]])
        self.assertIsNone(row["neighbour"]["fake-broken"]["kept"])
        for text in (pathlib.Path(out).read_text(), result_page.page(result)):
            self.assertIn("Beside a busy neighbour", text)

    def test_resident_and_streamed_in_turn(self):
        arguments = ("mnist-cnn", "--quick", "--threads", 1, "--data", "mnist=digits", "--peers", "fake",
                     "--repetitions", 2, "--streamed")
        _, err = self.suite(*arguments, status=2)
        self.assertIn("--streamed is for GPUs", err)
        with unittest.mock.patch.dict(os.environ, LINNET_CUDA_LIBRARY=os.environ["LINNET_SIMULATED_PLUGIN"]):
            out, err = self.suite(*arguments, "--device", "cuda", "--steps-per-epoch", 10,
                                  "--epochs", 1)
        order = [line.split("/2 ")[1].split(":")[0] for line in err.splitlines()
                 if line.startswith("mnist-cnn@128/1 ")]
        self.assertEqual(order, ["linnet", "linnet, streamed", "fake"] * 2)
        row, = json.loads(pathlib.Path(out).with_suffix(".json").read_text())["workloads"]
        ours = row["engines"]["linnet"]
        self.assertEqual(list(row["streamed"]), ["linnet"])
        streamed = row["streamed"]["linnet"]["runs"]
        self.assertEqual([run["loss"] for run in streamed], [run["loss"] for run in ours["runs"]],
                         "the same bits")
        self.assertEqual([run["streamed"] for run in (*ours["runs"], *streamed)],
                         [False, False, True, True])
        self.assertRegex(pathlib.Path(out).read_text(), r"(?s)## Resident against streamed\n.*"
                         r"\| samples/s resident \| samples/s streamed \| kept \|\n.*\(2 pairs\)")

    def test_footprint_and_largest_batch(self):
        out, _ = self.suite("mnist-cnn", "--quick", "--threads", 1, "--data", "mnist=digits",
                            "--peers", "fake,fake-broken", "--repetitions", 1, "--footprint",
                            "--memory-limit", "60M")
        result = json.loads(pathlib.Path(out).with_suffix(".json").read_text())
        row, = result["workloads"]
        self.assertEqual(list(row["first_step"]), ["linnet", "fake"])
        for run, in row["first_step"].values():
            self.assertIsNone(run["failed"])
            self.assertGreater(run["seconds"], 0)
        for found in row["largest_batch"].values():
            self.assertGreaterEqual(found["batch"], 128)
        self.assertGreater(result["footprint"]["own"]["linnet"], 1 << 20)
        table = pathlib.Path(out).read_text()
        for title in ("Memory and start-up beside each peer", "To the first step",
                      "Largest batch under a memory limit", "Linnet on disk"):
            self.assertIn(f"## {title}\n", table)

    def test_linnet_failing_is_a_failure(self):
        out, _ = self.suite("mnist-cnn", "--quick", "--peers", "none", "--data", "mnist=nothing",
                            status=1)
        row, = json.loads(pathlib.Path(out).with_suffix(".json").read_text())["workloads"]
        self.assertIn("'nothing' is neither a folder nor a known data set", row["failed"])

    def test_unknown_names(self):
        for arguments, sentence in ((("mnist",), "unknown workload 'mnist'"),
                                    (("--peers", "torhc"), "unknown peer 'torhc'"),
                                    (("--data", "minst=x"), "--data: unknown name 'minst'"),
                                    (("--python", "/bin/python"),
                                     "--python: unknown framework '/bin/python'"),
                                    (("--batches", "0"), "expected numbers from 1 on"),
                                    (("--memory-limit", "2X"), "invalid memory value: '2X'")):
            _, err = self.suite(*arguments, status=2)
            self.assertIn(sentence, err)


class Statistics(unittest.TestCase):
    def test_interval_of_a_median(self):
        self.assertEqual(figures.interval([2.0] * 5), (2.0, 2.0))
        low, high = figures.interval([1.0, 1.1, 1.2, 1.3, 9.0])
        self.assertEqual(low, 1.0)
        self.assertEqual(high, 9.0)

    def test_ratios_pair_repetitions_and_leave_out_failures(self):
        def runs(*speeds):
            return [speed and {"samples_per_second": speed, "failed": None} for speed in speeds]
        ours, theirs = runs(10, 30, 50, 70), runs(10, 10, None, 10)
        ours[3]["failed"] = "the loss does not fall"
        self.assertEqual(figures.ratio(ours, theirs)["each"], [1.0, 3.0])
        self.assertIsNone(figures.ratio(ours[3:], theirs[3:]))

    def test_losses_that_differ(self):
        def losses(median, width):
            return {"median": median, "min": median - width / 2, "max": median + width / 2}
        self.assertFalse(figures.losses_differ(losses(1.0, 0), losses(1.05, 0)))
        self.assertTrue(figures.losses_differ(losses(1.0, 0), losses(1.3, 0.1)))
        self.assertFalse(figures.losses_differ(losses(1.0, 0.4), losses(1.3, 0)))
        self.assertFalse(figures.losses_differ(None, losses(1.0, 0)))

    def test_a_busy_machine_is_said_to_be(self):
        load = {"at_start": 3.0, "processors": 2, "busy": True,
                "others_processors": {"median": 0.8, "min": 0.5, "max": 1.1}}
        self.assertIn("busy", machine.load_words(load))
        self.assertNotIn("busy", machine.load_words({**load, "busy": False}))

    def test_startup_leaves_out_data_and_epochs(self):
        record = {"timed_seconds": [1.0, 2.0, 4.0], "warmup": 2, "data_seconds": 0.5}
        self.assertEqual(engines.startup_of(record, 13.0), 1.5)

    def test_work_that_was_not_done_is_a_failure(self):
        class Job:
            samples, mode = 100, "train"
        record = {"samples": 100, "losses": [2.0, 1.0]}
        self.assertIsNone(engines.failure_of(record, Job))
        self.assertIn("instead of 100", engines.failure_of({**record, "samples": 96}, Job))
        for losses in ([1.0, 1.0], [1.0, None]):
            self.assertIn("does not fall", engines.failure_of({**record, "losses": losses}, Job))

    def test_a_program_that_is_not_there_is_a_failure(self):
        run, record = engines.run_process(["/nowhere/python", "-B"], {}, 5)
        self.assertEqual((run["failed"], record), (
            "exit status 127: cannot start /nowhere/python: No such file or directory", None))

    def test_tuning_does_not_leak(self):
        with unittest.mock.patch.dict(os.environ, OMP_NUM_THREADS="3", LD_PRELOAD=""):
            plain = engines.plain_environment()
        self.assertEqual({"OMP_NUM_THREADS", "LD_PRELOAD"} & set(plain), set())
        self.assertEqual(engines.tuned_environment(2)["OMP_NUM_THREADS"], "2")


if __name__ == "__main__":
    unittest.main()
