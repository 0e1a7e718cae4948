# SPDX-License-Identifier: Apache-2.0
"""oneDNN's library (39 MB) is opened where a plan needs it, and only there."""
import os
import pathlib
import subprocess
import unittest

import command

FILES = ("libdnnl.so.2", "libdnnl.so.3")
LINKED = "libdnnl" in subprocess.run(["ldd", command.LINNET], capture_output=True, text=True).stdout
WIDE = """[network]
input = [4]
layers = [{type = "dense", units = 200}, {type = "dense", units = 2}]
[data]
path = "points"
"""


@unittest.skipIf(LINKED, "this build links oneDNN (LINNET_LOAD_ONEDNN)")
class OneDnn(command.CommandTest):
    def opened(self, *arguments):
        """Whether the process opens it: the loader writes down what it does."""
        log = self.folder / "loader"
        environment = {**os.environ, "LD_DEBUG": "files", "LD_DEBUG_OUTPUT": str(log)}
        self.run_linnet(*arguments, env=environment)
        lines = "".join(file.read_text() for file in self.folder.glob("loader.*"))
        self.assertIn("libc.so.6", lines)
        return "libdnnl" in lines

    def write_wide(self):
        command.write_points(self.folder / "points")
        (self.folder / "wide.toml").write_text(WIDE)

    def test_a_small_network_opens_none(self):
        command.write_mnist(self.folder / "patterns")
        self.assertFalse(self.opened("train", "--workload", "mnist-cnn", "--data", "patterns", "--epochs", 1,
                                     "--out", "run", "--device", "cpu"))
        self.assertFalse(self.opened("evaluate", "run", "--data", "patterns"))

    def test_a_wide_layer_opens_it(self):
        self.write_wide()
        self.assertTrue(self.opened("train", "wide.toml", "--epochs", 1, "--device", "cpu"))

    def test_where_it_cannot_be_opened(self):
        """An empty file stands before it."""
        broken = self.folder / "broken"
        broken.mkdir()
        for name in FILES:
            pathlib.Path(broken, name).touch()
        environment = {**os.environ, "LD_LIBRARY_PATH": str(broken)}
        self.write_wide()
        _, err = self.run_linnet("train", "wide.toml", "--epochs", 1, "--device", "cpu", status=2, env=environment)
        self.assertRegex(err, r"^linnet: error: the CPU needs oneDNN for this network, and it cannot be used: "
                              r".*libdnnl\.so\.\d: file too short\n$")
        command.write_mnist(self.folder / "patterns")
        self.run_linnet("train", "--workload", "mnist-cnn", "--data", "patterns", "--epochs", 1, "--device", "cpu",
                        env=environment)
        out, _ = self.run_linnet("devices", env=environment)
        self.assertIn("bf16: operands rounded, fp32 arithmetic", out)


if __name__ == "__main__":
    unittest.main()
