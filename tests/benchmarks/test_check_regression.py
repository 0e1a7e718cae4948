# SPDX-License-Identifier: Apache-2.0
"""benchmarks/check_regression.py on results that are written here."""
import contextlib
import copy
import io
import json
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import check_regression  # noqa: E402


def engine(speeds, **other):
    runs = [{"failed": None, "samples_per_second": speed, "startup_s": 0.5, "peak_bytes": 1 << 26,
             "loss": 0.3, **other} for speed in speeds]
    return {"failed": None, "runs": runs}


def result(**engines):
    row = {"name": "mnist-cnn", "threads": 0, "batch": 128, "samples": 1280, "warmup": 1,
           "epochs": 2, "data": "digits", "failed": None, "engines": engines}
    return {"format": 1, "machine": {"processor": "P", "processors": 2}, "load": {"busy": False},
            "settings": {"device": "cpu", "precision": "auto", "protocol": "quick"},
            "workloads": [row]}


STEADY = [100, 101, 99, 100, 102]


def kernels(seconds, engine="direct", share=0.5, **other):
    kernel = {"workload": "mnist-cnn", "mode": "train", "batch": 128, "operator": "conv2d", "engine": engine,
              "shapes": "(128, 28, 28, 1), (16, 3, 3, 1) -> (128, 28, 28, 16)", "count": 1, "flops": 1e6,
              "bytes": 1e5, "seconds": seconds, "share": share, **other}
    return {"format": 1, "kind": "kernels", "machine": {"processor": "P", "processors": 2}, "load": {"busy": False},
            "settings": {"device": "cpu", "precision": "fp32", "protocol": "kernels", "threads": 2},
            "kernels": [kernel]}


