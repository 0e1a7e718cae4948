# SPDX-License-Identifier: Apache-2.0
"""What the command says where something is wrong: what it is, where, and what to do."""
import os
import re
import resource
import struct
import unittest

import command

NAMES = ("fashion-mnist, digits, mnist, cifar10, cifar100, cifar100-coarse, imdb, chest-xray or "
         "rosenbrock")
LOOP = "Too many levels of symbolic links"


def npy(path, descr, shape, data):
    header = f"{{'descr': '{descr}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    path.write_bytes(b"\x93NUMPY\x01\0" + struct.pack("<H", 118) + header.encode() + data)


class Files(command.CommandTest):
    """Links that lead nowhere or back, and names that are too long: tests run as root too, which
    may read anything, but not these."""

    def setUp(self):
        super().setUp()
        command.write_mnist(self.folder / "patterns", 20, 10)
        (self.folder / "loop").symlink_to("loop")
        (self.folder / "dangling").symlink_to("nowhere")
        self.long = "a" * 300
        self.training = ("train", "--workload", "mnist-cnn", "--epochs", 1, "--data")

    def test_configurations(self):
        self.assert_error(f"cannot read 'loop': {LOOP}", "train", "loop")
        self.assert_error("cannot read 'dangling': it is a link to 'nowhere', which does not exist",
                          "train", "dangling")
        self.assert_error(f"cannot read 'loop': {LOOP}", "summary", "loop")
        _, err = self.run_linnet("train", self.long, status=2)
        self.assertTrue(err.startswith(f"linnet: error: there is no file, folder or workload '{self.long}'; the"), err)

    def test_data(self):
        self.assert_error(f"cannot read 'loop': {LOOP}", *self.training, "loop")
        self.assert_error("cannot read 'dangling': No such file or directory", *self.training,
                          "dangling")
        self.assert_error(f"cannot read '{self.long}': File name too long", *self.training,
                          self.long)
        cifar = self.folder / "cifar"
        cifar.mkdir()
        for name in ("data_batch_1.bin", "test_batch.bin"):
            (cifar / name).symlink_to("nowhere")
        _, err = self.run_linnet("train", "--workload", "flux-cnn", "--data", "cifar", status=2)
        self.assertRegex(err, r"^linnet: error: [^\n]+\n$")
        self.assertNotIn("internal error", err)

    def test_run_folders(self):
        run = self.folder / "run"
        for name in ("model.safetensors", "summary.json"):
            run.mkdir()
            (run / name).symlink_to(name)  # to itself
            self.assert_error(f"the folder 'run' already has a run ({name}); name another folder with --out", *self.training, "patterns", "--out", "run")
            (run / name).unlink()
            run.rmdir()

    def test_inputs_of_a_prediction(self):
        self.train()
        for name, why in (("loop", LOOP), ("dangling", "No such file or directory"),
                          ("nothing", "No such file or directory"),
                          (self.long, "File name too long")):
            self.assert_error(f"cannot read '{name}': {why}", "predict", "run", name)
        images = self.folder / "images"
        (images / "deep").mkdir(parents=True)
        (images / "deep" / "back").symlink_to(images)  # is not followed
        (images / "deep" / "a.png").symlink_to("nowhere")
        self.assert_error("cannot read 'images/deep/a.png': it is a link to 'nowhere', which does "
                          "not exist", "predict", "run", "images")

    def test_a_cache_without_a_home(self):
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("HOME", "XDG_CACHE_HOME")}
        _, err = self.run_linnet(*self.training, "cifar10", status=2,
                                 env={**environment, "TMPDIR": "/nowhere"})
        self.assertRegex(err, r"(^|\n)linnet: error: cifar10 was not found: name the folder of its binary "
                         r"batches; the known data sets are fashion-mnist, .*, rosenbrock\n$")

    def test_a_cache_without_a_home_is_private(self):
        environment = {key: value for key, value in os.environ.items()
                       if key not in ("HOME", "XDG_CACHE_HOME")}
        environment["TMPDIR"] = str(self.folder)
        private = self.folder / f"linnet-{os.geteuid()}"
        self.run_linnet(*self.training, "cifar10", status=2, env=environment)
        self.assertEqual(private.stat().st_mode & 0o777, 0o700)
        # Where somebody else has made it first, or leads to another place, nothing is kept.
        command.write_points(self.folder / "points")
        (self.folder / "points.toml").write_text(command.POINTS % "")
        (self.folder / "theirs").mkdir(mode=0o700)
        for mode in (0o755, None):
            private.chmod(mode) if mode else (private.rmdir(), private.symlink_to("theirs"))
            _, err = self.run_linnet("train", "points.toml", "--epochs", 1, "--tune", "--out",
                                     f"run{mode}", "--device", "cpu", env=environment)
            self.assertIn("measured choices are not kept between runs", err)
            self.assertEqual(list((self.folder / "theirs").iterdir()), [])

    def test_locks_and_temporary_files_are_no_links(self):
        """Whoever can write into a run's folder cannot make a training overwrite other files."""
        (self.folder / "mine").write_text("mine")
        command.write_points(self.folder / "points")
        (self.folder / "points.toml").write_text(command.POINTS % "")
        (self.folder / "run").mkdir()
        (self.folder / "run/.linnet-lock").symlink_to("../mine")
        self.assert_error("'run/.linnet-lock' is a link, not a lock; delete it", "train",
                          "points.toml", "--out", "run")
        self.assertEqual((self.folder / "mine").read_text(), "mine")


