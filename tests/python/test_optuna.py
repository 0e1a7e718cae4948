# SPDX-License-Identifier: Apache-2.0
"""Searches by Optuna: trials that are given up, storages that several processes share, and what is refused."""
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import numpy as np

import linnet as ln

try:
    import optuna
except ImportError as missing:
    raise unittest.SkipTest(f"needs Optuna: {missing}")

SECOND_PROCESS = """
import sys, linnet as ln, optuna
optuna.logging.set_verbosity(optuna.logging.ERROR)
ln.optuna.search(sys.argv[1], lambda trial: {"batch": trial.suggest_int("batch", 8, 32), "epochs": 2}, trials=6,
                 storage=sys.argv[2], name="shared", target="y", ensemble=1, threads=1)
"""


def setUpModule():
    optuna.logging.set_verbosity(optuna.logging.ERROR)


def rate(trial):
    return {"optimizer": ln.AdamW(learning_rate=trial.suggest_float("learning_rate", 1e-4, 1e-1, log=True)), "epochs": 4}


class Searches(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory()
        self.addCleanup(folder.cleanup)
        self.folder = Path(folder.name)
        self.table = self.folder / "table.csv"
        x = np.random.default_rng(1).normal(size=(200, 3))
        rows = [f"{a:.4f},{b:.4f},{c:.4f},{a + 2 * b * c:.4f}" for a, b, c in x]
        self.table.write_text("\n".join(["a,b,c,y", *rows]) + "\n", encoding="utf-8")
        self.url = f"sqlite:///{self.folder / 'trials.db'}"

    def search(self, choose=rate, trials=4, **more):
        return ln.optuna.search(self.table, choose, trials, target="y", ensemble=1, threads=1, **more)

    def test_the_best_trial_writes_the_model(self):
        file = self.folder / "best.safetensors"
        study = self.search(file=file, seed=3)
        self.assertEqual(len(study.trials), 4)
        task = ln.prepare(self.table, seed=3, target="y", ensemble=1)
        best = task.model(seed=3)
        ln.train(best, task.data, task.training, **rate(study.best_trial))
        self.assertEqual(ln.Model.load(file).predict(task.data.test).tobytes(), best.predict(task.data.test).tobytes())
        again = self.search(seed=3)
        self.assertEqual([trial.value for trial in again.trials], [trial.value for trial in study.trials])

    def test_a_stored_study_goes_on(self):
        self.search(storage=self.url, name="airfoil", trials=2)
        study = self.search(storage=self.url, name="airfoil", trials=3)
        rates = [trial.params["learning_rate"] for trial in study.trials]
        self.assertEqual(len(set(rates)), 3)
        self.assertEqual(len(self.search(storage=self.url, name="airfoil", trials=3).trials), 3)

    def test_processes_share_the_trials(self):
        optuna.create_study(storage=self.url, study_name="shared")
        command = [sys.executable, "-c", SECOND_PROCESS, str(self.table), self.url]
        both = [subprocess.Popen(command, stderr=subprocess.PIPE, text=True) for _ in range(2)]
        for process in both:
            error = process.communicate(timeout=120)[1]
            self.assertEqual(process.returncode, 0, error)
        ended = optuna.load_study(study_name="shared", storage=self.url).trials
        self.assertIn(len(ended), (6, 7))  # each of them may have had one under way

    def test_trials_are_given_up(self):
        study = self.search(lambda trial: {"epochs": 5, "lookahead": ln.Lookahead(every=trial.suggest_int("every", 1, 9))},
                            pruner=optuna.pruners.ThresholdPruner(upper=0, n_warmup_steps=2))
        self.assertEqual([trial.state for trial in study.trials], [optuna.trial.TrialState.PRUNED] * 4)
        self.assertEqual({max(trial.intermediate_values) for trial in study.trials}, {2})

    def test_a_loss_that_is_not_finite_gives_the_trial_up(self):
        study = self.search(lambda trial: {"optimizer": ln.SGD(learning_rate=10.0 ** trial.suggest_int("power", 30, 36)), "epochs": 2})
        self.assertEqual({trial.state for trial in study.trials}, {optuna.trial.TrialState.PRUNED})

    def test_settings_of_the_data_may_be_tried(self):
        study = self.search(lambda trial: {"scale": trial.suggest_categorical("scale", ["standard", "min_max"]), "epochs": 2})
        self.assertEqual(len({trial.value for trial in study.trials}), len({trial.params["scale"] for trial in study.trials}))

    def test_what_is_refused(self):
        with self.assertRaisesRegex(ValueError, "metric: expected one of validation_loss, .*; got 'loss'"):
            self.search(metric="loss")
        with self.assertRaisesRegex(ValueError, "trials: expected at least 1; got 0"):
            self.search(trials=0)
        with self.assertRaisesRegex(ln.Error, "validation_accuracy"):
            self.search(metric="validation_accuracy")
        with self.assertRaisesRegex(TypeError, "rows_of"):
            self.search(lambda trial: {"rows_of": 1})
        with self.assertRaisesRegex(ln.Error, "batch to be at least 1"):
            self.search(lambda trial: {"batch": 0})


if __name__ == "__main__":
    unittest.main()
