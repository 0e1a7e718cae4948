# SPDX-License-Identifier: Apache-2.0
"""Files that block, never end or are made to take all memory; every run has a limit of time."""
import gzip
import lzma
import os
import resource
import unittest

import command

TOML = """[network]
input = [28, 28, 1]
layers = [{type = "flatten"}, {type = "dense", units = 10}]
[data]
path = "patterns"
[training]
epochs = 1
threads = 1
device = "cpu"
"""
PIPE = "it is a pipe (FIFO), not a regular file"
DEVICE = "it is a device, not a regular file"
DANGLING = "it is a link to 'gone', which does not exist"


class HostileFiles(command.CommandTest):
    def pipe(self, name):
        """A FIFO that nobody writes to."""
        path = self.folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.exists():
            path.unlink()
        os.mkfifo(path)
        return path

    def link(self, name, target):
        path = self.folder / name
        path.symlink_to(target)
        return path

    def test_models(self):
        self.pipe("pipe")
        self.link("dangling.safetensors", "gone")
        (self.folder / "folder.safetensors").mkdir()
        for command_line in (("predict", "{}", "x.png"), ("evaluate", "{}", "--data", "digits"),
                             ("summary", "{}")):
            for path, reason in (("pipe", PIPE), ("/dev/zero", DEVICE),
                                 ("dangling.safetensors", DANGLING)):
                self.assert_error(f"cannot read '{path}': {reason}",
                                  *(part.format(path) for part in command_line))
        self.run_linnet("predict", "folder.safetensors", "x.png", status=2)

    def test_configurations(self):
        (self.folder / "folder.toml").mkdir()
        for path, reason in ((self.pipe("pipe.toml"), PIPE), (self.pipe("pipe"), PIPE),
                             ("/dev/zero", DEVICE), ("folder.toml", "Is a directory"),
                             (self.link("dangling.toml", "gone"), DANGLING)):
            self.assert_error(f"cannot read '{path}': {reason}", "train", path)
        large = self.folder / "large.toml"
        large.write_bytes(b"#" * (1 << 24) + b"\n")
        self.assert_error("cannot read 'large.toml': it has more than 16777216 bytes", "train",
                          "large.toml")

    def test_a_configuration_from_standard_input(self):
        command.write_mnist(self.folder / "patterns", 40, 20)
        self.run_linnet("train", "-", "--out", "run", input=TOML)
        self.assertTrue((self.folder / "run" / "model.safetensors").exists())
        out, _ = self.run_linnet("summary", "-", input=TOML)
        self.assertIn("dense", out)
        with open("/dev/zero", "rb") as endless:
            self.assert_error("cannot read '-': it has more than 16777216 bytes", "train", "-",
                              stdin=endless)

    def test_data(self):
        for data, name in (("idx", "train-images-idx3-ubyte"), ("cifar", "data_batch_1.bin"),
                           ("npy", "x_train.npy"), ("texts", "train.tsv")):
            folder = self.folder / data
            if data == "idx":
                command.write_mnist(folder, 20, 10)
                (folder / name).unlink()
            elif data == "cifar":
                folder.mkdir()
                (folder / "test_batch.bin").write_bytes(bytes(3073))
            self.pipe(f"{data}/{name}")
            self.assert_error(f"cannot read '{data}/{name}': {PIPE}", "train", "--workload",
                              "mnist-cnn", "--data", data, "--out", "run")
        self.pipe("pipe")
        self.run_linnet("train", "--workload", "mnist-cnn", "--data", "pipe", status=2)

    def test_class_names_and_images(self):
        (self.folder / "images" / "a").mkdir(parents=True)
        (self.folder / "images" / "a" / "1.png").write_bytes(command.png(b"\x40" * 16, 4, 4))
        self.pipe("images/a/2.png")
        self.assert_error(f"cannot read 'images/a/2.png': {PIPE}{command.SKIP_IMAGES}", "train", "--workload",
                          "mnist-cnn", "--data", "images", "--out", "run")
        self.pipe("images/classes.txt")
        self.assert_error(f"cannot read 'images/classes.txt': {PIPE}", "train", "--workload",
                          "mnist-cnn", "--data", "images", "--out", "run")

    def test_what_stands_beside_a_model(self):
        _, run = self.train(epochs=1)
        self.pipe("x.png")
        self.assert_error(f"cannot read 'x.png': {PIPE}", "predict", run, "x.png")
        self.assert_error(f"cannot read '/dev/zero': {DEVICE}", "predict", run, "/dev/zero")
        (run / "summary.json").unlink()
        self.pipe(f"{run.name}/summary.json")
        self.assert_error(f"cannot read '{run}/summary.json': {PIPE}", "predict", run, "x.png")

    def limited(self, sentence, *arguments, mebibytes):
        """The command's error where its address space has a limit."""
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (mebibytes << 20, mebibytes << 20))
        self.assert_error(sentence, *arguments, preexec_fn=limit)

    def test_packed_texts_that_are_too_long(self):
        if os.environ.get("LINNET_SANITIZED"):
            self.skipTest("a sanitizer takes terabytes of address space")
        folder = self.folder / "texts"
        folder.mkdir()
        (folder / "test.tsv").write_text("0\tbad\n")
        (folder / "train.tsv.xz").write_bytes(lzma.compress(b"\n" * (1 << 28), preset=0))
        self.limited("'texts/train.tsv.xz' holds no texts", "train", "--workload", "gru-imdb", "--data", "texts",
                     "--out", "run", "--threads", 1, mebibytes=500)

    def test_memory_that_is_short(self):
        if os.environ.get("LINNET_SANITIZED"):
            self.skipTest("a sanitizer takes terabytes of address space")
        folder = self.folder / "large"
        command.write_mnist(folder, 20, 10)
        images = 1 << 20
        for kind, shape, size in (("images-idx3", (images, 28, 28), images * 28 * 28),
                                  ("labels-idx1", (images,), images)):
            (folder / f"train-{kind}-ubyte").unlink()
            with gzip.open(folder / f"train-{kind}-ubyte.gz", "wb", compresslevel=1) as file:
                file.write(command.idx(shape, b""))
                for start in range(0, size, 1 << 24):
                    file.write(bytes(min(1 << 24, size - start)))
        self.limited("'large/train-images-idx3-ubyte.gz' does not fit into memory", "train",
                     "--workload", "mnist-cnn", "--data", "large", "--out", "run", "--threads", 1,
                     mebibytes=700)

    def test_files_that_nest_deep(self):
        """What copies or destroys them recurses: 200,000 levels end the stack."""
        deep = b'{"a":' + b"[" * 200_000 + b"]" * 200_000 + b"}"
        run = self.folder / "runs" / "deep"
        run.mkdir(parents=True)
        (run / "model.safetensors").write_bytes(b"")
        for name in ("summary.json", "run.json", "progress.json"):
            (run / name).write_bytes(deep)
        (run / "history.jsonl").write_bytes(deep + b'\n{"epoch": 1}\n')
        [shown] = self.run_json("runs", "runs")
        self.assertEqual((shown["summary"], shown["epochs"]), (None, [{"epoch": 1}]))
        self.run_linnet("predict", "runs/deep", "x.png", status=2)
        self.run_linnet("train", "--resume", "runs/deep", status=2)
        for name, text, reason in (
                ("dots.toml", "[" + "a." * 9_000 + "a]\n", "nested more than 64 deep"),
                ("many.toml", "[" + "a." * 2_000_000 + "a]\n", "has more than 10000 dots"),
                ("lists.toml", "a = " + "[" * 100_000 + "]" * 100_000, "lists.toml:1:")):
            (self.folder / name).write_text(text)
            for command_line in (("train", name), ("summary", name), ("search", name)):
                _, err = self.run_linnet(*command_line, status=2)
                self.assertIn(reason, err)
                self.assertLess(len(err), 500)
            self.run_linnet(name)  # says what to run


if __name__ == "__main__":
    unittest.main()
