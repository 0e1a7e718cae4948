# SPDX-License-Identifier: Apache-2.0
import os
import shutil
import subprocess
import unittest

import command

DRIVER = r"""
#include <stdio.h>
#include "digits.h"
int main(void) {
  float pixels[DIGITS_IN_INPUT], scores[DIGITS_OUT_0];
  for (int image; (image = getchar()) != EOF;) {
    pixels[0] = (float)image;
    for (int i = 1; i < DIGITS_IN_INPUT; ++i) pixels[i] = (float)getchar();
    digits_predict(pixels, scores);
    int best = 0;
    for (int c = 1; c < DIGITS_OUT_0; ++c) best = scores[c] > scores[best] ? c : best;
    printf("%d %.6f\n", best, scores[best]);
  }
  return 0;
}
"""
COMPILER = os.environ.get("CC") or shutil.which("cc") or shutil.which("gcc")


@unittest.skipIf(COMPILER is None, "there is no C compiler")
class Export(command.CommandTest):
    def answers(self, *options):
        """What the C program of a trained model answers on the test images."""
        folder = self.folder / ("c" + "".join(options))
        out, _ = self.run_linnet("export", self.model, "--c", folder, "--name", "digits", *options)
        self.assertIn("digits_predict() in C99", out)
        (folder / "main.c").write_text(DRIVER)
        subprocess.run([COMPILER, "-std=c99", "-Wall", "-Wextra", "-pedantic", "-Werror", "-O2", "-o",
                        folder / "digits", folder / "main.c", folder / "digits.c", "-lm"], check=True)
        pixels, _ = command.patterns(100, 2)
        printed = subprocess.run([folder / "digits"], input=bytes(pixels), capture_output=True,
                                 check=True).stdout.decode().split("\n")[:-1]
        return [int(line.split()[0]) for line in printed]

    def test_c_answers_as_the_command_does(self):
        _, self.model = self.train()
        summary = self.run_json("evaluate", self.model, "--data", self.folder / "patterns")
        labels = command.patterns(100, 2)[1]
        for options in ((), ("--int8",)):
            right = sum(a == b for a, b in zip(self.answers(*options), labels))
            self.assertAlmostEqual(right / 100, summary["metrics"]["accuracy"], delta=0.0 if not options else 0.02)

    def test_what_is_wrong_is_said(self):
        _, folder = self.train()
        self.assert_error("linnet export needs --c FOLDER, --onnx FILE or --function FILE; got none",
                          "export", folder)
        self.assert_error("expected a name that is a C identifier, e.g. digits; got '2nd'", "export", folder, "--c", "out",
                          "--name", "2nd")
        _, err = self.run_linnet("export", folder, "--c", "out", "--jacobian", status=2)
        self.assertIn("'] has no derivative in C: expected one of activation, arithmetic, ", err)
        self.assertFalse((self.folder / "out").exists())
        self.assert_error("cannot read 'nowhere': No such file or directory", "export", "nowhere", "--c", "out")

    def test_hessian(self):
        rows = "".join(f"{i % 7},{i % 5},{(i % 7) * (i % 5)}\n" for i in range(80))
        (self.folder / "rows.csv").write_text("a,b,y\n" + rows)
        self.run_linnet("train", "rows.csv", "--target", "y", "--optimizer", "levenberg_marquardt", "--epochs", 3,
                        "--out", "smooth", "--device", "cpu")
        out, _ = self.run_linnet("export", "smooth", "--c", "out", "--jacobian", "--hessian")
        self.assertEqual(out, "out/model.c: model_predict(), model_jacobian(), model_hessian() in C99, 32-bit weights; "
                              "compile it with -lm\n")
        self.assertIn("void model_hessian(const float *in_numbers, float *out_0);",
                      (self.folder / "out/model.h").read_text())
        self.assert_error("second derivatives are written with 32-bit weights; got 8-bit ones",
                          "export", "smooth", "--c", "out", "--hessian", "--int8")
        self.assert_error("--hessian is for C files (--c); --onnx writes another one: leave it out",
                          "export", "smooth", "--onnx", "m.onnx", "--hessian")

    def test_where_nothing_can_be_written(self):
        _, model = self.train()
        (self.folder / "file").write_text("")
        (self.folder / "link").symlink_to("nowhere")
        (self.folder / "taken/model.c").mkdir(parents=True)
        for folder, sentence in (
                ("file", "cannot make the folder 'file': Not a directory"),
                ("file/x", "cannot make the folder 'file/x': Not a directory"),
                ("link", "cannot make the folder 'link': something else has this name"),
                ("taken", "cannot write 'taken/model.c': Is a directory"),
                ("/proc/x", "cannot make the folder '/proc/x': No such file or directory")):
            self.assert_error(sentence, "export", model, "--c", folder)
        self.assertEqual(list((self.folder / "taken").iterdir()), [self.folder / "taken/model.c"])
        for file, reason in (("taken", "Is a directory"), ("file/x", "Not a directory"),
                             ("none/x", "No such file or directory")):
            self.assert_error(f"cannot write '{file}': {reason}", "export", model, "--onnx", file)
        first = self.run_linnet("export", model, "--c", "twice")
        self.assertEqual(self.run_linnet("export", model, "--c", "twice", "--int8")[0],
                         first[0].replace("32-bit", "8-bit"))
        self.assertIn("int8_t", (self.folder / "twice/model.c").read_text())
        self.assertEqual(sorted(path.name for path in (self.folder / "twice").iterdir()),
                         ["model.c", "model.h"])


if __name__ == "__main__":
    unittest.main()
