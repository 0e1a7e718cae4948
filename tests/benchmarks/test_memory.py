# SPDX-License-Identifier: Apache-2.0
"""benchmarks/footprint.py and largest_batch.py on processes and results that are written here."""
import pathlib
import shutil
import sys
import tempfile
import types
import unittest
import unittest.mock

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import engines  # noqa: E402
import figures  # noqa: E402
import footprint  # noqa: E402
import jobs  # noqa: E402
import largest_batch  # noqa: E402
import options  # noqa: E402
import peer_python  # noqa: E402

JOB = jobs.Job(name="mnist-cnn", workload="mnist-cnn", mode="train", batch=100, samples=1000,
               warmup=2, epochs=3, device="cpu", precision="auto", threads=0, dataset="", test=True)


def script(words):
    return [sys.executable, "-c", "import time\n" + words]


def record(losses, peak=1 << 20):
    return f"print('{{\"data_seconds\": 0.25, \"peak_bytes\": {peak}, \"losses\": {losses}}}')"


class Steps(unittest.TestCase):
    def test_a_job_of_one_step(self):
        job = footprint.one_step(JOB)
        self.assertEqual((job.samples, job.batch, job.warmup, job.epochs, job.test),
                         (100, 100, 0, 1, False))

    def test_what_a_step_takes(self):
        run = {"wall_s": 0.75, "data_seconds": 0.25, "peak_bytes": 1, "failed": None}
        for each, wanted in ((run, {"seconds": 0.5, "failed": None}),
                             ({"wall_s": 1, "failed": "no"}, {"seconds": None, "failed": "no"})):
            with unittest.mock.patch.object(engines, "run_step", return_value=each):
                self.assertEqual(footprint.first_step([], {}, 60), wanted)

    def test_failures_of_a_step(self):
        for words, why in (("raise SystemExit('no')", "exit status 1: no"),
                           ("import no_such_framework",
                            "not installed (ModuleNotFoundError: No module named "
                            "'no_such_framework'); --install-peers installs it, --python names "
                            "where"),
                           (record(["NaN"]).replace("'NaN'", "NaN"), "the loss is not finite"),
                           (record(["null"]).replace("'null'", "null"), "the loss is not finite")):
            self.assertEqual(engines.run_step(script(words), {}, 60)["failed"], why)

    def test_a_process_above_its_memory_is_ended(self):
        hungry = script("block = b'x' * (1 << 27); time.sleep(600)")
        run = engines.run_step(hungry, {}, 20, most_bytes=1 << 26)
        self.assertEqual(run["failed"], "it needs more memory")
        self.assertLess(run["wall_s"], 20)
        # One that is over before it is looked at.
        run = engines.run_step(script(record([1.0], 1 << 28)), {}, 60, most_bytes=1 << 27)
        self.assertEqual(run["failed"], "it needs more memory")
        self.assertIsNone(engines.run_step(script(record([1.0])), {}, 60, 1 << 27)["failed"])


