# SPDX-License-Identifier: Apache-2.0
"""Trainings side by side, of `linnet train --folds` and `linnet search`, and the latter within a time. benchmarks/within.py
measures how long it takes."""
import json
import os
import pathlib
import re
import signal
import time
import unittest

import command

CONFIG = """[data]
file = "rows.csv"
target = "y"
[network]
layers = [{type = "dense", units = 8}, {type = "relu"}, {type = "dense", units = 1}]
[optimizer]
kind = "adam"
learning_rate = {search = {from = 1e-4, to = 1e-1, log = true}}
[training]
epochs = %s
patience = 0
device = "cpu"
threads = 2
[search]
%s
"""
FOREVER = 100000000  # epochs


class SideBySide(command.CommandTest):
    def setUp(self):
        super().setUp()
        rows = "".join(f"{i % 7},{i % 11},{i % 13},{(i % 7) * 0.5 - (i % 11) * 0.25}\n" for i in range(150))
        (self.folder / "rows.csv").write_text("a,b,c,y\n" + rows)

    def write(self, search="", epochs=4):
        (self.folder / "net.toml").write_text(CONFIG % (epochs, search))

    def processes(self):
        """The numbers of this test's processes, which work in its folder."""
        found = []
        for process in pathlib.Path("/proc").glob("[0-9]*"):
            try:
                if os.readlink(process / "cwd") == str(self.folder):
                    found.append(process.name)
            except OSError:  # it has ended, or is not ours
                pass
        return found

    def wait_for(self, what):
        end = time.monotonic() + 120
        while not what():
            self.assertLess(time.monotonic(), end)
            time.sleep(0.02)

    def interrupt(self, process, number=signal.SIGINT):
        process.send_signal(number)
        out, err = process.communicate(timeout=240)
        self.wait_for(lambda: not self.processes())
        return out, err

    def files(self, out):
        """What makes a search: its runs, and all files that don't hold a time."""
        folder = self.folder / out
        names = sorted(str(path.relative_to(folder)) for path in folder.rglob("*"))
        models = {name: (folder / name).read_bytes() for name in names if name.endswith("/model.safetensors")}
        return json.loads((folder / "search.json").read_text())["runs"], names, models

    def search_in_time(self, within, out="timed"):
        """The note on the time, and the number that repeats the search; none where a busy machine has no time for it."""
        process = self.start("search", "net.toml", "--out", out, "--within", within)
        _, err = process.communicate(timeout=240)
        self.assertFalse(self.processes())
        if process.returncode == 2 and within != "1h":
            self.assertIn("is too short", err)
            self.skipTest("the machine is busy")
        self.assertEqual(process.returncode, 0, err)
        found = re.search(r"linnet: (\d+ runs? took [\d.]+ s of .*); --runs (\d+) (repeats|ends) the search\n", err)
        self.assertTrue(found, err)
        self.assertRegex((self.folder / out / "search.toml").read_text(), f"runs = {found[2]}\n")
        self.assertEqual(json.loads((self.folder / out / "search.json").read_text())["within"]["note"],
                         found[0][len("linnet: "):-1])
        return found[1], int(found[2])

    def assert_repeated(self, runs, out="timed"):
        self.run_linnet("search", "net.toml", "--out", "again", "--runs", runs)
        self.assertEqual(self.files("again"), self.files(out))

    # --within

    def test_a_random_search_in_time_repeats_without_a_clock(self):
        self.write("seed = 2\nruns = 3")
        note, runs = self.search_in_time("3s")
        self.assertRegex(note, rf"^{runs} runs? took [\d.]+ s of 3s, \d+ % of it in epochs, \d at a time$")
        self.assertGreater(runs, 3)
        self.assert_repeated(runs)
        # It goes on, with all that there are.
        _, more = self.search_in_time("2s")
        self.assertGreater(more, runs)

    def test_a_halving_in_time_repeats_without_a_clock(self):
        self.write('method = "halving"', epochs=9)
        note, runs = self.search_in_time("4s")
        self.assertFalse(list((self.folder / "timed").glob("rehearsal*")))
        if "cut short" not in note:
            self.assert_repeated(runs)
            self.assertEqual(self.files("timed")[0][0]["epochs"], 9)

    def test_a_search_that_ends_early_says_why(self):
        self.write('method = "grid"\npoints = 3')
        note, runs = self.search_in_time("1h")
        self.assertEqual(runs, 3)
        self.assertIn("; there are no others", note)
        self.assert_repeated(3)
        for number, search in enumerate(('method = "select"', 'method = "forward"', 'method = "genetic"\nruns = 5')):
            with self.subTest(search):
                self.write(search)
                text = (self.folder / "net.toml").read_text()
                (self.folder / "net.toml").write_text(re.sub("{search.*}", "1e-2", text))
                self.search_in_time("1h", f"timed{number}")
                self.run_linnet("search", "net.toml", "--out", f"plain{number}")
                self.assertEqual(self.files(f"plain{number}"), self.files(f"timed{number}"))

    def test_what_does_not_end_in_time_is_stopped_and_not_counted(self):
        self.write('method = "grid"')
        text = (self.folder / "net.toml").read_text().replace("epochs = 4", "epochs = {search = [2, 100000000, 3]}")
        (self.folder / "net.toml").write_text(re.sub("{search = {.*}", "1e-2", text))
        begin = time.monotonic()
        note, runs = self.search_in_time("3s")
        self.assertLess(time.monotonic() - begin, 6)
        self.assertEqual(runs, 1)
        self.assertIn("; 2 of 3 were left out", note)
        self.assertEqual(sorted(path.name for path in (self.folder / "timed").iterdir()),
                         ["best", "run-001", "search.html", "search.json", "search.toml"])
        self.assert_repeated(1)

    def test_too_short_a_time_is_refused(self):
        self.write(epochs=FOREVER)
        _, err = self.run_linnet("search", "net.toml", "--out", "found", "--within", "2s", status=2)
        self.assertRegex(err, r"^linnet: error: --within 2s is too short: [\d.]+ s passed before the first training, which "
                              rf"ended \d+ of {FOREVER} epochs in [\d.]+ s; give at least [\d.e+]+s\n$")
        self.assertFalse(self.processes())
        self.assertFalse((self.folder / "found/run-001").exists())
        self.write('method = "halving"', epochs=FOREVER)
        _, err = self.run_linnet("search", "net.toml", "--out", "halved", "--within", "2s", status=2)
        self.assertIn("--within 2s is too short", err)
        self.assertEqual([path.name for path in (self.folder / "halved").iterdir()], ["search.toml"])
        self.write()
        self.run_linnet("search", "net.toml", "--out", "none", "--within", "0.000001s", status=2)
        for arguments in (("--within", "60"), ("--within", "5s", "--runs", 3)):
            self.run_linnet("search", "net.toml", "--out", "none", *arguments, status=2)

    # Processes and files

    def test_an_interrupt_ends_all_trainings(self):
        for name, arguments in (("plain", ()), ("timed", ("--within", "1h"))):
            with self.subTest(name):
                self.write(epochs=FOREVER)
                process = self.start("search", "net.toml", "--out", name, *arguments)
                self.addCleanup(lambda p=process: p.poll() is None and p.kill())
                self.wait_for(lambda: len(list((self.folder / name).glob("run-*/progress.json"))) == 2)
                _, err = self.interrupt(process)
                self.assertEqual(process.returncode, 130, err)
                self.assertIn(f"interrupted; the same command goes on with '{name}'", err)
                self.assertFalse(list((self.folder / name).rglob("*.tmp")))

    def test_no_training_outlives_the_command(self):
        self.write(epochs=FOREVER)
        process = self.start("search", "net.toml", "--out", "found", "--within", "1h")
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.wait_for(lambda: len(list((self.folder / "found").glob("run-*/progress.json"))) == 2)
        process.kill()
        process.wait()
        time.sleep(1)
        self.assertFalse(self.processes())
        process.communicate()

    def test_the_table_is_read_once(self):
        self.write("runs = 6", epochs=40)
        process = self.start("search", "net.toml", "--out", "found")
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.wait_for(lambda: (self.folder / "found/run-001/run.json").exists())
        (self.folder / "rows.csv").unlink()
        _, err = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 0, err)
        self.assertNotIn("failed", err)
        self.assertEqual(len(json.loads((self.folder / "found/search.json").read_text())["runs"]), 6)

    # --folds

    def folds(self, *arguments, **options):
        return self.run_linnet("train", "rows.csv", "--target", "y", "--epochs", 5, "--device", "cpu", *arguments, **options)

    def test_folds_have_the_bits_that_they_have_alone(self):
        results = [self.folds("--folds", 3, "--json", "--threads", threads, *more)
                   for threads in (1, 2, 4) for more in ((), ("--quiet",))]
        self.assertEqual(len({out for out, _ in results}), 1)
        out, err = self.folds("--folds", 3, "--threads", 2)
        self.assertEqual((out, err), self.folds("--folds", 3, "--threads", 1))
        self.assertEqual(re.findall(r"fold \d", err), ["fold 1", "fold 2", "fold 3"])

    def test_an_interrupt_ends_all_folds(self):
        process = self.start("train", "rows.csv", "--target", "y", "--epochs", FOREVER, "--folds", 3, "--threads", 2,
                             "--device", "cpu", "--patience", 0, "--out", "scores")
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.wait_for(lambda: len(self.processes()) == 3)
        time.sleep(0.5)
        _, err = self.interrupt(process)
        self.assertEqual(process.returncode, 130, err)
        self.assertIn("interrupted in fold 1; nothing is kept", err)
        self.assertFalse(list((self.folder / "scores").iterdir()))

    def test_a_killed_fold_ends_the_others(self):
        process = self.start("train", "rows.csv", "--target", "y", "--epochs", FOREVER, "--folds", 3, "--threads", 2,
                             "--device", "cpu", "--patience", 0)
        self.addCleanup(lambda: process.poll() is None and process.kill())
        self.wait_for(lambda: len(self.processes()) == 3)
        os.kill(max(int(p) for p in self.processes() if int(p) != process.pid), signal.SIGKILL)
        os.kill(min(int(p) for p in self.processes() if int(p) != process.pid), signal.SIGKILL)
        _, err = process.communicate(timeout=240)
        self.assertEqual(process.returncode, 2, err)
        self.assertIn("error: fold 1: its process was ended by signal 9 (Killed)", err)
        self.wait_for(lambda: not self.processes())


if __name__ == "__main__":
    unittest.main()
