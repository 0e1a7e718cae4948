# SPDX-License-Identifier: Apache-2.0
"""tools/gpu_report.py on rows as tools/gpu_check.sh records them."""
import json
import subprocess
import sys
import tempfile
import unittest
from pathlib import Path

import tools_path
import gpu_report


def row(engine, speed, turn, name="mnist-cnn", batch=128, samples=9984, precision="tf32",
        failed=None, losses=(2.0, 1.0), card="a card", window=1.5):
    """Makes a line of benchmarks.jsonl: Linnet's speed is a number, a rival's has a spread."""
    rate = speed if engine == "linnet" else {"median": speed, "min": speed, "max": speed}
    return {"engine": engine, "name": name, "batch": batch, "asked_samples": samples,
            "precision": precision, "graph": "epoch", "round": turn, "failed": failed,
            "samples_per_second": rate, "losses": list(losses), "card": card, "commit": "abc",
            "window_seconds": window, "sm_mhz": 1980, "watts": 500.4 + turn}


def turns(engine, speeds, **about):
    return [row(engine, speed, turn, **about) for turn, speed in enumerate(speeds)]


def curve(device, precision, losses, **about):
    return {"workload": "mnist-cnn", "batch": 8, "train_samples": 32, "device": device,
            "precision": precision, "losses": losses, **about}


class Table(unittest.TestCase):
    def line(self, rows, index=2):
        """The cells of a line of the table."""
        return [cell.strip() for cell in gpu_report.table(rows)[index].strip("|").split("|")]

    def test_ratios_stand_beside_their_targets(self):
        rows = turns("linnet", (90, 100, 110)) + turns("torch", (9, 10, 11)) + \
            turns("torch-max-autotune", (20, 20, 20)) + \
            turns("torch-reduce-overhead", (40, 40, 40)) + \
            turns("torch-graph", (60, 60, 60)) + turns("jax-epoch", (50, 50, 50))
        cells = self.line(rows)
        self.assertEqual(cells[:3], ["mnist-cnn", "128 of 9984", "tf32"])
        self.assertEqual(cells[3:10], ["a card", "100 (90 to 110)", "10 (9 to 11)",
                                       "40 (40 to 40), reduce-overhead", "60 (60 to 60)",
                                       "not measured", "50 (50 to 50)"])
        self.assertTrue(cells[10].startswith("captured 1.67 (1.50 to 1.83), wanted 2; eager 10.00 "
                                             "(10.00 to 10.00), wanted 10; compile 2.50"), cells[10])
        self.assertIn("JAX 2.00 (1.80 to 2.20)", cells[10])
        self.assertEqual(cells[11], "missed: compile, captured")

    def test_two_cards_are_never_compared(self):
        rows = turns("linnet", (90, 100, 110)) + turns("torch-graph", (9, 10, 11), card="another")
        self.assertEqual(self.line(rows)[10], "–")
        self.assertEqual(self.line(rows, 3)[3], "another")

    def test_a_short_window_is_named(self):
        cells = self.line(turns("linnet", (90, 100, 110), window=0.2))
        self.assertIn("linnet timed for less than 1 s", cells[11])

    def test_conditions_stand_beside_the_rows(self):
        text = "\n".join(gpu_report.table(turns("linnet", (1, 2, 3))))
        self.assertIn("| mnist-cnn | 128 | tf32 | linnet | 3 | 1.5 to 1.5 | 1,980 to 1,980 | "
                      "500 to 502 | 0 | abc |", text)

    def test_only_rounds_in_turns_are_compared(self):
        cells = self.line(turns("linnet", (1, 1, 100, 200)) + turns("torch", (10, 20)))
        self.assertIn("eager 10.00 (2 pairs), wanted 10", cells[10])
        self.assertIn("fewer than 3 rounds: eager", cells[11])

    def test_what_was_not_measured_is_no_number(self):
        cells = self.line(turns("linnet", (100,)) + turns("torch", (5,)) +
                          [row("torch-graph", 0, 0, failed="out of memory")])
        self.assertEqual(cells[6:10], ["not measured", "failed", "not measured", "not measured"])
        self.assertEqual(cells[11], "not known: compile, captured; fewer than 3 rounds: eager")
        text = "\n".join(gpu_report.table([row("linnet", 1, 0, failed="it broke"),
                                           row("torch", 5, 0)]))
        self.assertIn("| failed | not measured |", text)
        self.assertIn("mnist-cnn, batch 128, tf32: linnet failed: it broke", text)

    def test_targets_are_of_one_precision(self):
        cells = self.line(turns("linnet", (1,), precision="bf16") +
                          turns("torch", (5,), precision="bf16"))
        self.assertEqual((cells[10], cells[11]),
                         ("eager 0.20 (1 pair)", "no target; fewer than 3 rounds: eager"))

    def test_a_rival_with_another_loss_is_marked(self):
        cells = self.line(turns("linnet", (1,)) + turns("torch", (5,), losses=(2.0, 1.5, 0.1)))
        self.assertEqual(cells[5], "5 (5 to 5), other loss")

    def test_steps_an_epoch_and_the_largest_batch(self):
        rows = [row("linnet", speed, 0, "rosenbrock-mlp", 8000, 8000 * steps)
                for steps, speed in ((1, 100), (50, 97))]
        rows.append({"about": "largest batch", "engine": "torch", "name": "resnet50-cifar10",
                     "batch": 65536, "failed": None})
        text = "\n".join(gpu_report.table(rows))
        self.assertIn("keeps 97.0% of its speed with 1; target 98%: missed.", text)
        self.assertIn("Largest batch, resnet50-cifar10, torch: 65,536 fits.", text)


