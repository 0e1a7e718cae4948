# SPDX-License-Identifier: Apache-2.0
"""`linnet export --function`: predictions in Python, JavaScript, Java and PHP, against the model's own."""
import array
import csv
import importlib
import json
import random
import shutil
import subprocess
import sys
import unittest

import command

# Small files for interpreters, and few corners of curves for finite differences.
FEW_MEMBERS = ("--validation-folds", 1)

# Each prints a line of numbers for each line of rows.tsv; "list" calls the function, predict() or jacobian(), with a
# line's numbers.
DRIVERS = {
    "py": ([sys.executable], "drive.py", """
import Model, sys
def flat(y):
    return [y] if isinstance(y, float) else [v for part in (y.values() if isinstance(y, dict) else y) for v in flat(part)]
lines = [line.rstrip("\\n").split("\\t") for line in open("rows.tsv", encoding="utf-8")]
for line in lines[1:]:
    y = getattr(Model, sys.argv[2])([float(v) for v in line] if sys.argv[1] == "list" else dict(zip(lines[0], line)))
    print(*map(repr, flat(y)))
"""),
    "js": (["node"], "drive.js", """
drive(require("./Model.js")[process.argv[3]]);
"""),
    "mjs": (["node"], "drive.mjs", """
import { createRequire } from "module";
import * as model from "./Model.mjs";
const require = createRequire(import.meta.url);
drive(model[process.argv[3]]);
"""),
    "java": (["java"], "Drive.java", """
import java.nio.file.*;
import java.util.*;
public class Drive {
    static String flat(Object y) {
        StringBuilder line = new StringBuilder();
        if (y instanceof double[]) for (double v : (double[]) y) line.append(v).append(' ');
        else if (y instanceof double[][]) for (double[] v : (double[][]) y) line.append(flat(v));
        else if (y instanceof Map) for (Object v : ((Map<?, ?>) y).values()) line.append(flat(v));
        else line.append(y).append(' ');
        return line.toString();
    }
    public static void main(String[] arguments) throws Exception {
        List<String> lines = Files.readAllLines(Path.of("rows.tsv"));
        String[] names = lines.get(0).split("\\t", -1);
        for (String line : lines.subList(1, lines.size())) {
            String[] fields = line.split("\\t", -1);
            Map<String, Object> row = new HashMap<>();
            for (int i = 0; i < fields.length; ++i) row.put(names[i], fields[i]);
            double[] list = arguments[0].equals("list") ? Arrays.stream(fields).mapToDouble(Double::parseDouble).toArray() : null;
            System.out.println(flat(Model.CALL));
        }
    }
}
"""),
    "php": (["php"], "drive.php", """<?php
require "Model.php";
$lines = array_map(fn($line) => explode("\\t", $line), file("rows.tsv", FILE_IGNORE_NEW_LINES));
foreach (array_slice($lines, 1) as $line) {
    $y = [Model::{$argv[2]}($argv[1] == "list" ? array_map("floatval", $line) : array_combine($lines[0], $line))];
    $all = [];
    array_walk_recursive($y, function ($v) use (&$all) { $all[] = json_encode($v); });
    echo implode(" ", $all), "\\n";
}
"""),
}
SCRIPT = """
function drive(predict) {
    const lines = require("fs").readFileSync("rows.tsv", "utf8").split("\\n").filter(l => l).map(l => l.split("\\t"));
    for (const line of lines.slice(1)) {
        const row = Object.fromEntries(lines[0].map((name, i) => [name, line[i]]));
        const y = predict(process.argv[2] === "list" ? line.map(Number) : row);
        console.log(flat(y).join(" "));
    }
}
function flat(y) {
    return typeof y === "object" ? Object.values(y).flatMap(flat) : [y];
}
"""
COLOURS = ["red", "white", "bl\u00fc\u00df", 'a "quoted" $one\\']


