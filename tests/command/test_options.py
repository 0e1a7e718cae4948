# SPDX-License-Identifier: Apache-2.0
"""Every option of every command, with every kind of input: it changes something, or is refused by its name."""
import concurrent.futures
import json
import random
import re
import shutil
import subprocess
import unittest

import command

# Options that change nothing that can be seen, and why.
QUIET = {
    "--help": "it is asked for by test_sentences",
    "--threads": "the same bits with any number of processors",
    "--tune": "the fastest engine may be the same",
    "--decimal": "what is found in these tables",
    "--separator": "what is found in these tables",
    "--task": "what is found in these tables",
    "--decoders": "the same samples with any number of threads",
    "--prefetch": "the same batches however many are read ahead",
    "--force": "a permission that these classes do not need",
    "--deterministic": "of a GPU",
    "--device": "auto is the CPU here",
    "--precision": "tf32 is fp32 on a CPU",
    "--memory-limit": "more than the training needs",
    "--recompute": "the same weights with less memory; nothing here is large enough",
    "--side-by-side": "the same weights, computed at the same time",
    "--checkpoint-every": "the last checkpoint is that of the epoch",
    "--keep-checkpoints": "one epoch has one checkpoint",
    "--on-failed-save": "nothing fails here",
    "--on-bad-image": "no image is bad here",
    "--save-best": "the first epoch is the best one",
    "--save-last": "the last epoch is the best one",
    "--patience": "one epoch is not waited for",
    "--streamed": "the same batches, read one by one",
    "--sync-batch-norm": "no network here has several shards",
    "--ignore-index": "no label is left out here",
    "--header": "the first line is one",
    "--no-cache": "the same text, more slowly",
    "--split": "the classes are drawn alike in so few samples",
    "--channels": "these images are grey",
    "--quiet": "is about standard error",
    ("predict", "--resize"): "the size of these images",
    "--class-weights": "the losses of these classes hardly differ",
    ("predict", "--batch"): "the same bits in any batch",
    ("evaluate", "--batch"): "the same bits in any batch",
    ("features", "--batch"): "the same bits in any batch",
    ("quantize", "--batch"): "the same bits in any batch",
    ("photos", "--part"): "a folder has a training set alone",
    ("columns", "--text"): "the column of the training",
    ("columns", "--target"): "the column of the training",
    ("series", "--spreadsheet"): "no text here begins with =",
    ("onnx", "--shape"): "the shape that the file has",
}
# Words of an error that names the option in another way.
OTHER_WORDS = {"--one-sample": "open", "--constant": "input", "--from": "network", "--past": "number", "--augment": "augmentation",
               "--dtype": "network", "--json": "network"}


