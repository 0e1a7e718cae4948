# SPDX-License-Identifier: Apache-2.0
"""Tables of files, text and frames."""
import importlib
import importlib.util
import sys
import tempfile
import unittest
import unittest.mock
from pathlib import Path

import numpy as np

import linnet as ln


def columns(rows=200):
    random = np.random.default_rng(1)
    x, kind = random.random(rows), random.choice(["red", "green"], rows)
    y = 3 * x + (kind == "red") + 0.01 * random.random(rows)
    return {"x": [None if i % 17 == 0 else float(v) for i, v in enumerate(x)], "kind": list(map(str, kind)),
            "y": list(map(float, y))}


class Tables(unittest.TestCase):
    def test_a_dict_of_columns(self):
        task = ln.table_task(columns(), "y", seed=1)
        self.assertEqual(task.transform.input_columns, ["x", "kind"])
        model = task.model(seed=1)
        before = ln.evaluate_metrics(model, task.data.test).rmse
        history = ln.train(model, task.data, task.training, epochs=60)
        self.assertGreater(len(history.epochs), 1)
        self.assertLess(ln.evaluate_metrics(model, task.data.test).rmse, before / 2)
        rows = {"x": [0.5], "kind": ["red"]}
        self.assertEqual(model.predict(task.transform.inputs(rows)).shape, (1, 1))

    def test_members_that_hold_out_rows(self):
        task = ln.table_task(columns(), "y", seed=1, validation_folds=4)
        folds = np.asarray(task.data.train.folds)
        self.assertEqual(folds.shape, (160,))
        self.assertEqual(sorted(set(folds)), [0, 1, 2, 3])
        self.assertEqual(len(task.data.validation), 160)
        model = task.model(seed=1)
        ln.train(model, task.data, task.training, epochs=20)
        weighed = model.with_member_shares(task.data.validation)
        held_out, all_members = weighed.predict(task.data.validation), weighed.predict(task.data.validation.inputs)
        self.assertGreater(np.abs(np.asarray(held_out) - np.asarray(all_members)).max(), 1e-4)
        task.data.train.folds = None
        self.assertIsNone(task.data.train.folds)
        with self.assertRaisesRegex(ln.DataError, r"the folds of '.*' are \(3\); expected \(160\)"):
            task.data.train.folds = [0, 1, 2]

    def test_files(self):
        text = "x,kind,y\n" + "".join(
            f"{'' if x is None else repr(x)},{kind},{y!r}\n" for x, kind, y in zip(*columns().values()))
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.csv"
            path.write_text(text)
            table = ln.read_table(path)
            self.assertEqual([c.name for c in table.columns], ["x", "kind", "y"])
            self.assertEqual([c.missing for c in table.columns], [12, 0, 0])
            a, b = (ln.table_task(rows, "y", seed=1) for rows in (path, columns()))
        np.testing.assert_array_equal(a.data.train.column("numbers"), b.data.train.column("numbers"))

    @unittest.skipUnless(importlib.util.find_spec("pandas"), "pandas is not installed")
    def test_pandas(self):
        import pandas
        frame = pandas.DataFrame(columns())
        a, b = (ln.table_task(rows, "y", seed=1) for rows in (frame, columns()))
        np.testing.assert_array_equal(a.data.train.column("numbers"), b.data.train.column("numbers"))

    @unittest.skipUnless(importlib.util.find_spec("pyarrow"), "pyarrow is not installed")
    def test_parquet(self):
        import pyarrow
        from pyarrow import parquet
        with tempfile.TemporaryDirectory() as folder:
            path = Path(folder) / "rows.parquet"
            parquet.write_table(pyarrow.table(columns()), path)
            a, b = (ln.table_task(rows, "y", seed=1) for rows in (path, columns()))
            self.assertEqual([c.name for c in ln.read_table(path).columns], ["x", "kind", "y"])
            with self.assertRaisesRegex(TypeError, r"\[read_table\] takes no options for '.*rows.parquet'"):
                ln.read_table(path, separator=";")
        np.testing.assert_array_equal(a.data.train.column("numbers"), b.data.train.column("numbers"))

    def test_whole_numbers_are_one_value_in_every_frame(self):
        rng = np.random.default_rng(2)
        grades = [int(g) for g in rng.integers(1, 4, 150)]
        learned = {"grade": [g if g < 3 else "3" if i % 2 else "old" for i, g in enumerate(grades)],
                   "x": [float(x) for x in rng.random(150)],
                   "y": [("low", "mid", "high")[g - 1] for g in grades]}
        task = ln.table_task(learned, "y")
        self.assertEqual(sum("grade" in name for name in task.transform.feature_names), 5, "a category")
        forms = {"text": ["1", "3", "2"], "int": [1, 3, 2], "float": [1.0, 3.0, 2.0],
                 "of NumPy": list(np.array([1, 3, 2], "f4")), "gap": [1.0, None, 2.0]}
        frames = {"dict": dict}
        for library, make in (("pandas", "DataFrame"), ("polars", "DataFrame"), ("pyarrow", "table")):
            if importlib.util.find_spec(library):
                frames[library] = getattr(importlib.import_module(library), make)
        want = task.transform.inputs({"grade": forms["text"], "x": [0.5] * 3}).column("numbers")
        for library, frame in frames.items():
            for form, values in forms.items():
                with self.subTest(library=library, form=form):
                    values = [v.item() if isinstance(v, np.generic) and library != "dict" else v for v in values]
                    got = task.transform.inputs(frame({"grade": values, "x": [0.5] * 3}))
                    self.assertEqual(got.notes, [])
                    same = [0, 2] if form == "gap" else [0, 1, 2]
                    np.testing.assert_array_equal(got.column("numbers")[same], want[same])

    def test_parquet_without_pyarrow_says_what_it_needs(self):
        with unittest.mock.patch.dict(sys.modules, {"pyarrow": None}):
            with self.assertRaisesRegex(ImportError, "'rows.parquet' needs pyarrow: pip install pyarrow"):
                ln.read_table("rows.parquet")

    def test_fields_of_any_kind(self):
        kinds = ["a,b", 'a "quoted" one', "two\nlines", None] * 10
        table = ln.TableTransform.fit({"kind": kinds, "flag": np.array([True, False] * 20), "x": np.arange(40, dtype="f4") / 10,
                                       "y": np.arange(40.0) ** 2}, "y")
        names = " ".join(table.feature_names)
        for kind in kinds[:3]:
            self.assertIn(kind.split()[0], names)
        again = table.inputs({"kind": ["a,b"], "flag": [np.bool_(True)], "x": [np.float32("nan")]})
        self.assertEqual(len(again), 1)

    def test_frames_of_other_libraries_are_one(self):
        rows = columns()
        expected = ln.table_task(rows, "y", seed=1).data.train
        for library in ("pandas.DataFrame", "polars.DataFrame", "pyarrow.table"):
            with self.subTest(library=library):
                try:
                    module = importlib.import_module(library.partition(".")[0])
                except ImportError:
                    continue
                frame = getattr(module, library.partition(".")[2])(rows)
                for name, values in expected.inputs.items():
                    np.testing.assert_array_equal(ln.table_task(frame, "y", seed=1).data.train.column(name), values)

    def test_errors(self):
        with self.assertRaisesRegex(ValueError, "'x' has 3 values, 'y' has 2"):
            ln.table_task({"x": [1, 2, 3], "y": [1, 2]}, "y")
        with self.assertRaisesRegex(TypeError, "a frame of pandas"):
            ln.table_task(3, "y")
        with self.assertRaisesRegex(ln.DataError, "nothing|colour|no column"):
            ln.table_task(columns(), "colour")


if __name__ == "__main__":
    unittest.main()
