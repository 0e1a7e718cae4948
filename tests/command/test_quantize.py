# SPDX-License-Identifier: Apache-2.0
import unittest

import command


class Quantize(command.CommandTest):
    def accuracy(self, model):
        return self.run_json("evaluate", model, "--data", self.folder / "patterns")["metrics"]["accuracy"]

    def test_the_copy_is_a_model_like_any_other(self):
        _, folder = self.train()
        data, out = self.folder / "patterns", self.folder / "int8.safetensors"
        summary = self.run_json("quantize", folder, "--data", data, "--samples", 50, "-o", out)
        self.assertEqual((summary["samples"], summary["layers"] > 0), (50, True))
        self.assertAlmostEqual(self.accuracy(out), self.accuracy(folder), delta=0.02)
        printed, _ = self.run_linnet("predict", out, data / "t10k-images-idx3-ubyte")
        self.assertTrue(printed)
        self.assert_error("the model is quantized already", "quantize", out, "--data", data, "-o",
                          self.folder / "again.safetensors")

    def test_onnx_and_c_take_it(self):
        _, folder = self.train()
        out, file = self.folder / "int8.safetensors", self.folder / "int8.onnx"
        self.run_linnet("quantize", folder, "--data", self.folder / "patterns", "-o", out)
        self.run_linnet("export", out, "--onnx", file)
        self.assertIn(b"QuantizeLinear", file.read_bytes())
        printed, _ = self.run_linnet("export", out, "--c", self.folder / "c")
        self.assertIn("model_predict() in C99, products of 8-bit integers; compile it with -lm", printed)
        self.assert_error("the model is quantized; derivatives are those of the one it was made of", "export", out,
                          "--c", self.folder / "c", "--jacobian")

    def test_what_is_wrong_is_said(self):
        _, folder = self.train()
        data, model = self.folder / "patterns", folder / "model.safetensors"
        self.assert_error(f"-o '{model}' would overwrite the model; name another file", "quantize", folder, "--data",
                          data, "-o", model)
        self.assert_error("--int8 is for --mode infer; this is a training: leave it out", "bench", "mnist-cnn", "--int8", "--samples", 10)


if __name__ == "__main__":
    unittest.main()