VALUES = {
    "--activation": "relu", "--augment": "flip", "--average": "0.9", "--batch": "7", "--bucket": "1MiB",
    "--c": "c", "--channels": "1", "--checkpoint-every": "epoch", "--class-weights": "auto", "--classes": "classes.txt",
    "--column": "x", "--constant": "input=1", "--context": "4", "--conv-engine": "legacy", "--cost": "FP=1,FN=2", "--data": "points", "--decimal": ".",
    "--decoders": "2", "--deterministic": "off", "--device": "auto", "--disable-pass": "fuse_bias_grad",
    "--dropout": "0.3", "--dtype": "f16", "--dump": "graph", "--entity": "g", "--epochs": "2", "--export": "exported", "--folds": "2",
    "--freeze": "*bias*", "--from": "m-toml", "--function": "m.py", "--future": "2", "--generations": "3", "--gpu": "h100", "--graph": "off",
    "--group": "g", "--heads": "2", "--host": "localhost", "--html": "runs.html", "--ignore": "z", "--ignore-index": "9",
    "--image-format": "bmp", "--image-size": "6", "--keep-checkpoints": "1", "--known": "x",
    "--label-smoothing": "0.1", "--layer": "dense_1", "--layers": "2", "--length": "9", "--log": "csv", "--loss": "mean_squared_error", "--lr": "0.01",
    "--maximize": "y", "--memory-limit": "1GiB", "--minimize": "y", "--missing": "median", "--missing-text": "a",
    "--mode": "infer", "--name": "other", "--network": "mlp", "--on-bad-image": "skip", "--on-failed-save": "continue",
    "--onnx": "m.onnx", "--opset": "18", "--optimizer": "sgd", "--out": "elsewhere", "--output": "out.csv", "--part": "train",
    "--past": "4", "--patience": "2", "--pixels": "imagenet", "--points": "3", "--population": "8", "--port": "0",
    "--precision": "tf32", "--prefetch": "2", "--prompt": "cat", "--prompt-file": "corpus.txt", "--range": "x=0..1", "--rank-deadline": "5", "--reduce": "fast",
    "--rename": "a=b", "--repeats": "2", "--replace-head": "2", "--report": "page.html", "--resize": "8", "--resume": "none",
    "--rows": "5", "--samples": "8", "--scale": "min_max", "--schedule": "cosine", "--season": "2", "--seed": "5",
    "--separator": ",", "--shape": "input=1,4", "--shards": "2", "--size": "6", "--split": "random", "--steps": "6", "--stride": "2",
    "--subject": "x <= 0.2", "--target": "label", "--task": "classification", "--temperature": "5", "--test": "0.3", "--text": "text",
    "--threads": "1", "--time": "t", "--to": "linnet", "--top-k": "1", "--type": "x=category", "--until": "nothing", "--validation": "0.3",
    "--width": "6", "--workload": "mnist-cnn", "--ranks": "1", "--quantile": "0.9", "--weights": "w.safetensors"}
FLAGS = {"--drop-last", "--force", "--header", "--help", "--int8", "--json", "--no-cache", "--no-header", "--non-strict", "--one-sample", "--recompute",
         "--save-best", "--save-last", "--side-by-side", "--streamed", "--sync-batch-norm", "--tune"}

OF_DEVICES = {"--graph", "--conv-engine", "--deterministic", "--device", "--precision", "--tune", "--threads"}
# Options of `train` that do not look at the kind of the data: once, with a table.
ANY_DATA = {"--average", "--batch", "--checkpoint-every", "--deterministic", "--device", "--disable-pass",
            "--drop-last", "--epochs", "--graph", "--conv-engine", "--json", "--keep-checkpoints", "--log", "--lr",
            "--memory-limit", "--on-failed-save", "--optimizer", "--out", "--patience", "--precision", "--recompute",
            "--resume", "--save-best", "--save-last", "--schedule", "--seed", "--shards", "--side-by-side",
            "--sync-batch-norm", "--threads", "--tune", "--rank-deadline", "--reduce", "--bucket"}

TIMES = re.compile(r"seconds|_per_second|bytes|folder|time|machine|commit")

NETWORK = command.POINTS % "" + "[training]\nepochs = 1\n"


def untimed(value):
    if isinstance(value, dict):
        return {key: untimed(inner) for key, inner in value.items() if not TIMES.search(key)}
    return [untimed(inner) for inner in value] if isinstance(value, list) else value