def write_table(path, rows=150):
    """Numbers, of which some are missing, categories, of which one has many, booleans, dates, and two targets."""
    rng = random.Random(1)
    with open(path, "w", newline="", encoding="utf-8") as file:
        writer = csv.writer(file)
        writer.writerow(["x", "wide", "skew", "colour", "code", "big", "seen", "kind", "y", "z",
                         'a = b ? "c" : (d'])
        for i in range(rows):
            kind = rng.choice(["rose", "tulip", "lily"])
            x = rng.gauss({"rose": 1, "tulip": 4, "lily": 7}[kind], 1)
            writer.writerow([
                "NA" if i % 17 == 3 else f"{x:.4f}", rng.randrange(10, 99), f"{rng.gauss(0, 1) ** 3 * 100:.3f}",
                "" if i % 23 == 5 else rng.choice(COLOURS), f"k{rng.randrange(40)}", rng.choice(["yes", "no"]),
                f"{1 + i % 28:02}/{1 + i % 12:02}/2024", kind, f"{1e7 + x:.4f}", f"{-x * x:.4f}", i * 7 % 50])


class Functions(command.CommandTest):
    def rows(self, name):
        with open(self.folder / name, newline="", encoding="utf-8") as file:
            return list(csv.DictReader(file))

    def write_rows(self, rows):
        lines = ["\t".join(rows[0])] + ["\t".join(row.values()) for row in rows]
        (self.folder / "rows.tsv").write_text("\n".join(lines) + "\n", encoding="utf-8")

    def predicted(self, model, data):
        """What the model predicts, a list for each row."""
        self.run_linnet("predict", model, data, "--output", "own.npy")
        content = (self.folder / "own.npy").read_bytes()
        header = content[10:10 + int.from_bytes(content[8:10], "little")].decode()
        values = array.array("d" if "f8" in header else "f", content[10 + len(header):])
        count = eval(header)["shape"][0]
        return [list(values[i * len(values) // count:(i + 1) * len(values) // count]) for i in range(count)]

    def answered(self, model, extension, how="row", function="predict"):
        """What an exported function says of rows.tsv."""
        program, driver, text = DRIVERS[extension]
        if shutil.which(program[0]) is None:
            self.skipTest(f"{program[0]} is not installed")
        more = ["--jacobian"] if function == "jacobian" else []
        out, _ = self.run_linnet("export", model, "--function", f"Model.{extension}", *more)
        self.assertEqual(out, f"Model.{extension}: predict(){' and jacobian()' if more else ''} of a "
                              f"{'row' if how == 'row' else 'sample'}\n")
        text = text.replace("CALL", f"{function}({'list' if how == 'list' else 'row'})")
        (self.folder / driver).write_text(text + (SCRIPT if "js" in extension else ""))
        started = [*program, driver, how, function]
        if extension == "java":  # the source mode takes one file: the driver beside the class
            model_text = (self.folder / "Model.java").read_text().replace("public final class", "final class")
            imports = "".join(line + "\n" for line in text.split("\n") if line.startswith("import"))
            (self.folder / driver).write_text(imports + text.replace(imports, "") + model_text.replace("import java.util.*;", ""))
        done = subprocess.run(started, cwd=self.folder, capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return [[float(value) for value in line.split()] for line in done.stdout.splitlines()]

    def assert_same(self, model, data, how="row", scale=1.0):
        if how == "row":  # the first rows are enough for interpreters
            lines = (self.folder / data).read_text(encoding="utf-8").split("\n")
            data = "first.csv"
            (self.folder / data).write_text("\n".join(lines[:41]) + "\n", encoding="utf-8")
            self.write_rows(self.rows(data))
        wanted = self.predicted(model, data)
        for extension in DRIVERS:
            with self.subTest(extension):
                found = self.answered(model, extension, how)
                self.assertEqual([len(row) for row in found], [len(row) for row in wanted])
                worst = max(abs(a - b) for x, y in zip(found, wanted) for a, b in zip(x, y))
                self.assertLess(worst, 1e-5 * scale)

    def assert_derivatives(self, model, rows, scale=1.0):
        """jacobian() of rows, columns by name or numbers as texts, beside finite differences of predict() in Python."""
        how = "row" if isinstance(rows[0], dict) else "list"
        self.write_rows(rows if how == "row" else [{str(k): v for k, v in enumerate(row)} for row in rows])
        self.run_linnet("export", model, "--function", f"Own_{model}.py", "--jacobian")
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        own = importlib.import_module(f"Own_{model}")
        step = 1e-3
        wanted = []
        for row in rows:
            row = row if how == "row" else [float(value) for value in row]
            names = own.jacobian(row) if how == "row" else range(len(row))
            if how == "row" and isinstance(next(iter(names.values())), dict):
                names = next(iter(names.values()))
            columns = []
            for name in names:
                def moved(by):
                    other = row.copy()
                    if other[name] != "NA":
                        other[name] = float(other[name]) + by
                    y = own.predict(other)
                    return list(y.values()) if isinstance(y, dict) else y if isinstance(y, list) else [y]
                columns.append([(a - b) / (2 * step) for a, b in zip(moved(step), moved(-step))])
            wanted.append([column[i] for i in range(len(columns[0])) for column in columns])
        self.assertGreater(max(abs(value) for row in wanted for value in row), 1e-3)
        for extension in DRIVERS:
            with self.subTest(extension):
                found = self.answered(model, extension, how, "jacobian")
                self.assertEqual([len(row) for row in found], [len(row) for row in wanted])
                worst = max(abs(a - b) for x, y in zip(found, wanted) for a, b in zip(x, y))
                self.assertLess(worst, 1e-5 * scale)

    def moved_rows(self, *without):
        """Rows whose numbers stand at no corner of a curve, which are at those of training rows."""
        rows = [{name: value for name, value in row.items() if name not in without} for row in self.rows("t.csv")[:4]]
        for row in rows:
            for name in ("x", "wide", "skew", 'a = b ? "c" : (d'):
                row[name] = "NA" if row[name] in ("", "NA") else repr(float(row[name]) + 0.0137)
        return rows

    def train_table(self, *arguments):
        self.run_linnet("train", "t.csv", "--epochs", 3, "--threads", 1, "--device", "cpu", "--out", "run",
                        *(() if "levenberg_marquardt" in arguments else FEW_MEMBERS), *arguments)

    def setUp(self):
        super().setUp()
        write_table(self.folder / "t.csv")

    def test_classes_of_rows(self):
        self.train_table("--target", "kind", "--ignore", "y", "--ignore", "z")
        self.assert_same("run", "t.csv")
        # Python's values instead of texts, and what is unknown.
        sys.path.insert(0, str(self.folder))
        self.addCleanup(sys.path.remove, str(self.folder))
        self.run_linnet("export", "run", "--function", "Typed.py")
        from Typed import predict
        rows = self.rows("t.csv")[:40]
        for row in rows:
            typed = {name: None if value in ("", "NA") else value for name, value in row.items()}
            typed.update(x=float("nan") if row["x"] == "NA" else float(row["x"]), wide=int(row["wide"]),
                         big=row["big"] == "yes")
            self.assertEqual(predict(typed), predict(row))
            self.assertAlmostEqual(sum(predict(row).values()), 1)
        self.assertEqual(predict({**rows[0], "colour": "green"}), predict({**rows[0], "colour": "no colour"}))
        for change, sentence in (({"x": "many"}, "column 'x': expected a finite number; got 'many'"),
                                 ({"x": "1_000"}, "column 'x': expected a finite number; got '1_000'"),
                                 ({"seen": "yesterday"}, "expected a date of three numbers, and perhaps hours, minutes "
                                                         "and seconds, in column seen; got yesterday"),
                                 ({"seen": "01/02/20245"}, "expected a date of three numbers, and perhaps hours, minutes "
                                                           "and seconds, in column seen; got 01/02/20245"),
                                 *(({"seen": text}, "no date in column seen: " + text) for text in (
                                     "30/02/2024", "001/02/2024", "01/02/2024 24:05", "01/02/2024 12:60",
                                     "01/02/2024 12:00:61"))):
            with self.assertRaisesRegex(ValueError, sentence.replace("(", r"\(")):
                predict({**rows[0], **change})
        del rows[0]["x"]
        with self.assertRaisesRegex(ValueError, "the row has no column 'x'"):
            predict(rows[0])

    def test_values_of_rows(self):
        self.train_table("--target", "y", "--target", "z", "--ignore", "kind", "--scale", "quantile", "--scale",
                         "skew=log1p")
        self.assert_same("run", "t.csv", scale=10)

    def test_a_network_by_levenberg_marquardt(self):
        self.train_table("--target", "z", "--ignore", "y", "--ignore", "kind", "--ignore", "code", "--optimizer", "levenberg_marquardt")
        self.assert_same("run", "t.csv", scale=10)

    def test_derivatives_by_columns(self):
        self.train_table("--target", "kind", "--ignore", "y", "--ignore", "z", "--ignore", "a = b ? \"c\" : (d")
        self.assert_derivatives("run", self.moved_rows("y", "z", "kind"))
        import Own_run
        self.assertEqual(list(Own_run.jacobian(self.moved_rows()[3])), ["lily", "rose", "tulip"])
        self.assertEqual(Own_run.jacobian(self.moved_rows()[3])["rose"]["x"], 0)  # it is missing
        self.assertNotEqual(Own_run.jacobian(self.moved_rows()[2])["rose"]["x"], 0)

    def test_derivatives_of_values(self):
        self.run_linnet("train", "t.csv", "--target", "z", "--ignore", "kind", "--ignore", "y", "--scale",
                        "skew=log1p", "--epochs", 3, "--threads", 1, "--device", "cpu", "--out", "value", *FEW_MEMBERS)
        self.assert_derivatives("value", self.moved_rows("y", "z", "kind"), scale=10)
        self.train_table("--target", "z", "--ignore", "y", "--ignore", "kind", "--scale", "wide=quantile")
        self.assert_error("column 'wide' is scaled by quantiles, which have no derivative at their steps; train with "
                          "another --scale", "export", "run", "--function", "m.py", "--jacobian")

    def test_names_that_look_like_calls(self):
        lines = [f"{i},{i * 7 % 50},{i * 11 % 30}" for i in range(60)]
        (self.folder / "calls.csv").write_text("\n".join(["date(UTC),whole_text(x),z", *lines]) + "\n")
        self.run_linnet("train", "calls.csv", "--target", "z", "--epochs", 1, "--threads", 1, "--device", "cpu", "--out", "calls")
        self.assert_same("calls", "calls.csv", scale=10)
        self.assertNotIn("BETWEEN", (self.folder / "Model.py").read_text())

    def test_a_network_of_lists(self):
        command.write_points(self.folder / "points")
        layers = ['"layer_norm"', '"tanh"', '"gelu"', '"sigmoid"', '"elu"', '"selu"', '"silu"', '"softplus"',
                  '"hard_swish"', '"leaky_relu"', '"batch_norm"']
        text = command.POINTS % "".join("{type = %s}, {type = \"dense\", units = 8}, " % layer for layer in layers)
        (self.folder / "net.toml").write_text(text)
        self.run_linnet("train", "net.toml", "--epochs", 2, "--threads", 1, "--device", "cpu", "--out", "lists")
        content = (self.folder / "points/x_test.npy").read_bytes()[128:]
        values = array.array("f", content)
        rows = [{str(k): repr(values[4 * i + k]) for k in range(4)} for i in range(len(values) // 4)]
        self.write_rows(rows)
        self.assert_same("lists", "points/x_test.npy", "list")
        self.assert_derivatives("lists", [list(row.values()) for row in rows[:4]])

    def test_what_is_refused(self):
        self.train_table("--target", "kind", "--ignore", "y", "--ignore", "z")
        self.assert_error("expected a file of Python (.py), JavaScript (.js, .cjs, .mjs), Java (.java) or PHP (.php); "
                          "got '.rb'", "export", "run", "--function", "model.rb")
        self.assert_error("expected a name of a file that names a class of Java, e.g. Flowers; got 'my model'",
                          "export", "run", "--function", "my model.java")
        for name in ("Map.java", "class.java", "String.java", "list.php", "Class.php"):
            self.assert_error(f"expected a name of a file that names a class of {'PHP' if 'php' in name else 'Java'}, "
                              f"e.g. Flowers; got '{name.split('.')[0]}'", "export", "run", "--function", name)
        self.assert_error("linnet export needs --c FOLDER, --onnx FILE or --function FILE; got several",
                          "export", "run", "--function", "m.py", "--c", "c")
        _, err = self.run_linnet("export", "run", "--onnx", "m.onnx", "--jacobian", status=2)
        self.assertIn("has no derivative that a network may hold", err)  # the default network has norms
        self.assert_error("--name is for C files (--c); --function writes another one: leave it out",
                          "export", "run", "--function", "m.py", "--name", "x")
        _, images = self.train(out="images")
        _, err = self.run_linnet("export", images, "--function", "m.py", status=2)
        self.assertIn("cannot be written as Python, which takes dense layers, activations", err)
        self.assertIn("[conv2d '", err)
        self.assertFalse((self.folder / "m.py").exists())


if __name__ == "__main__":
    unittest.main()