class Options(command.CommandTest):
    training = ("train", "--workload", "mnist-cnn")

    def test_numbers_that_are_too_large(self):
        for number in ("99999999999999999999", "2147483648"):
            self.assert_error(f"--epochs: expected an integer of at most 2147483647; got "
                              f"'{number}'",
                              *self.training, "--epochs", number)
        for number in ("-99999999999999999999", "99999999999999999999x"):
            self.assert_error(f"--epochs: expected an integer of at least 1; got '{number}'",
                              *self.training, f"--epochs={number}")

    def test_no_number_is_taken_for_another(self):
        """What an option's type cannot hold is refused before anything else is looked at."""
        for number in ("-1", "18446744073709551616", "0x10", "010x", "1e3", "+7"):
            for arguments in (("evaluate", "run", "--data", "digits"), ("importance", "run", "x"),
                              ("optimize", "run", "--maximize", "y"), ("train", "x.toml"),
                              ("data", "convert", "digits", "out", "--to", "npy")):
                _, err = self.run_linnet(*arguments, f"--seed={number}", status=2)
                self.assertRegex(err, "^linnet: error: --seed: expected an integer of at ")
        commands = set(re.findall(r"^  ([a-z-]+) ", self.run_linnet("--help")[0], re.MULTILINE)) - {"linnet"}
        for name in [*commands, "data info", "data convert"]:
            page, _ = self.run_linnet(*name.split(), "--help")
            # Whole numbers without a range are read as C does: octal, modulo 2^64.
            self.assertNotRegex(page, r"\bU?INT\b(?!:| in \[)", name)

    def test_image_sizes(self):
        for size in ("12x", "x12", "12x12x3", "0", "12x0", "-3", "twelve", "99999999999999999999"):
            self.assert_error("--image-size: expected pixels, such as 224, or HEIGHTxWIDTH, such "
                              f"as 224x192; got '{size}'", *self.training, f"--image-size={size}")

    def test_names_of_data(self):
        self.assert_error("'zzzzzzzz' is neither a folder nor a known data set; expected a folder, "
                          + NAMES, *self.training, "--data", "zzzzzzzz")
        cache = {**os.environ, "XDG_CACHE_HOME": "cache"}
        coarse = ("train", "--workload", "resnet50-cifar100", "--data", "cifar100-coarse")
        self.assert_error("cifar100-coarse was not found: put the binary batches of CIFAR-100 into "
                          "'cache/linnet/cifar100'; the known data sets are fashion-mnist, digits, mnist, "
                          "cifar10, cifar100, cifar100-coarse, imdb, chest-xray, rosenbrock",
                          *coarse, env=cache)
        # What the sentence asks for is enough.
        folder = self.folder / "cache/linnet/cifar100"
        folder.mkdir(parents=True)
        record = bytes([3, 57]) + bytes(3072)
        for name in ("train.bin", "test.bin"):
            (folder / name).write_bytes(4 * record)
        (self.folder / "c.toml").write_text('[network]\ninput = [32, 32, 3]\nlayers = [{type = '
                                            '"global_avg_pool2d"}, {type = "dense", units = 20}]\n')
        out, _ = self.run_linnet("train", "c.toml", "--data", "cifar100-coarse", "--epochs", 1,
                                 "--json", "--out", "run", env=cache)
        self.assertIn('"interrupted":false', out)