class Search(unittest.TestCase):
    def search(self, start, most, largest):
        tried = []

        def fits(batch):
            tried.append(batch)
            return batch <= largest
        found = largest_batch.search(start, lambda batch: min(batch, most), fits)
        self.assertEqual(len(tried), len(set(tried)), "no batch is tried twice")
        self.assertTrue(all(1 <= batch <= most for batch in tried))
        return found

    def test_found_to_a_part_in_32(self):
        for largest in (1, 2, 3, 99, 100, 101, 1000, 4567, 100000):
            batch, all_data = self.search(100, 10**9, largest)
            self.assertFalse(all_data)
            self.assertTrue(batch <= largest <= batch + max(1, batch // 32), (largest, batch))

    def test_the_data_end(self):
        self.assertEqual(self.search(100, 700, 10**9), (700, True))
        self.assertEqual(self.search(100, 60, 10**9), (60, True))
        self.assertFalse(self.search(100, 700, 650)[1])

    def test_nothing_fits(self):
        self.assertEqual(self.search(100, 1000, 0), (0, False))


class Trials(unittest.TestCase):
    def test_each_trial_has_data_of_its_batch(self):
        exported = []

        def export(job, _, folder):
            exported.append((job.batch, job.samples, job.epochs))
            return {"samples": min(job.samples, 300)}, False

        def run_step(command, environment, limit, most):
            self.assertEqual((environment, limit, most), ({"A": "b"}, 60, 1000))
            self.assertEqual(command[1:], ["--seed", "0"])
            over = int(command[0]) > 250
            return {"failed": "it needs more memory"} if over else {"failed": None, "peak_bytes": 7}
        chosen = types.SimpleNamespace(limit=60, memory_limit=1000)
        with unittest.mock.patch.multiple(
                largest_batch.prepared, export=export,
                engines_of=lambda job, *_: {"fake": ([str(job.batch)], {"A": "b"}, None)}), \
                unittest.mock.patch.object(engines, "run_step", run_step), \
                unittest.mock.patch.object(sys, "stderr"):
            found = largest_batch.of("fake", JOB, chosen)
        self.assertEqual((found["batch"], found["all_data"]), (250, False))
        self.assertEqual(found["trials"][0], {"batch": 100, "peak_bytes": 7, "failed": None})
        self.assertEqual(exported[0], (100, 100, 1))
        result = {"settings": {"memory_limit": 3 << 20}, "workloads": [
            {"name": "mnist-cnn", "threads": 0, "largest_batch": {
                "fake": {**found, "trials": [{"batch": 250, "peak_bytes": 5 << 20}]},
                "b": {**found, "all_data": True}, "c": {**found, "batch": 0}}}]}
        table = largest_batch.table(result)
        self.assertIn("below 3 MiB", table.about)
        self.assertEqual(table.rows[0], ("mnist-cnn", "fake", "250", "5"))
        self.assertEqual(table.rows[1][2], "250 or more: all data there are")
        self.assertEqual(table.rows[2][2], "none: it needs more memory")


class Tables(unittest.TestCase):
    def result(self, first_step):
        def engine(peak, startup):
            return {"runs": [{"failed": None, "peak_bytes": peak, "startup_s": startup}] * 3}
        row = {"name": "mnist-cnn", "threads": 0, "batch": 128, "first_step": first_step,
               "engines": {"linnet": engine(100, 0.1), "torch": engine(400, None),
                           "jax": {"runs": [{"failed": "no"}]}}}
        return {"settings": {"peers": ["torch", "jax"]}, "workloads": [row]}

    def test_beside_peers(self):
        line, = footprint.beside_table(self.result({})).rows
        self.assertEqual(line, ("mnist-cnn, batch 128", "torch", "0.25 (0.25 to 0.25)", "–"))

    def test_first_steps(self):
        runs = [{"seconds": each, "failed": None} for each in (0.1, 0.2, 0.4)]
        lines = footprint.first_step_table(self.result(
            {"linnet": runs, "torch": [{"seconds": None, "failed": "no"}]})).rows
        self.assertEqual([line[1:] for line in lines],
                         [("linnet", "0.2 (0.1 to 0.4)"), ("torch", "failed: no")])
        self.assertEqual(figures.spread([]), None)

    def test_on_disk(self):
        with tempfile.TemporaryDirectory() as name:
            folder = pathlib.Path(name)
            (folder / "bin").mkdir()
            (folder / "lib").mkdir()
            shutil.copy(sys.executable, folder / "bin/linnet")
            (folder / "lib/liblinnet_cuda.so").write_bytes(b"x" * 5000)  # no program: not stripped
            found = footprint.disk(folder / "bin/linnet")
        self.assertEqual(set(found["own"]), {"linnet", "liblinnet_cuda.so"} | set(
            path.resolve().name for path in peer_python.loaded(sys.executable)
            if not str(path).startswith(footprint.SYSTEM)))
        self.assertEqual(found["own"]["liblinnet_cuda.so"], 5000)
        self.assertTrue(any(name.startswith("libc") for name in found["system"]))
        lines = footprint.disk_table({"footprint": {"own": {"a": 1e6, "b": 2e6},
                                                    "system": {"c": 5e6}}}).rows
        self.assertEqual(lines, [("a", "1.0"), ("b", "2.0"), ("Linnet's own together", "3.0"),
                                 ("1 libraries of the system that it loads", "5.0")])
        self.assertIsNone(footprint.disk_table({}))


class Options(unittest.TestCase):
    def test_memory(self):
        self.assertEqual([options.memory(word) for word in ("2G", "1.5m", "100")],
                         [2 << 30, 3 << 19, 100])
        for word in ("x", "0", "-1G"):
            self.assertRaises(ValueError, options.memory, word)


if __name__ == "__main__":
    unittest.main()
