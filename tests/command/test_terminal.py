# SPDX-License-Identifier: Apache-2.0
"""Progress on terminals of every kind, in notebooks (a terminal that knows colours but no other escape
sequences), and in logs."""
import fcntl
import os
import pty
import re
import struct
import subprocess
import termios
import unittest

import command


def screen(text):
    """The lines that a terminal shows, which knows carriage returns, newlines and colours alone."""
    lines = []
    for written in re.sub(r"\x1b\[\d*m", "", text).replace("\r\n", "\n").split("\n"):
        line = ""
        for part in written.split("\r"):
            line = part + line[len(part):]
        lines.append(line.rstrip())
    return lines


class Terminal(command.CommandTest):
    def setUp(self):
        super().setUp()
        command.write_mnist(self.folder / "patterns")

    def trained(self, columns, *arguments, **environment):
        """What a training, or another command, shows on a terminal of so many columns; 0: one that does
        not say."""
        if not arguments:
            arguments = ("train", "--workload", "mnist-cnn", "--data", "patterns", "--epochs", "3",
                         "--batch", "8", "--threads", "1", "--device", "cpu", "--json", "--out",
                         "-".join(["run", str(columns), *environment]))
        master, slave = pty.openpty()
        self.addCleanup(os.close, master)
        fcntl.ioctl(slave, termios.TIOCSWINSZ, struct.pack("HHHH", 24 if columns else 0, columns, 0, 0))
        process = subprocess.Popen(
            [command.LINNET, *arguments], cwd=self.folder, stdout=subprocess.DEVNULL, stderr=slave,
            env={**os.environ, "TERM": "xterm-color", "LC_ALL": "C", **environment})
        os.close(slave)
        shown = b""
        while True:
            try:
                more = os.read(master, 4096)
            except OSError:  # it has ended
                break
            if not more:
                break
            shown += more
        self.assertEqual(process.wait(timeout=60), 0, shown)
        return shown.decode()

    def assert_epochs(self, lines):
        """The line of each epoch is there, whole, with nothing left of what was drawn before."""
        epochs = [line for line in lines if re.match(r"epoch \d/3: loss", line)]
        self.assertEqual(len(epochs), 3, lines)
        for line in epochs:
            self.assertRegex(line, r"; \d+\.\d\d s, \d+ samples/s$")

    def test_a_line_is_drawn_again(self):
        for columns in (0, 40, 200):
            with self.subTest(columns=columns):
                text = self.trained(columns)
                self.assertEqual(set(re.findall(r"\x1b.[^a-zA-Z]*[a-zA-Z]", text)), set())
                drawn = re.findall(r"\r(epoch \d/3 [^\r\n]*)", text)
                self.assertTrue(drawn, text)
                for line in drawn:
                    self.assertLess(len(line), columns or 80)
                    self.assertIn("[", line)
                self.assertEqual("samples/s" in drawn[0], columns != 40, drawn)
                lines = screen(text)
                self.assert_epochs(lines)
                self.assertFalse([line for line in lines if " left" in line], lines)

    def test_colours_are_the_only_escape_sequences(self):
        text = self.trained(100, LC_ALL="C.UTF-8")
        self.assertEqual(set(re.findall(r"\x1b.[^a-zA-Z]*[a-zA-Z]", text)),
                         {"\x1b[32m", "\x1b[2m", "\x1b[0m"})
        self.assertIn("━━━━", text)
        self.assert_epochs(screen(text))
        plain = self.trained(100, LC_ALL="C.UTF-8", NO_COLOR="1")
        self.assertNotIn("\x1b", plain)
        self.assertRegex(plain, "[━─]{8}")

    def test_a_benchmark_shows_its_epochs(self):
        arguments = ("bench", "mnist-cnn", "--dataset", "patterns", "--epochs", "1000", "--batch", "8",
                     "--threads", "1", "--device", "cpu")
        text = self.trained(100, *arguments)
        self.assertRegex(text, r"\rtiming \[=+ +\] \d+/\d+ epochs \(\d+ %\)")
        self.assertFalse([line for line in screen(text) if "timing" in line], text)

    def test_logs_get_plain_lines(self):
        for environment in ({"TERM": "dumb"}, {"CI": "true"}):
            with self.subTest(**environment):
                text = self.trained(0, **environment).replace("\r\n", "\n")  # the terminal's own
                self.assertFalse(re.findall(r"[^\n\x20-\x7e]", text), text)
                self.assertRegex(text, r"(?m)^epoch 1/3 +\d+ %  \d+ samples/s, loss")
                self.assert_epochs(text.split("\n"))
        _, err = self.run_linnet("train", "--workload", "mnist-cnn", "--data", "patterns", "--epochs", 3,
                                 "--device", "cpu", "--json", "--out", "piped")
        self.assertFalse(re.findall(r"[^\n\x20-\x7e]", err), err)
        self.assert_epochs(err.split("\n"))


if __name__ == "__main__":
    unittest.main()
