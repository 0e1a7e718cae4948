# SPDX-License-Identifier: Apache-2.0
"""ln.bench(): what it measures, on what, and what it refuses."""
import unittest

import numpy as np

import linnet as ln


class Bench(unittest.TestCase):
    network = ln.Network((6,), [ln.Dense(8), ln.ReLU(), ln.Dense(3)])

    def test_training_and_predictions(self):
        trained = ln.bench(self.network, batch=16, epochs=2, warmup=1, device="cpu", threads=1, optimizer=ln.SGD(0.05))
        self.assertEqual((trained.mode, trained.samples, trained.batch, trained.device), ("train", 1024, 16, "cpu"))
        self.assertEqual((len(trained.seconds), len(trained.losses)), (2, 3))
        self.assertLess(trained.losses[-1], trained.losses[0], "synthetic samples can be learned")
        self.assertEqual(trained.parameters, 6 * 8 + 8 + 8 * 3 + 3)
        self.assertAlmostEqual(trained.samples_per_second * sum(trained.seconds) / 2, 1024, places=3)
        self.assertRegex(str(trained), r"^train, batch 16, 83 parameters, on cpu: [\d,]+ samples/s \(")
        predicted = ln.bench(self.network, mode="predict", epochs=3, warmup=0)
        self.assertEqual((predicted.mode, len(predicted.seconds), predicted.losses), ("predict", 3, ()))

    def test_data_of_the_callers(self):
        data = ln.Dataset(np.zeros((40, 6), np.float32), np.arange(40, dtype=np.int32) % 3)
        found = ln.bench(self.network, data, batch=7, epochs=1, warmup=0)
        self.assertEqual((found.samples, len(found.losses)), (40, 1))

    def test_what_is_refused(self):
        for named, error, words in (({"mode": "infer"}, ValueError, "expected 'train' or 'predict'; got 'infer'"),
                                    ({"epochs": 0}, ValueError, "epochs and batch of at least 1"),
                                    ({"loss": lambda y, t: ln.mean(y - t)}, TypeError, "a custom loss needs data"),
                                    ({"mode": "predict", "optimizer": ln.SGD(0.1)}, TypeError, "optimizer and training are for mode='train'")):
            with self.subTest(**named), self.assertRaisesRegex(error, words):
                ln.bench(self.network, **named)


if __name__ == "__main__":
    unittest.main()