class Configurations(command.CommandTest):
    def config(self, layers, more="", inputs="[28, 28, 1]", data="patterns"):
        (self.folder / "c.toml").write_text(
            f'[data]\npath = "{data}"\n[network]\ninput = {inputs}\nlayers = [\n  {layers}\n]\n'
            + more)

    def assert_layer_error(self, sentence, layers, **options):
        """With the place that it names, of the first layer or of a key in it."""
        self.config(layers, **options)
        _, err = self.run_linnet("summary", "c.toml", status=2)
        self.assertRegex(err, r"^linnet: error: c\.toml:6:\d+: ")
        self.assertEqual(err.split(": ", 3)[3], sentence + "\n")

    def test_zeros_that_mean_something(self):
        self.config('{type = "conv_transpose2d", filters = 2, stride = 2, output_padding = 0},'
                    '{type = "max_pool2d", size = 2, stride = 0},'
                    '{type = "avg_pool2d", size = 2, stride = [0, 0]}, {type = "flatten"}')
        out, _ = self.run_linnet("summary", "c.toml")
        self.assertRegex(out, r"avg_pool2d_1 +avg_pool2d +\(14, 14, 2\)")
        self.config('{type = "reshape", sample = [28, 28]}, {type = "max_pool1d", size = 7, stride '
                    '= 0}, {type = "flatten"}')
        out, _ = self.run_linnet("summary", "c.toml")
        self.assertRegex(out, r"flatten_1 +flatten +\(112\)")

    def test_zeros_that_mean_nothing(self):
        self.assert_layer_error("'stride' in [network.layers 1] must be at least 1; got 0",
                                '{type = "conv2d", filters = 2, stride = 0}')
        self.assert_layer_error("'stride' in [network.layers 1] must be at least 1; got [1, 0]", '{type = "conv2d", filters = 2, stride = [1, 0]}')
        self.assert_layer_error("[conv_transpose2d 'conv_transpose2d_1'] expected an output "
                                "padding below the strides (1, 1), and none with padding \"same\"; "
                                "got (1, 1)",
                                '{type = "conv_transpose2d", filters = 2, output_padding = 1}')

    def test_an_activation_inside_a_layer(self):
        for layer, name in (('"dense", units = 3', "relu"), ('"conv2d", filters = 3', "gelu"),
                            ('"flatten"', "tanh")):
            kind = layer.split('"')[1]
            self.assert_layer_error(
                f"{kind} has no key 'activation'; put a layer {{ type = \"{name}\" }} after it",
                f'{{type = {layer}, activation = "{name}"}}')
        self.config('{type = "flatten"}, {type = "dense", units = 3}, {type = "relu"}')
        self.run_linnet("summary", "c.toml")

    def test_a_key_as_in_cpp(self):
        self.config('{type = "flatten"}', 'training = {.epoch = 1}\n')
        _, err = self.run_linnet("train", "c.toml", status=2)
        self.assertRegex(err, r"^linnet: error: c\.toml:8:13: .*saw '\.'; expected keys without a leading "
                              r"dot: \{ epochs = 1 \}\n$")
        self.config('{type = "flatten"}', '[training]\nepoch = 1\n')
        self.assert_error("c.toml:9:1: unknown key 'epoch' in [training]; did you mean 'epochs'?",
                          "train", "c.toml")

    def test_shapes_call_the_batch_n(self):
        self.assert_layer_error("[max_pool2d 'max_pool2d_1'] window (40, 40) is larger than the "
                                "padded input (28, 28); got x=(N, 28, 28, 1)",
                                '{type = "max_pool2d", size = 40}')
        self.assert_layer_error("[conv2d 'conv2d_1'] expected images (N, H, W, C); got (N, 784)",
                                '{type = "conv2d", filters = 2}', inputs="[784]")

    def test_normalize_with_many_channels(self):
        many = ", ".join(str(i / 20) for i in range(17))
        self.assert_layer_error("[normalize 'normalize_1'] expected at most 16 channels, or the "
                                "same mean and std for all; got (N, 8, 8, 17)",
                                f'{{type = "normalize", mean = [{many}], std = 0.5}}',
                                inputs="[8, 8, 17]")
        self.assert_layer_error("[normalize 'normalize_1'] expected one mean and std, or 17 "
                                "of each for (N, 8, 8, 17); got 3 and 1",
                                '{type = "normalize", mean = [1, 2, 3]}', inputs="[8, 8, 17]")

    def test_balanced_classes_beside_an_ignored_label(self):
        """A fourth output, whose label is ignored: the data have three classes then."""
        (self.folder / "arrays").mkdir()
        for part, count in (("train", 32), ("test", 8)):
            npy(self.folder / "arrays" / f"x_{part}.npy", "|u1", (count, 4, 4, 1),
                bytes((37 * i) % 256 for i in range(count * 16)))
            npy(self.folder / "arrays" / f"y_{part}.npy", "<i4", (count,),
                struct.pack(f"<{count}i", *[i % 4 for i in range(count)]))
        self.config('{type = "flatten"}, {type = "dense", units = 4}',
                    '[loss]\nclass_weights = "auto"\nignore_index = 3\n', inputs="[4, 4, 1]",
                    data="arrays")
        summary = self.run_json("train", "c.toml", "--epochs", 1, "--out", "auto")
        # As if the weights of three equal classes were written out.
        (self.folder / "c.toml").write_text((self.folder / "c.toml").read_text().replace(
            '"auto"', "[1.0, 1.0, 1.0, 0.0]"))
        written = self.run_json("train", "c.toml", "--epochs", 1, "--out", "written")
        self.assertEqual(summary["train_loss"], written["train_loss"])

    def test_regression_has_no_accuracy(self):
        (self.folder / "arrays").mkdir()
        for part, count in (("train", 32), ("test", 8)):
            for name in "xy":
                npy(self.folder / "arrays" / f"{name}_{part}.npy", "<f4", (count, 2),
                    struct.pack(f"<{2 * count}f", *[i / 10 for i in range(2 * count)]))
        for keep in (True, False):
            self.config('{type = "dense", units = 2}', inputs="[2]", data="arrays")
            out = f"run-{keep}"
            _, err = self.run_linnet("train", "c.toml", "--epochs", 1, "--out", out)
            score = r"test R² -?[\d.]+" if keep else r"training loss [\d.]+"
            self.assertRegex(err, rf"linnet: {score}; report: {out}/report.html\n$")
            report = (self.folder / out / "report.html").read_text()
            self.assertNotIn("accuracy</", report)
            self.assertIn("training loss", report)
            for name in "xy":
                (self.folder / "arrays" / f"{name}_test.npy").unlink(missing_ok=True)


