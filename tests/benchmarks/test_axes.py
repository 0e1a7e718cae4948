# SPDX-License-Identifier: Apache-2.0
"""Steps an epoch, epochs and accuracy as options, and what benchmarks/scaling.py and accuracy.py
make of such rows."""
import contextlib
import io
import pathlib
import sys
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import accuracy  # noqa: E402
import figures  # noqa: E402
import jobs  # noqa: E402
import options  # noqa: E402
import result_page  # noqa: E402
import scaling  # noqa: E402
import side_tables  # noqa: E402


def parsed(*words):
    with unittest.mock.patch.object(sys, "argv", ["run.py", *words]):
        return options.arguments()


def runs(speed, **other):
    return [{"failed": None, "samples_per_second": speed, **other}] * 3


def row(batch=8000, steps=0, threads=0, **engines):
    return {"name": "rosenbrock-mlp", "mode": "train", "batch": batch, "steps": steps,
            "threads": threads, "failed": None,
            "engines": {name: figures.summary(each) for name, each in engines.items()}}


class Options(unittest.TestCase):
    def refused(self, *words):
        err = io.StringIO()
        with contextlib.redirect_stderr(err), self.assertRaises(SystemExit):
            parsed(*words)
        return err.getvalue()

    def test_batches_that_make_steps(self):
        found = [(job.batch, job.samples, job.steps) for job in jobs.jobs_of(
            parsed("rosenbrock-mlp", "--steps-per-epoch", "1,4,12,50"))]
        self.assertEqual(found, [(32000, 32000, 1), (8000, 32000, 4), (2667, 32000, 12),
                                 (640, 32000, 50)])
        found = [(job.batch, job.steps) for job in jobs.jobs_of(
            parsed("densenet121-xray", "--quick", "--steps-per-epoch", "5,6,8"))]
        self.assertEqual(found, [(2, 4), (1, 8)], "5 and 6 steps of 8 samples there are not")
        self.assertEqual([job.steps for job in jobs.jobs_of(parsed("flux-cnn"))], [0])

    def test_what_is_refused(self):
        for words, why in (
                (("flux-cnn", "--full", "--steps-per-epoch", "2"), "no fixed number of samples"),
                (("flux-cnn", "--quick", "--steps-per-epoch", "2000"), "has 1000 samples here"),
                (("--steps-per-epoch", "0"), "expected numbers from 1 on"),
                (("--steps-per-epoch", "2", "--batches", "3"), "not allowed with"),
                (("--threads", "4..1"), "expected numbers from 1 on"),
                (("--epochs", "0"), "--epochs: expected at least 1"),
                (("--accuracy", "97"), "--accuracy: expected a part of 1")):
            self.assertIn(why, self.refused(*words))

    def test_epochs_and_accuracy(self):
        job, = jobs.jobs_of(parsed("mnist-cnn", "--accuracy", "0.9", "--epochs", "7"))
        self.assertEqual((job.warmup, job.epochs, job.test), (0, 7, True))
        job, = jobs.jobs_of(parsed("mnist-cnn"))
        self.assertEqual((job.warmup, job.epochs, job.test), (2, 4, False))

    def test_numbers(self):
        self.assertEqual(options.numbers("1..4,8"), [1, 2, 3, 4, 8])


class Scaling(unittest.TestCase):
    def groups(self, *rows):
        return [(title, [each["batch"] for each in found]) for _, title, found in
                scaling.groups({"workloads": rows})]

    def test_rows_that_differ_in_one_thing(self):
        self.assertEqual(self.groups(row(64), row(32), row(32, threads=1)),
                         [("rosenbrock-mlp: samples/s by batch", [32, 64])])
        self.assertEqual(self.groups(row(64, threads=2), row(64, threads=1), row(64)),
                         [("rosenbrock-mlp: samples/s by threads, batch 64", [64, 64])])
        self.assertEqual(self.groups(row(64, steps=1), row(16, steps=4)),
                         [("rosenbrock-mlp: samples/s by steps an epoch", [64, 16])])
        self.assertEqual(self.groups(row(64, steps=4, threads=1), row(64, steps=4, threads=2)),
                         [("rosenbrock-mlp: samples/s by threads, steps an epoch 4", [64, 64])])
        self.assertEqual(self.groups(row(64), {**row(32), "failed": "no data"}), [])

    def test_table(self):
        broken = [{"failed": "no"}]
        rows = [row(64, linnet=runs(100), torch=runs(50)), row(128, linnet=runs(250), torch=broken)]
        found = scaling.table({"workloads": rows, "settings": {"peers": ["torch"]}}).rows
        self.assertEqual(found, [("rosenbrock-mlp: samples/s by batch", "linnet",
                                  "64: 100; 128: 250 (x 2.50)")])


class Accuracy(unittest.TestCase):
    def run_of(self, *accuracies, compile_s=None):
        return {"failed": None, "samples_per_second": 1, "compile_s": compile_s,
                "timed_seconds": [2.0] * len(accuracies), "test_accuracies": list(accuracies)}

    def test_seconds(self):
        self.assertEqual(accuracy.seconds_to(self.run_of(0.5, 0.9, 0.8), 0.9), 4.0)
        self.assertEqual(accuracy.seconds_to(self.run_of(0.95, compile_s=0.5), 0.9), 2.5)
        self.assertIsNone(accuracy.seconds_to(self.run_of(0.5, None), 0.9))

    def result(self, **engines):
        return {"settings": {"accuracy": 0.9, "peers": []}, "workloads": [row(**engines)]}

    def test_table(self):
        result = self.result(linnet=[self.run_of(0.9), self.run_of(0.1), self.run_of(0.9)],
                             torch=[self.run_of(0.1, 0.9), self.run_of(0.9), self.run_of(0, 0.9)],
                             jax=[self.run_of(0.1, 0.85)], flat=[{"failed": "no"}],
                             values=[self.run_of(None)])
        self.assertEqual([line[1:] for line in accuracy.table(result).rows],
                         [("linnet", "2 (2 to 2), 2 of 3 runs", "–"),
                          ("torch", "4 (2 to 4)", "2.00 (2 pairs)"),
                          ("jax", "not reached (best 0.8500)", "–"), ("flat", "failed: no", "–"),
                          ("values", "not reached (it has none)", "–")])
        result["settings"]["accuracy"] = None
        self.assertEqual(accuracy.table(result).rows, [])

    def test_on_the_page_and_in_markdown(self):
        result = {**self.result(linnet=[self.run_of(0.9)]), "date": "2026", "linnet": "0.1.0"}
        result["settings"] |= {"device": "cpu", "precision": "auto", "protocol": "quick",
                               "repetitions": 1}
        self.assertIn("Time to accuracy", [each.title for each in side_tables.of(result)])
        page = result_page.Page(result)
        self.assertIn("<h2>Time to accuracy</h2>", page.side_tables())


if __name__ == "__main__":
    unittest.main()
