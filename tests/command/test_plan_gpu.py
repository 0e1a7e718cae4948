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
                          counts["precision"]), ("mnist-cnn", 128, "cuda", "sm_90", "auto"))
        self.assertEqual(counts["nodes_per_step"],
                         counts["own_kernels"] + sum(counts["library_calls"].values()))
        self.assertLessEqual(counts["critical_path"], counts["nodes_per_step"])
        self.assertLessEqual(counts["data_path"], counts["critical_path"])
        self.assertTrue(counts["assumptions"])

    def test_a_prediction_is_less_than_a_training_step(self):
        trained, predicted = self.counts(), self.counts("--mode", "infer")
        self.assertEqual((trained["mode"], predicted["mode"]), ("train", "infer"))
        self.assertLess(predicted["flops"], trained["flops"])

    def test_the_text_has_no_times(self):
        out, _ = self.run_linnet(*CUDA, "--target", "sm_90", **WITH_PLUGIN)
        self.assertIn("nodes per step", out)
        self.assertNotIn(" us", out)

    def test_a_dump_is_that_of_the_gpu(self):
        out, _ = self.run_linnet("plan", "--workload", "rosenbrock-mlp", "--device", "cuda",
                                 "--target", "sm_90", "--dump", "plan", **WITH_PLUGIN)
        self.assertIn("      engine cublaslt, fp32", out)

    def test_mistakes_are_one_sentence(self):
        for words, sentence in (
                ((*CUDA, "--target", "sm_42"),
                 "no GPU of target 'sm_42' is described; expected sm_90"),
                (("plan", "--workload", "mnist-cnn", "--target", "sm_90"),
                 "--target plans for a GPU that need not be there: expected --device cuda; got cpu"),
                ((*CUDA, "--json"), "--json needs --target, e.g. --target sm_90")):
            self.assert_error(sentence, *words, **WITH_PLUGIN)


if __name__ == "__main__":
    unittest.main()
