# SPDX-License-Identifier: Apache-2.0
"""Intervals around predicted values, of tables, of arrays and of series, and in model files."""
import tempfile
import unittest
from pathlib import Path

import numpy as np

import linnet as ln


def noisy(rows=500):
    """y = 5 x + 1e6 with noise of std 1."""
    random = np.random.default_rng(1)
    x = random.uniform(-1, 1, rows)
    return {"x": list(x), "y": list(1e6 + 5 * x + random.normal(0, 1, rows))}


class Intervals(unittest.TestCase):
    def test_a_table(self):
        rows = noisy()
        task = ln.table_task(rows, "y", validation=0.3, ensemble=1, seed=1)
        model = task.model(threads=1)
        ln.train(model, task.data, task.training, epochs=20)
        with self.assertRaisesRegex(ln.Error, "the model has no errors of held-out samples"):
            ln.predict_intervals(model, task.data.test, 0.9)
        ln.calibrate_intervals(model, task.data.validation)
        width, = ln.interval_half_widths(model, 0.9)
        self.assertTrue(1.2 < width < 2.5, width)
        found = ln.predict_intervals(model, task.transform.inputs(rows), coverage=0.9)
        self.assertEqual((found.value.shape, found.value.dtype), ((500, 1), np.float64))
        np.testing.assert_array_equal(found.value, model.predict(task.transform.inputs(rows)))
        np.testing.assert_allclose(found.high - found.value, width, atol=1e-9)
        y = np.asarray(rows["y"])[:, None]
        self.assertTrue(0.85 < np.mean((found.low <= y) & (y <= found.high)) < 0.96)
        with tempfile.TemporaryDirectory() as folder:
            model.save(Path(folder) / "model.safetensors")
            again = ln.Model.load(Path(folder) / "model.safetensors")
        np.testing.assert_array_equal(ln.interval_half_widths(again, 0.5), ln.interval_half_widths(model, 0.5))
        with self.assertRaisesRegex(ln.Error, "needs the errors of at least 999 held-out samples"):
            ln.interval_half_widths(model, 0.999)

    def test_arrays(self):
        model = ln.Model(ln.Network(2, [ln.Dense(2)]), threads=1)
        random = np.random.default_rng(2)
        x = random.normal(size=(99, 2)).astype(np.float32)
        y = (model.predict(x) + np.arange(1, 100, dtype=np.float32)[:, None] * [1, -10]).astype(np.float32)
        ln.calibrate_intervals(model, (x, y))
        np.testing.assert_allclose(ln.interval_half_widths(model, 0.9), [90, 900], rtol=1e-5)
        np.testing.assert_allclose(ln.interval_half_widths(model, 0.9, "output"), [90, 900], rtol=1e-5)

    def test_series(self):
        random = np.random.default_rng(3)
        table = {"day": [str(np.datetime64("2024-01-01") + np.timedelta64(i, "D")) for i in range(400)],
                 "value": list(np.cumsum(random.normal(size=400)))}
        task = ln.series_task(table, "value", past=5, future=6, network="mlp", validation=0.3, seed=1)
        model = task.model(threads=1)
        ln.train(model, task.data, task.training, epochs=3)
        self.assertEqual(len(ln.forecast(model, table)[0].low), 0)
        ln.calibrate_intervals(model, task.data.validation)
        widths = ln.interval_half_widths(model, 0.9, "value")
        self.assertGreater(widths[5], 1.3 * widths[0])
        for step, width in zip(ln.forecast(model, table, interval=0.9), widths, strict=True):
            np.testing.assert_allclose([step.values[0] - step.low[0], step.high[0] - step.values[0]], width, rtol=1e-6)


if __name__ == "__main__":
    unittest.main()
