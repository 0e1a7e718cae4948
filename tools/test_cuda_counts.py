# SPDX-License-Identifier: Apache-2.0
import unittest

import cuda_counts


def found(nodes=100):
    return {"mnist-cnn": {title: "1" for title in cuda_counts.COUNTS} | {"nodes": f"{nodes:,}"}}


def page(rows):
    return "Text.\n\n" + cuda_counts.table(rows) + "\n| another | table |\n| --- | --- |\n"


class CudaCounts(unittest.TestCase):
    def differences(self, table, counted):
        return list(cuda_counts.differences(cuda_counts.read(page(table)), counted))

    def test_accepts_equal_counts(self):
        self.assertEqual(self.differences(found(), found()), [])

    def test_names_what_grew_and_what_fell(self):
        self.assertEqual(self.differences(found(999), found(1001)),
                         ["mnist-cnn: 'nodes' grew from 999 to 1,001"])
        self.assertEqual(self.differences(found(1001), found(999)),
                         ["mnist-cnn: 'nodes' fell from 1,001 to 999"])

    def test_names_workloads_that_come_and_go(self):
        self.assertEqual(len(self.differences({"other": found()["mnist-cnn"]}, found())),
                         1 + len(cuda_counts.COUNTS))

    def test_steps_have_the_batch_of_the_benchmarks(self):
        batches = {cuda_counts.row_name(*step): step[2] for step in cuda_counts.steps()}
        self.assertEqual(batches["mnist-cnn"], 128)
        self.assertEqual(batches["mnist-cnn, bf16"], 128)
        self.assertNotIn("resnet50-features", batches)
        self.assertEqual(batches["resnet50-features, predicting 32"], 32)
        self.assertEqual(batches["resnet50-features, predicting 1, bf16"], 1)
        self.assertEqual(batches["rosenbrock-mlp, predicting 8,000"], 8000)


if __name__ == "__main__":
    unittest.main()
