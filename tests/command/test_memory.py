# SPDX-License-Identifier: Apache-2.0
import unittest

import command

MIB = 1 << 20
# What a process holds besides its plan: code, thread stacks, oneDNN's and the allocator's own.
CONSTANT = 32 * MIB


class Memory(command.CommandTest):
    def test_summary_lists_what_memory_is_for(self):
        summary = self.run_json("summary", "--workload", "mnist-cnn", "--batch", 64)
        for plan in (summary["training"], summary["prediction"]):
            self.assertEqual(plan["total"], sum(value for key, value in plan.items()
                                                if key not in ("total", "shards", "recompute")))
        self.assertGreater(summary["training"]["gradients"], 4 * 31530)
        self.assertEqual(summary["training"]["data"], 64 * (28 * 28 + 4))
        out, _ = self.run_linnet("summary", "--workload", "mnist-cnn")
        self.assertIn("activations", out)

    def test_the_largest_batch_is_measured_as_planned(self):
        for mode, workload, allow in (("train", "rosenbrock-mlp", []), ("infer", "rosenbrock-mlp", []),
                                      ("infer", "resnet50-cifar10", []), ("train", "mnist-cnn", []),
                                      ("train", "mnist-cnn", ["--allow", "shards"])):
            found = self.run_json("max-batch", "--workload", workload, "--mode", mode,
                                  "--memory-limit", "300MiB", "--verify", *allow)
            self.assertLessEqual(found["planned_bytes"], 300 * MIB)
            self.assertGreater(found["planned_bytes"], 290 * MIB)
            self.assertLess(found["measured_bytes"], 1.02 * found["planned_bytes"] + CONSTANT, found)
            self.assertGreater(found["measured_bytes"], 0.98 * found["planned_bytes"] - CONSTANT, found)

    def test_nothing_fits(self):
        _, err = self.run_linnet("max-batch", "--workload", "mnist-cnn", "--memory-limit", 1000,
                                 status=2)
        self.assertIn("not even a batch of 1 fits into 1000 bytes", err)

    def test_what_is_no_number_of_bytes_is_refused_in_one_sentence(self):
        for given in ("-5MiB", "5XB", "abc", "MiB", "0.5GiB", "99999999999TiB", "9" * 30, ""):
            _, err = self.run_linnet("max-batch", "--workload", "mnist-cnn", "--memory-limit", given,
                                     status=2)
            self.assertIn(f"--memory-limit: expected a number of bytes of at least 1, e.g. 536870912 or "
                          f"512MiB; got '{given}'", err)

    def test_a_training_stays_within_its_limit(self):
        layers = ("--disable-pass", "fuse_small_cnn")  # one operator stores nothing that shards would save
        plain, _ = self.train(*layers)
        limit = plain["planned_bytes"] * 3 // 4
        limited, _ = self.train(*layers, "--memory-limit", limit, out="limited")
        self.assertLessEqual(limited["planned_bytes"], limit)
        self.assertGreater(plain["planned_bytes"], limit)
        self.assertEqual(plain["shards"], 1)
        self.assertGreater(limited["shards"], 1)
        self.assertTrue(any("shards of at most" in note for note in limited["notes"]), limited["notes"])


if __name__ == "__main__":
    unittest.main()