class Curves(unittest.TestCase):
    def test_a_curve_may_be_as_far_away_as_its_precision_allows(self):
        rows = [curve("cpu", "fp32", [2.0, 1.0]), curve("cuda", "fp32", [2.0, 1.001]),
                curve("cuda", "tf32", [2.0, 1.02]), curve("cuda", "fp32", [2.0, 1.01]),
                curve("cuda", "fp32", [2.0, None]), curve("cuda", "fp32", [2.0])]
        found = list(gpu_report.curves(rows))
        self.assertEqual([good for good, _ in found], [True, True, False, False, False])
        self.assertIn("1.0e-02 at epoch 2 of 2, allowed 2e-03: TOO FAR", found[2][1])
        self.assertIn("no curve of the CPU's", found[4][1])

    def test_graph_modes_are_not_curves(self):
        rows = [curve("cuda", "fp32", [1.0], about="graph modes")]
        self.assertEqual(list(gpu_report.curves(rows)), [])


class Program(unittest.TestCase):
    def report(self, kind, text):
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder, "rows.jsonl")
            path.write_text(text)
            return subprocess.run([sys.executable, "-B", tools_path.ROOT / "tools/gpu_report.py",
                                   kind, path], capture_output=True, text=True)

    def test_a_line_cut_by_a_kill_is_left_out(self):
        text = "".join(json.dumps(each) + "\n" for each in turns("linnet", (1, 2, 3)))
        process = self.report("table", text + text[:40])
        self.assertEqual(process.returncode, 0, process.stderr)
        self.assertIn("| 2 (1 to 3) |", process.stdout)
        self.assertIn("not JSON", process.stderr)

    def test_the_status_tells_whether_curves_agree(self):
        for losses, status in (([1.0], 0), ([2.0], 1)):
            text = "\n".join(map(json.dumps, (curve("cpu", "fp32", [1.0]),
                                             curve("cuda", "fp32", losses))))
            self.assertEqual(self.report("numerics", text).returncode, status)
        self.assertEqual(self.report("numerics", "").returncode, 1)


if __name__ == "__main__":
    unittest.main()
