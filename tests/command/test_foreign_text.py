# SPDX-License-Identifier: Apache-2.0
"""Names that somebody else wrote: of classes, columns, files, folders and tensors. None of their
control characters reaches a terminal or breaks a line; files hold them as they are."""
import csv
import json
import os
import re
import struct
import unittest

import command

RED = "\x1b[31mred"  # a colour of terminals
TITLE = "\x1b]0;owned\x07"  # the title of their window
TURNED = "\u202egnp.exe"  # from right to left
CONTROLS = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u202a-\u202e\u2066-\u2069]")


class ForeignText(command.CommandTest):
    def assert_safe(self, *arguments, status=0):
        """Nothing of what the command prints moves a cursor; returns both streams."""
        out, err = self.run_linnet(*arguments, status=status)
        self.assertIsNone(CONTROLS.search(out + err), repr(out + err))
        return out, err

    def write_table(self, classes):
        with open(self.folder / "table.csv", "w", newline="") as file:
            rows = csv.writer(file)
            rows.writerow([f"length{TITLE}", f"width\t{RED}", "kind"])
            for i in range(90):
                name = classes[i % len(classes)]
                rows.writerow([i % len(classes) * 3 + i / 90, i % 7, name])

    def train_table(self, classes):
        self.write_table(classes)
        self.run_linnet("train", "table.csv", "--target", "kind", "--epochs", 2, "--threads", 1,
                        "--device", "cpu", "--out", "run")

    def test_tables(self):
        classes = [f"a\tb{RED}", f"c\nd{TITLE}", TURNED]
        self.write_table(classes)
        self.assert_safe("data", "info", "table.csv")
        self.assert_safe("table.csv")
        self.assert_safe("train", "table.csv", "--target", "no such\x1b[2J", status=2)
        self.train_table(classes)
        self.assert_safe("predict", "run", "table.csv", "-o", "all.csv")
        out, _ = self.assert_safe("predict", "run", "table.csv")
        self.assertEqual({line.count("\t") for line in out.splitlines()}, {2}, out)
        self.assertEqual(out.count("\n"), 90)
        self.assertIn("\\x1B[31mred", out)
        for arguments in (("evaluate", "run", "--data", "table.csv"), ("runs", "."),
                          ("summary", "run"), ("importance", "run", "table.csv"), ("run",)):
            self.assert_safe(*arguments)
        # Files and JSON hold the names themselves.
        with open(self.folder / "all.csv", newline="") as file:
            self.assertEqual({row[1] for row in list(csv.reader(file))[1:]} - set(classes), set())
        shown = self.run_json("evaluate", "run", "--data", "table.csv")
        self.assertEqual([one["class"] for one in shown["metrics"]["classes"]], sorted(classes))
        other = self.folder / "other.csv"
        other.write_text((self.folder / "table.csv").read_text().replace(TURNED, TITLE))
        self.assert_safe("evaluate", "run", "--data", "other.csv", status=2)

    def test_spreadsheets(self):
        """By default files hold names as they are, since they are joined by them."""
        classes = ["=1+2", "@sum", "-x"]
        self.train_table(classes)
        names = {}
        for name, option in (("plain", ()), ("safe", ("--spreadsheet",))):
            self.run_linnet("predict", "run", "table.csv", "-o", f"{name}.csv", *option)
            with open(self.folder / f"{name}.csv", newline="") as file:
                head, *rows = csv.reader(file)
            names[name] = set(head[2:]) | {row[1] for row in rows}
            self.assertTrue(all(float(cell) <= 1 for row in rows for cell in row[2:]))
        self.assertEqual(names["plain"], set(classes))
        self.assertEqual(names["safe"], {f"'{one}" for one in classes})
        for output in ((), ("-o", "all.npy")):
            self.assert_error("--spreadsheet is for tables of predictions; name one with --output "
                              "FILE.csv", "predict", "run", "table.csv", *output, "--spreadsheet")

    def test_folders_and_files(self):
        for kind in (f"cats{RED}", f"do\tgs{TITLE}"):
            folder = self.folder / "images" / kind
            folder.mkdir(parents=True)
            for i in range(3):
                (folder / f"{i}\n.png").write_bytes(command.png(bytes([40 * i] * 64), 8, 8))
        (folder / f"bad{TITLE}.png").write_bytes(b"no image")
        self.assert_safe("images")
        self.assert_safe("data", "info", "images", status=2)
        self.assert_safe("train", "images", status=2)
        self.assert_safe("predict", f"run{RED}", "x.png", status=2)
        self.assert_safe(f"no{TITLE}", status=2)

    def test_weights(self):
        """100,000 tensors of unknown names are no reason for hours, nor for megabytes of a sentence."""
        header = {f"{RED}\n{i}.weight": {"dtype": "F32", "shape": [1],
                                         "data_offsets": [4 * i, 4 * i + 4]}
                  for i in range(100_000)}
        text = json.dumps(header).encode()
        (self.folder / "many.safetensors").write_bytes(
            struct.pack("<Q", len(text)) + text + bytes(400_000))
        _, err = self.assert_safe("convert", "many.safetensors", "--network", "resnet18", "-o",
                                  "out.safetensors", status=2)
        self.assertLess(len(err), 4200)
        self.assertEqual(err.count("\n"), 1)
        self.assertFalse((self.folder / "out.safetensors").exists())

    def test_bytes_that_are_no_text(self):
        name = os.fsencode(self.folder) + b"/caf\xe9\x9b.toml"
        _, err = self.assert_safe(os.fsdecode(name), status=2)
        self.assertIn("caf\\xE9\\x9B.toml", err)


if __name__ == "__main__":
    unittest.main()
