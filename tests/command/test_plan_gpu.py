# SPDX-License-Identifier: Apache-2.0
"""linnet plan --target: counts of a step on a GPU that is not there."""
import json
import os
import pathlib
import unittest

import command

PLUGIN = pathlib.Path(os.environ["LINNET_SIMULATED_PLUGIN"])
CUDA = ("plan", "--workload", "mnist-cnn", "--batch", "128", "--device", "cuda")
WITH_PLUGIN = {"env": {**os.environ, "LINNET_CUDA_LIBRARY": str(PLUGIN)}}


class PlanGpu(command.CommandTest):
    def counts(self, *arguments):
        out, _ = self.run_linnet(*CUDA, "--target", "sm_90", "--json", *arguments, **WITH_PLUGIN)
        return json.loads(out)

    def test_the_json_adds_up(self):
        counts = self.counts()
        self.assertEqual((counts["workload"], counts["batch"], counts["device"], counts["target"],
                          counts["gpu"], counts["precision"]),
                         ("mnist-cnn", 128, "cuda", "sm_90", "h200", "auto"))
        self.assertEqual(counts["nodes_per_step"],
                         counts["own_kernels"] + sum(counts["library_calls"].values()))
        self.assertLessEqual(counts["critical_path"]["nodes"], counts["nodes_per_step"])
        self.assertLessEqual(counts["data_path"]["nodes"], counts["critical_path"]["nodes"])
        seconds = counts["predicted"]["seconds_per_step"]
        self.assertGreaterEqual(seconds, counts["critical_path"]["seconds"])
        self.assertAlmostEqual(counts["predicted"]["samples_per_second"], 128 / seconds, places=3)
        self.assertTrue(counts["assumptions"])

    def test_a_slower_gpu_takes_longer_for_the_same_counts(self):
        h200, h100 = self.counts("--gpu", "h200"), self.counts("--gpu", "h100")
        for key in ("nodes_per_step", "bytes", "flops", "planned_memory"):
            self.assertEqual(h200[key], h100[key])
        self.assertLess(h200["critical_path"]["seconds"], h100["critical_path"]["seconds"])

    def test_a_prediction_is_less_than_a_training_step(self):
        trained, predicted = self.counts(), self.counts("--mode", "infer")
        self.assertEqual((trained["mode"], predicted["mode"]), ("train", "infer"))
        self.assertLess(predicted["flops"], trained["flops"])

    def test_the_text_says_that_times_are_predictions(self):
        out, _ = self.run_linnet(*CUDA, "--target", "sm_90", **WITH_PLUGIN)
        self.assertIn("nodes per step", out)
        self.assertIn("Predictions, not measurements: an H200 took 2 to 8 times as long", out)

    def test_a_dump_is_that_of_the_gpu(self):
        out, _ = self.run_linnet("plan", "--workload", "rosenbrock-mlp", "--device", "cuda",
                                 "--target", "sm_90", "--dump", "plan", **WITH_PLUGIN)
        self.assertIn("      engine cublaslt, fp32", out)

    def test_mistakes_are_one_sentence(self):
        for words, sentence in (
                ((*CUDA, "--target", "sm_42"),
                 "no GPU of target 'sm_42' is described; expected sm_90"),
                ((*CUDA, "--target", "sm_90", "--gpu", "h300"),
                 "no GPU 'h300' of target sm_90 is described; expected h200 or h100"),
                (("plan", "--workload", "mnist-cnn", "--target", "sm_90"),
                 "--target plans for a GPU that need not be there: expected --device cuda; got cpu"),
                ((*CUDA, "--json"), "--gpu and --json need --target, e.g. --target sm_90")):
            self.assert_error(sentence, *words, **WITH_PLUGIN)


if __name__ == "__main__":
    unittest.main()
