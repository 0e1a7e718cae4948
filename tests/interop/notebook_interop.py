# SPDX-License-Identifier: Apache-2.0
"""A notebook's kernel runs `linnet train`: as a shell cell, which has a terminal, and as a subprocess."""
import os
import pathlib
import re
import tempfile
import unittest

try:
    import nbclient
    import nbformat
except ImportError as error:
    raise unittest.SkipTest(f"there is no {error.name}; ./dev test --interop without --quick "
                            "installs it") from error

TRAIN = ("{} train --workload mnist-cnn --data digits --epochs 2 --device cpu --seed 1 "
         "--out {}").format
COLOUR = re.compile(r"\x1b\[[0-9;]*m")  # which notebooks draw; other escape sequences they cut
DRAWN = r"epoch 1/2 [^:\r\n]*\d+ %"
EPOCH = re.compile(r"epoch (\d)/2: loss [\d.]+, accuracy [\d.]+ %; test loss .* samples/s")


def shown(text):
    """The lines as a notebook draws them: after a carriage return the line begins anew."""
    return [line.split("\r")[-1].rstrip() for line in text.replace("\r\n", "\n").split("\n")]


class Notebook(unittest.TestCase):
    def run_cell(self, make_source):
        with tempfile.TemporaryDirectory(prefix="linnet-notebook-") as folder:
            command = TRAIN(pathlib.Path(os.environ["LINNET_COMMAND"]).absolute(), f"{folder}/run")
            notebook = nbformat.v4.new_notebook(
                cells=[nbformat.v4.new_code_cell(make_source(command))])
            nbclient.NotebookClient(notebook, timeout=120, kernel_name="python3").execute()
        outputs = notebook.cells[0].outputs
        self.assertEqual({output.output_type for output in outputs}, {"stream"})
        return COLOUR.sub("", "".join(output.text for output in outputs))

    def check(self, text):
        self.assertNotIn("\x1b", text)
        epochs = [match[1] for line in shown(text) if (match := EPOCH.fullmatch(line))]
        self.assertEqual(epochs, ["1", "2"], text)
        self.assertRegex(text, r"linnet: test accuracy 9\d\.\d\d %; report: ")

    def test_a_shell_cell_draws_the_progress_in_one_line(self):
        text = self.run_cell("!{}".format)
        self.check(text)
        self.assertRegex(text, "\r" + DRAWN)
        self.assertFalse([line for line in shown(text) if re.match(DRAWN, line)])

    def test_a_subprocess_writes_plain_lines(self):
        text = self.run_cell(lambda command: (
            "import subprocess\n"
            f"run = subprocess.run({command.split()!r}, capture_output=True, text=True)\n"
            "print(run.stderr, run.stdout)"))
        self.check(text)
        self.assertNotIn("\r", text)


if __name__ == "__main__":
    unittest.main()