class Memory(command.CommandTest):
    """Of a process that may have no more than 300 MB of addresses."""
    limit = 300_000_000

    def limited(self, *arguments):
        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (self.limit, self.limit))
        try:
            self.run_linnet("--version", preexec_fn=limit)
        except AssertionError:
            self.skipTest("a sanitizer takes more address space than the limit of this test")
        _, err = self.run_linnet(*arguments, status=2, preexec_fn=limit)
        return err

    def images(self, folder, count):
        """IDX files of black images, which take no room on the disk."""
        path = self.folder / folder
        path.mkdir()
        for part, number in (("train", count), ("t10k", 10)):
            for name, dimensions in (("images-idx3", (number, 28, 28)), ("labels-idx1", (number,))):
                header = command.idx(dimensions, b"")
                size = len(header) + number * (784 if name.startswith("images") else 1)
                with open(path / f"{part}-{name}-ubyte", "wb") as file:
                    file.write(header)
                    file.truncate(size)

    def test_data(self):
        self.images("big", 400_000)
        training = ("train", "--workload", "mnist-cnn", "--threads", 1, "--data", "big")
        self.assertEqual(self.limited(*training),
                         "linnet: error: 'big/train-images-idx3-ubyte' does not fit into memory\n")
        self.train()
        err = self.limited("predict", "run", "big/train-images-idx3-ubyte", "--threads", 1)
        self.assertEqual(err,
                         "linnet: error: 'big/train-images-idx3-ubyte' does not fit into memory\n")

    def test_weights(self):
        command.write_mnist(self.folder / "patterns", 20, 10)
        (self.folder / "c.toml").write_text(
            '[data]\npath = "patterns"\n[network]\ninput = [28, 28, 1]\nlayers = [{type = '
            '"flatten"}, {type = "dense", units = 100000}, {type = "dense", units = 10}]\n')
        self.assertRegex(self.limited("train", "c.toml", "--threads", 1),
                         r"^linnet: error: out of memory: \d+ bytes were requested: the weights of "
                         r"a network of 79500010 parameters\n$")

    def test_batch(self):
        self.images("black", 20_000)
        err = self.limited("train", "--workload", "mnist-cnn", "--threads", 1, "--data", "black",
                           "--batch", 20_000, "--disable-pass", "fuse_small_cnn")
        self.assertRegex(err, r"(?m)^linnet: error: out of memory: \d+ bytes were requested: a batch "
                              r"of 20000 needs [\d.]+ MiB ")
        free = float(err.split(" MiB are free")[0].rsplit(" ", 1)[1])
        self.assertLess(free * 2**20, self.limit)


if __name__ == "__main__":
    unittest.main()
