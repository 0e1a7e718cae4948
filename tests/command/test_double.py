# SPDX-License-Identifier: Apache-2.0
"""--precision fp64: tables trained in double precision, by arguments and by a file; what is refused."""
import math
import random
import shutil
import unittest

import command

MODEL = "model.safetensors"
TABLE = '[data]\nfile = "smooth.csv"\ntarget = "y"\n\n'


def write_smooth(path, rows=400):
    """y is a smooth function of a, b and c."""
    rng = random.Random(3)
    lines = ["a,b,c,y"]
    for _ in range(rows):
        a, b, c = (rng.uniform(-1, 1) for _ in range(3))
        lines.append(f"{a:.5f},{b:.5f},{c:.5f},{5000 + 300 * math.sin(2 * a) * b + 50 * c * c:.5f}")
    path.write_text("\n".join(lines) + "\n")


class DoublePrecision(command.CommandTest):
    def setUp(self):
        super().setUp()
        write_smooth(self.folder / "smooth.csv")

    def train_table(self, *arguments, out="run", threads=1):
        summary = self.run_json("train", *arguments, "--out", out, "--threads", threads, "--device", "cpu")
        return summary, (self.folder / out / MODEL).read_bytes()

    def error_of(self, run, *arguments):
        return self.run_json("evaluate", run, "--data", "smooth.csv", *arguments)["metrics"]["rmse"]

    def check(self, *by):
        """Trains at 1 and 4 threads and in two parts, and beside fp32."""
        summary, model = self.train_table(*by, "--precision", "fp64")
        self.assertEqual(summary["precision"], "fp64")
        self.assertGreater(model.count(b'"dtype":"F64"'), 0)
        self.assertEqual(model.count(b'"dtype":"F32"'), 0)
        _, again = self.train_table(*by, "--precision", "fp64", out="again", threads=4)
        self.assertTrue(again == model, "other bits at 4 threads")
        (self.folder / "again/summary.json").unlink()
        sorted((self.folder / "again/checkpoints").glob("*.safetensors"))[-1].unlink()
        self.run_linnet("train", "--resume", "again")
        self.assertTrue((self.folder / "again" / MODEL).read_bytes() == model, "other bits after --resume")
        shutil.rmtree(self.folder / "again")
        self.train_table(*by, out="narrow")
        self.assertAlmostEqual(self.error_of("run") / self.error_of("narrow"), 1, delta=0.05)
        self.assertAlmostEqual(self.error_of("run") / self.error_of("run", "--precision", "fp32"), 1, delta=1e-3)

    def test_rows_keep_their_digits(self):
        """Rows of one tanh unit are learned to an error that fp32 numbers in the data would not allow."""
        rng = random.Random(5)
        rows = [(rng.uniform(-1, 1), rng.uniform(-1, 1)) for _ in range(200)]
        (self.folder / "unit.csv").write_text(
            "a,b,y\n" + "".join(f"{a!r},{b!r},{2 * math.tanh(a - 0.5 * b)!r}\n" for a, b in rows))
        losses = {}
        for precision in ("fp32", "fp64"):
            self.train_table("unit.csv", "--target", "y", "--seed", 1, "--optimizer", "levenberg_marquardt",
                             "--precision", precision, out=precision)
            losses[precision] = min(epoch["train_loss"] for epoch in self.history(self.folder / precision))
        self.assertGreater(losses["fp32"], 1e-17)
        self.assertLess(losses["fp64"], 1e-20)

    def test_the_networks_of_tables(self):
        self.check("smooth.csv", "--target", "y", "--seed", 1, "--epochs", 4)
        out, _ = self.run_linnet("predict", "run", "smooth.csv")
        self.assertEqual(len(out.splitlines()), 400)

    def test_levenberg_marquardt(self):
        by = ("smooth.csv", "--target", "y", "--seed", 1, "--epochs", 6, "--optimizer", "levenberg_marquardt")
        self.check(*by)
        (self.folder / "lm.toml").write_text(TABLE + '[optimizer]\nkind = "levenberg_marquardt"\n\n[training]\n'
                                             'epochs = 6\nseed = 1\nprecision = "fp64"\n')
        _, model = self.train_table("lm.toml", out="file")
        self.assertTrue(model == (self.folder / "run" / MODEL).read_bytes(), "other bits by a file")

    def test_what_is_refused(self):
        (self.folder / "norm.toml").write_text(
            TABLE + '[network]\nlayers = [{ type = "dense", units = 4 }, { type = "batch_norm", name = "norm" }, '
            '{ type = "dense", units = 1 }]\n')
        train = ("train", "norm.toml", "--precision", "fp64", "--out", "none")
        self.assert_error("[batch_norm 'norm'] does not compute in fp64, which takes dense layers, activations and "
                          "expressions; expected another precision, such as fp32", *train)
        self.assert_error("the precision fp64 is for the CPU; expected the device cpu, got cuda", *train, "--device",
                          "cuda")

    def test_exports_round(self):
        self.train_table("smooth.csv", "--target", "y", "--epochs", 1, "--precision", "fp64")
        self.run_linnet("export", "run", "--onnx", "model.onnx")
        self.run_linnet("export", "run", "--c", "out")
        self.run_linnet("quantize", "run", "--data", "smooth.csv", "--output", "small.safetensors")


if __name__ == "__main__":
    unittest.main()