class CheckRegression(unittest.TestCase):
    def check(self, before, after, *options):
        """(exit status, standard output, standard error) of the program."""
        with tempfile.TemporaryDirectory() as folder:
            paths = [pathlib.Path(folder, name) for name in ("before.json", "after.json")]
            for path, content in zip(paths, (before, after)):
                path.write_text(json.dumps(content))
            out, err = io.StringIO(), io.StringIO()
            with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
                status = check_regression.main([*map(str, paths), *options])
        return status, out.getvalue(), err.getvalue()

    def test_nothing_changed(self):
        for after in (STEADY, [99, 102, 100, 101, 98], [98, 98, 98, 98, 98]):
            status, out, _ = self.check(result(linnet=engine(STEADY)),
                                        result(linnet=engine(after)))
            self.assertEqual((status, out), (0, "0 changes, 0 of them regressions\n"))

    def test_slower(self):
        status, out, _ = self.check(result(linnet=engine(STEADY)),
                                    result(linnet=engine([80, 81, 82, 79, 80])))
        self.assertEqual(status, 1)
        self.assertIn("REGRESSION mnist-cnn, batch 128, linnet: samples/s 100 -> 80, x 0.800", out)

    def test_faster_is_told_and_no_failure(self):
        status, out, _ = self.check(result(linnet=engine(STEADY)),
                                    result(linnet=engine([120, 121, 119, 122, 120])))
        self.assertEqual(status, 0)
        self.assertIn("mnist-cnn, batch 128, linnet: samples/s 100 -> 120, x 1.200", out)
        self.assertIn("better", out)

    def test_noise_is_no_change(self):
        noisy = [60, 130, 85, 140, 90]
        status, out, _ = self.check(result(linnet=engine([110, 70, 100, 140, 60])),
                                    result(linnet=engine(noisy)))
        self.assertEqual((status, out), (0, "0 changes, 0 of them regressions\n"))

    def test_less_is_better_of_the_rest(self):
        for key, value in (("startup_s", 1.0), ("peak_bytes", 1 << 27), ("loss", 0.4)):
            before, worse = engine(STEADY), engine(STEADY, **{key: value})
            self.assertEqual(self.check(result(linnet=before), result(linnet=worse))[0], 1, key)
            self.assertEqual(self.check(result(linnet=worse), result(linnet=before))[0], 0, key)

    def test_failures(self):
        broken = {"failed": "the loss does not fall: 2 to 2", "runs": [{"failed": "it"}]}
        fine = engine(STEADY)
        status, out, _ = self.check(result(linnet=fine), result(linnet=broken))
        self.assertEqual(status, 1)
        self.assertIn("fails now: the loss does not fall", out)
        self.assertEqual(self.check(result(linnet=fine), result())[0], 1, "it has gone")
        self.assertEqual(self.check(result(linnet=broken), result(linnet=broken))[0], 0)
        self.assertIn("runs now", self.check(result(linnet=broken), result(linnet=fine))[1])

    def test_peers_are_told_and_watched_if_asked(self):
        before = result(linnet=engine(STEADY), torch=engine(STEADY))
        after = result(linnet=engine(STEADY), torch=engine([50, 51, 50, 49, 50]))
        status, out, _ = self.check(before, after)
        self.assertEqual(status, 0)
        self.assertIn("mnist-cnn, batch 128, torch: samples/s 100 -> 50", out)
        self.assertEqual(self.check(before, after, "--engine", "torch")[0], 1)

    def test_what_cannot_be_judged_is_said(self):
        few = result(linnet=engine([100, 101]))
        status, out, _ = self.check(few, result(linnet=engine([50, 51])))
        self.assertEqual(status, 0)
        self.assertIn("too few repetitions to judge (2, wanted 3)", out)
        other = copy.deepcopy(few)
        other["workloads"][0]["epochs"] = 3
        other["load"]["busy"] = True
        out = self.check(few, other)[1]
        self.assertIn("note: mnist-cnn, batch 128: not the same work: epochs 2 and 3", out)
        self.assertIn("note: the machine was busy during the second", out)
        other["workloads"][0]["threads"] = 1
        out = self.check(few, other)[1]
        self.assertIn("note: mnist-cnn, batch 128: only the first file has it", out)
        self.assertIn("note: mnist-cnn, batch 128, threads 1: only the second file has it", out)

    def test_files_that_cannot_be_compared(self):
        good = result(linnet=engine(STEADY))
        for part, value, sentence in (("settings", {**good["settings"], "precision": "bf16"},
                                       "they differ in precision: auto and bf16"),
                                      ("machine", {"processor": "Q", "processors": 2},
                                       "they are of different machines"),
                                      ("format", 2, "expected results of format 1; got 2")):
            status, _, err = self.check(good, {**good, part: value})
            self.assertEqual(status, 2)
            self.assertIn(sentence, err)
        other = {**good, "machine": {"processor": "Q", "processors": 2}}
        self.assertEqual(self.check(good, other, "--any-machine")[0], 0)
        with contextlib.redirect_stderr(io.StringIO()) as err:
            self.assertEqual(check_regression.main(["/nowhere.json", "/nowhere.json"]), 2)
        self.assertIn("cannot read /nowhere.json", err.getvalue())

    def test_a_kernel_that_got_slower_is_named(self):
        steady = [1e-3, 1.01e-3, 0.99e-3]
        status, out, _ = self.check(kernels(steady), kernels([1.2e-3, 1.21e-3, 1.19e-3]))
        self.assertEqual(status, 1)
        self.assertIn("REGRESSION mnist-cnn, train, batch 128: conv2d (128, 28, 28, 1), (16, 3, 3, 1) -> "
                      "(128, 28, 28, 16), direct, linnet: seconds 0.001 -> 0.0012, x 1.200", out)
        status, out, _ = self.check(kernels([1.2e-3, 1.21e-3, 1.19e-3]), kernels(steady, engine="winograd"))
        self.assertEqual(status, 0)
        self.assertIn("direct -> winograd, linnet: seconds 0.0012 -> 0.001", out)
        for after in (steady, [1.04e-3] * 3, [0.8e-3, 1.5e-3, 1.6e-3, 0.7e-3, 1.2e-3]):
            self.assertEqual(self.check(kernels(steady), kernels(after))[0], 0)

    def test_of_kernels_that_hardly_count_nothing_is_said(self):
        status, out, _ = self.check(kernels([1e-6] * 3, share=0.001), kernels([3e-6] * 3, share=0.003))
        self.assertEqual((status, out), (0, "0 changes, 0 of them regressions\n"))

    def test_an_operator_that_was_measured_by_itself_counts_however_fast_it_is(self):
        before, after = (kernels(seconds, share=0.001, of_roof=[0.5] * 3) for seconds in ([1e-6] * 3, [3e-6] * 3))
        self.assertEqual(self.check(before, after)[0], 1)

    def test_kernels_that_cannot_be_judged_are_said(self):
        out = self.check(kernels([1e-3]), kernels([3e-3]))[1]
        self.assertIn("note: too few repetitions to judge (1, wanted 3)", out)
        out = self.check(kernels([1e-3] * 3), kernels([1e-3] * 3, shapes="(64, 28, 28, 1)"))[1]
        self.assertIn("note: 1 kernels of at least 1 % of a step are in the first file alone", out)
        for other, sentence in (({"kind": None}, "one is of run.py and one of kernels.py"),
                                ({"kind": "ranks"}, "expected results of run.py or of kernels.py; got ranks")):
            changed = {**kernels([1e-3] * 3), **other}
            changed = {key: value for key, value in changed.items() if value is not None}
            self.assertEqual(self.check(kernels([1e-3] * 3), changed)[0], 2)
            self.assertIn(sentence, self.check(kernels([1e-3] * 3), changed)[2])
        one_thread = kernels([1e-3] * 3)
        one_thread["settings"]["threads"] = 1
        self.assertIn("they differ in threads: 2 and 1", self.check(kernels([1e-3] * 3), one_thread)[2])


if __name__ == "__main__":
    unittest.main()
