# SPDX-License-Identifier: Apache-2.0
"""Many models of one network, trained side by side: members, seeds, optimizers, predictions, and what is refused."""
import subprocess
import sys
import tempfile
import threading
import unittest
from pathlib import Path

import numpy as np

import linnet as ln

ROOT = Path(__file__).resolve().parent.parent.parent


def network():
    return ln.Network(4, [ln.Dense(16), ln.Tanh(), ln.Dropout(0.1), ln.Dense(1)])


def samples(rows=200):
    x = np.random.default_rng(1).normal(size=(rows, 4)).astype(np.float32)
    return x, np.sin(x.sum(axis=1, keepdims=True)).astype(np.float32)


class Witness(ln.FleetCallback):
    def __init__(self, stopped=None):
        self.stopped, self.epochs, self.resumed = stopped, [], set()

    def on_epoch(self, member, report):
        self.epochs.append((member, report.epoch))

    def stop_requested(self, member):
        return member == self.stopped

    def on_resume(self, member, report):
        self.resumed.add(member)


class Fleets(unittest.TestCase):
    def test_members_have_the_bits_that_they_have_alone(self):
        x, y = samples()
        optimizers = [ln.Adam(0.01), ln.SGD(0.1), ln.Adam(0.003)]
        fleet = ln.Fleet(network(), 3, seeds=[5, 6, 7], optimizers=optimizers, loss="mse", threads=2)
        history = fleet.fit((x, y), epochs=3, batch=32)
        self.assertEqual((len(fleet), len(history), history.failures), (3, 3, ["", "", ""]))
        self.assertEqual([len(one) for one in history.members], [3, 3, 3])
        for k, (seed, optimizer) in enumerate(zip((5, 6, 7), optimizers)):
            model = ln.Model(network(), device="cpu", threads=1, seed=seed)
            trainer = ln.Trainer(model, optimizer=optimizer, loss="mse", seed=seed)
            alone = trainer.fit((x, y), epochs=3, batch=32)
            self.assertEqual(history.members[k].epochs[2].train.loss, alone.epochs[2].train.loss)
            for name, value in model.weights().items():
                np.testing.assert_array_equal(fleet.member(k).weights()[name], value)
            self.assertEqual(fleet.evaluate((x, y))[k].loss, trainer.evaluate((x, y)).loss)

    def test_predictions_of_all(self):
        x, y = samples()
        fleet = ln.Fleet(network(), 5, data_seed=3)
        fleet.fit((x, y), epochs=2)
        members = fleet.predict_members(x)
        self.assertEqual(members.shape, (5, 200, 1))
        for k, member in enumerate(fleet.members):
            np.testing.assert_array_equal(member.predict(x), members[k])
        np.testing.assert_allclose(fleet.predict(x), members.mean(axis=0), atol=1e-6)
        quantiles = fleet.predict_quantiles(x, [0.1, 0.5])
        np.testing.assert_allclose(quantiles, np.quantile(members, [0.1, 0.5], axis=0), atol=1e-6)

    def test_probabilities(self):
        x, y = samples()
        labels = (y[:, 0] > 0).astype(np.int32)
        fleet = ln.Fleet(ln.Network(4, [ln.Dense(2)]), 3, optimizer=ln.Adam(0.05))
        fleet.fit((x, labels), epochs=2)
        wanted = np.mean([member.predict_probabilities(x) for member in fleet.members], axis=0)
        np.testing.assert_allclose(fleet.predict_probabilities(x), wanted, atol=1e-6)

    def test_models_in_and_out(self):
        x, y = samples()
        models = [ln.Model(network(), seed=seed, threads=1) for seed in (1, 2)]
        before = [model.parameter("dense_1.weight").copy() for model in models]
        fleet = ln.Fleet(models, objectives=[ln.Objective(ln.Adam(0.01), loss="mse"), ln.Objective(ln.SGD(0.01), loss="mae")])
        fleet.fit((x, y), epochs=1)
        for k, model in enumerate(models):
            np.testing.assert_array_equal(model.parameter("dense_1.weight"), before[k])  # copies were trained
            self.assertTrue(np.any(fleet.member(k).parameter("dense_1.weight") != before[k]))
        kept = fleet.members[1].copy()
        fleet.fit((x, y), epochs=1)
        self.assertTrue(np.any(fleet.member(1).parameter("dense_1.weight") != kept.parameter("dense_1.weight")))
        del fleet, models
        self.assertEqual(kept.predict(x).shape, (200, 1))

    def test_members_stop_alone(self):
        x, y = samples()
        fleet = ln.Fleet(network(), 2, optimizers=[ln.Adam(1e-3), ln.SGD(1e30)])
        history = fleet.fit((x, y), epochs=4, validation=(x, y))
        self.assertEqual(history.failures[0], "")
        self.assertRegex(history.failures[1], r"^member 1 \(seed 1\): ")
        self.assertTrue(np.isnan(fleet.predict_members(x)[1]).all() and np.isfinite(fleet.predict(x)).all())

    def test_a_fleet_that_is_killed_continues(self):
        x, y = samples()
        how = {"epochs": 5, "batch": 32, "validation": (x[:50], y[:50]), "keep_best": True}
        whole = ln.Fleet(network(), 3)
        whole.fit((x, y), **how)
        with tempfile.TemporaryDirectory() as folder:
            code = (f"import os, sys; sys.path.insert(0, {str(Path(__file__).parent)!r}); import linnet as ln\n"
                    "from test_fleet import network, samples\n"
                    "x, y = samples()\n"
                    "class Killer(ln.FleetCallback):\n"
                    "    def on_checkpoint(self, report):\n"
                    "        if report.step > 40: os.kill(os.getpid(), 9)\n"
                    "ln.Fleet(network(), 3, threads=1).fit((x, y), epochs=5, batch=32, keep_best=True,\n"
                    f"    validation=(x[:50], y[:50]), checkpoints=ln.Checkpoints({folder!r}, every_steps=2),\n"
                    "    callbacks=Killer())\n")
            killed = subprocess.run([sys.executable, "-c", code], check=False, capture_output=True, text=True)
            self.assertEqual(killed.returncode, -9, killed.stderr)
            heard = Witness()
            fleet = ln.Fleet(network(), 3)
            fleet.fit((x, y), checkpoints=ln.Checkpoints(folder, every_steps=2, resume=True), callbacks=heard, **how)
        self.assertEqual(heard.resumed, {0, 1, 2})
        for k in range(3):
            for name, value in whole.member(k).weights().items():
                np.testing.assert_array_equal(fleet.member(k).weights()[name], value)
            for name, value in whole.best(k).weights().items():
                np.testing.assert_array_equal(fleet.best(k).weights()[name], value)

    def test_callbacks(self):
        x, y = samples()
        heard = Witness(stopped=1)
        fleet = ln.Fleet(network(), 3, threads=2)
        history = fleet.fit((x, y), epochs=4, callbacks=[heard])
        self.assertEqual([len(one) for one in history.members], [4, 0, 4])
        self.assertTrue(history.members[1].interrupted)
        self.assertEqual(sorted(heard.epochs), [(0, 1), (0, 2), (0, 3), (0, 4), (2, 1), (2, 2), (2, 3), (2, 4)])

        class Curious(ln.FleetCallback):
            def on_epoch(self, member, report):
                fleet.member(0).predict(x)
        with self.assertRaisesRegex(ln.Error, "cannot use the fleet or its members"):
            fleet.fit((x, y), callbacks=Curious())
        self.assertEqual(fleet.predict(x).shape, (200, 1))

    def test_members_of_other_threads_wait_for_a_fit(self):
        x, y = samples()
        fleet = ln.Fleet(network(), 4)
        fitting = threading.Thread(target=lambda: fleet.fit((x, y), epochs=50))
        fitting.start()
        for _ in range(20):
            self.assertTrue(np.isfinite(fleet.members[2].predict(x)).all())
        fitting.join()

    def test_what_is_refused(self):
        x, y = samples()
        for sentence, call in (
                ("expected at least one member of a fleet; got 0", lambda: ln.Fleet(network(), 0)),
                ("expected 2 seeds, one for each member; got 1", lambda: ln.Fleet(network(), 2, seeds=[1])),
                ("expected one objective, or 2, one for each member; got 3",
                 lambda: ln.Fleet(network(), 2, optimizers=[ln.Adam()] * 3)),
                ("expected optimizer, of all members, or optimizers", lambda: ln.Fleet(
                    network(), 2, optimizer=ln.Adam(), optimizers=[ln.Adam()] * 2)),
                (r"\[Fleet\] expected members to be", lambda: ln.Fleet(network())),
                ("expected a Network and a number of members, or a list of models", lambda: ln.Fleet([], 2)),
                ("a Network or a list of Models", lambda: ln.Fleet([network()])),
                ("member 1 of the fleet has another network", lambda: ln.Fleet(
                    [ln.Model(network()), ln.Model(ln.Network(4, [ln.Dense(1)]))])),
                ("did you mean 'seeds'", lambda: ln.Fleet(network(), 2, seed=[1, 2])),
                ("has no argument 'loss'", lambda: ln.Fleet(network(), 2, objectives=ln.Objective(), loss="mse")),
                ("expected a member from 0 to 1; got 2", lambda: ln.Fleet(network(), 2).member(2)),
                ("a linnet.FleetCallback or a list of them", lambda: ln.Fleet(network(), 2).fit(
                    (x, y), callbacks=ln.ProgressBar())),
                ("no weights of a best epoch", lambda: ln.Fleet(network(), 2).best(0)),
                ("expected quantiles from 0 to 1; got 2", lambda: ln.Fleet(network(), 2).predict_quantiles(x, [2]))):
            with self.subTest(sentence), self.assertRaisesRegex(Exception, sentence):
                call()

    def test_the_example_of_the_manual(self):
        code = (ROOT / "examples/python/fleet.py").read_text()
        for block in (ROOT / "docs/python.md").read_text().split("```python\n")[1:]:
            block = block.partition("```")[0]
            if "ln.Fleet" in block:
                self.assertIn(block.strip(), code)


if __name__ == "__main__":
    unittest.main()