class Options(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        case = command.CommandTest()
        case.setUp()
        cls.addClassCleanup(case.doCleanups)
        cls.case, cls.folder = case, case.folder
        rng = random.Random(1)
        rows = [(rng.random(), rng.random(), "abc"[i % 3], i % 3 == 0) for i in range(30)]
        cls.write("t.csv", ["x,z,g,label"] + [f"{x},{z},{g},{'yes' if y else 'no'}" for x, z, g, y in rows] + [",0.5,a,no"])
        cls.write("v.csv", ["x,z,g,y"] + [f"{x},{z},{g},{x + z}" for x, z, g, y in rows] + [",0.5,a,1"])
        cls.write("s.csv", ["t,x,y"] + [f"2024-01-{i + 1:02},{x},{x + z}" for i, (x, z, *_) in enumerate(rows)])
        cls.write("classes.txt", ["no", "yes"])
        words = "good fine bad poor day film"
        cls.write("texts.tsv", [f"{'yes' if i % 2 else 'no'}\t{words} {'good fine' if i % 2 else 'bad poor'} film"
                                for i in range(24)])
        cls.write("texts.csv", ["text,label"] + [f"{words} {'good' if i % 2 else 'bad'},{'yes' if i % 2 else 'no'}"
                                                 for i in range(24)])
        for kind in ("cats", "dogs"):
            for i in range(12):
                path = cls.folder / "photos" / kind / f"{i}.png"
                path.parent.mkdir(parents=True, exist_ok=True)
                path.write_bytes(command.png([rng.randrange(256) for _ in range(64)], 8, 8))
        command.write_points(cls.folder / "points")
        cls.write("net.toml", NETWORK.splitlines())
        cls.write("corpus.txt", ["the cat sat on the mat"] * 12)
        cls.kinds = {"table": ["t.csv", "--target", "label"],
                     "values": ["v.csv", "--target", "y"],
                     "series": ["s.csv", "--target", "y", "--past", "3"],
                     "photos": ["photos"],
                     "texts": ["texts.tsv"],
                     "columns": ["texts.csv", "--text", "text", "--target", "label"],
                     "toml": ["net.toml"]}
        for kind, data in cls.kinds.items():
            case.run_linnet("train", *data, "--epochs", 1, "--threads", 1, "--out", "m-" + kind)
        case.run_linnet("export", "m-toml", "--onnx", "net.onnx")
        case.run_linnet("train", "corpus.txt", "--task", "language", "--context", 8, "--layers", 1, "--width", 4, "--heads", 1,
                        "--epochs", 1, "--threads", 1, "--out", "m-language")

    @classmethod
    def write(cls, name, lines):
        (cls.folder / name).write_text("\n".join(lines) + "\n")

    @classmethod
    def options_of(cls, *words):
        out, _ = cls.case.run_linnet(*words, "--help")
        return sorted(set(re.findall(r"^  (?:-\w, ?)?(--[a-z][\w-]*)", out, re.MULTILINE)))

    def outcome(self, arguments, number):
        """Exit status, standard error, and what was printed and written, in a folder of links to the data."""
        place = self.folder / f"work {number}"
        place.mkdir()
        try:
            before = set()
            for path in self.folder.iterdir():
                if not path.name.startswith("work "):
                    (place / path.name).symlink_to(path)
                    before.add(path.name)
            done = subprocess.run([command.LINNET, *map(str, arguments)], cwd=place, capture_output=True, text=True,
                                  timeout=120)
            written = {}
            for path in sorted(place.rglob("*")):
                name = path.relative_to(place)
                if name.parts[0] in before or not path.is_file():
                    continue
                if name.name in ("summary.json", "metrics.json"):
                    written[str(name)] = untimed(json.loads(path.read_text()))
                elif name.suffix in (".safetensors", ".csv", ".npy", ".c", ".onnx", ".html", ".npz"):
                    written[str(name)] = path.read_bytes() if name.name != "report.html" else b""
                elif name.name not in ("run.json", "history.jsonl", "progress.json"):
                    written[str(name)] = b""
            out = done.stdout
            try:
                out = untimed(json.loads(out))
            except ValueError:
                pass
            return done.returncode, done.stderr, (out, written)
        finally:
            shutil.rmtree(place)

    def check(self, words, cases, skipped=()):
        """Each option with each case's arguments, against the case alone."""
        runs = []
        for name, arguments in cases.items():
            runs.append((name, None, [*words, *arguments]))
            for option in self.options_of(*words):
                if option in arguments or option in skipped or option in OF_DEVICES and words != ["train"] or \
                        option in ANY_DATA and words == ["train"] and name != "table":
                    continue
                value = [] if option in FLAGS or option not in VALUES else [VALUES[option]]
                runs.append((name, option, [*words, *arguments, option, *value]))
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            outcomes = list(pool.map(lambda run: self.outcome(run[1][2], run[0]), enumerate(runs)))
        alone = {name: outcome for (name, option, _), outcome in zip(runs, outcomes) if option is None}
        for (name, option, arguments), (status, err, result) in zip(runs, outcomes):
            with self.subTest(command=" ".join(map(str, arguments))):
                if option is None:
                    self.assertEqual(status, 0, err)
                elif status != 0:
                    self.assertEqual(status, 2, err)
                    words_of_it = (option, VALUES.get(option, option), option.replace("--no-", "--"),
                                   option.strip("-").replace("-", " "), OTHER_WORDS.get(option, option))
                    self.assertTrue(any(each in err.replace("_", " ") for each in words_of_it), err)
                elif not (option in QUIET or (words[0], option) in QUIET or (name, option) in QUIET):
                    self.assertNotEqual(result, alone[name][2], f"{option} did nothing")

    def test_train(self):
        more = ["--epochs", 1, "--threads", 1, "--out", "run"]
        self.check(["train"], {name: [*data, *more] for name, data in self.kinds.items()
                                if name not in ("values", "columns")}, ("--resume",))

    def test_cross_validation(self):
        self.check(["train"], {"folds": [*self.kinds["table"], "--folds", 2, "--epochs", 1, "--threads", 1]},
                   ANY_DATA - {"--log", "--checkpoint-every", "--keep-checkpoints", "--on-failed-save"})

    def test_predict(self):
        self.check(["predict"], {"table": ["m-table", "t.csv"], "series": ["m-series", "s.csv"],
                                 "photos": ["m-photos", "photos/cats/1.png"],
                                 "texts": ["m-texts", "good film"], "columns": ["m-columns", "texts.csv"],
                                 "arrays": ["m-toml", "points/x_test.npy"]})

    def test_evaluate(self):
        self.check(["evaluate"], {name: ["m-" + name, "--data", data] for name, data in (
            ("table", "t.csv"), ("series", "s.csv"), ("photos", "photos"), ("texts", "texts.tsv"),
            ("columns", "texts.csv"), ("toml", "points"))})

    def test_quantize(self):
        self.check(["quantize"], {name: ["m-" + name, "--data", data, "--output", "q.safetensors"] for name, data in (
            ("table", "t.csv"), ("photos", "photos"), ("toml", "points"))})

    def test_models(self):
        self.check(["features"], {"photos": ["m-photos", "photos/cats", "--output", "f.npy"],
                                  "arrays": ["m-toml", "points/x_test.npy", "--output", "f.npy"]})
        self.check(["importance"], {"table": ["m-table", "t.csv", "--repeats", 3]})
        self.check(["optimize"], {"values": ["m-values", "--minimize", "y", "--generations", 2, "--population", 6]})
        self.check(["export"], {"c": ["m-toml", "--c", "c"], "onnx": ["m-toml", "--onnx", "m.onnx"],
                                "function": ["m-toml", "--function", "m.py"]})
        self.check(["convert"], {"onnx": ["net.onnx", "--output", "m.safetensors"]})

    def test_generate(self):
        self.check(["generate"], {"language": ["m-language", "--length", 20]})

    def test_networks(self):
        self.check(["summary"], {"toml": ["net.toml"], "run": ["m-toml"]}, ("--workload",))
        self.check(["plan"], {"toml": ["net.toml"], "dump": ["net.toml", "--dump", "plan"]}, ("--workload",))
        self.check(["max-batch"], {"train": ["net.toml", "--memory-limit", "1MiB"],
                                   "infer": ["net.toml", "--memory-limit", "1MiB", "--mode", "infer"]},
                   ("--workload", "--verify"))

    def test_data(self):
        self.check(["data", "info"], {"table": ["t.csv"], "photos": ["photos"], "arrays": ["points"]})
        self.check(["data", "convert"], {"photos": ["photos", "made", "--to", "npy"]})
        self.check(["runs"], {"runs": ["m-table", "m-values"]}, ("--serve",))


if __name__ == "__main__":
    unittest.main()
