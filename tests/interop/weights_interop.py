# SPDX-License-Identifier: Apache-2.0
"""`linnet convert` and `linnet features` against torchvision, timm, Keras and safetensors: the same
random weights give the same logits and features, and come back as they were."""
import json
import os
import pathlib
import subprocess
import tempfile
import unittest

os.environ["KERAS_BACKEND"] = "torch"
try:
    import keras
    import numpy as np
    import safetensors
    import safetensors.torch
    import timm
    import torch
    import torchvision
    from PIL import Image
except ImportError as error:
    raise unittest.SkipTest(f"there is no {error.name}; ./dev test --interop without --quick "
                            "installs it") from error

LINNET = os.environ.get("LINNET_COMMAND", "linnet")
MEAN, STD = (0.485, 0.456, 0.406), (0.229, 0.224, 0.225)


def with_statistics(module):
    """The module with random running statistics, as if it had been trained, for inference."""
    for part in module.modules():
        if isinstance(part, torch.nn.BatchNorm2d):
            torch.nn.init.uniform_(part.running_mean, -0.2, 0.2)
            torch.nn.init.uniform_(part.running_var, 0.5, 1.5)
            torch.nn.init.uniform_(part.weight, 0.5, 1)
    for name, value in module.named_parameters():
        if name.endswith(("gamma", "layer_scale")):  # of ConvNeXt; they start near 0
            torch.nn.init.uniform_(value, 0.5, 1)
    return module.eval()


class Text(torch.nn.Module):
    def __init__(self, kind):
        super().__init__()
        self.embedding = torch.nn.Embedding(30, 5)
        setattr(self, kind, getattr(torch.nn, kind.upper())(5, 4, batch_first=True))
        self.kind = kind
        self.fc = torch.nn.Linear(4, 3)

    def forward(self, ids):
        states, _ = getattr(self, self.kind)(self.embedding(ids))
        return self.fc(states[:, -1])


class Interop(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="linnet-weights-")
        self.addCleanup(folder.cleanup)
        self.folder = pathlib.Path(folder.name)
        torch.manual_seed(1)
        np.random.seed(1)
        keras.utils.set_random_seed(1)

    def linnet(self, *arguments):
        result = subprocess.run([LINNET, *map(str, arguments)], cwd=self.folder, text=True,
                                capture_output=True, timeout=300)
        self.assertEqual(result.returncode, 0, result.stderr)
        return result.stdout

    def outputs(self, inputs, *arguments):
        """The network's outputs, without softmax."""
        np.save(self.folder / "in.npy", inputs)
        self.linnet("features", "model.safetensors", "in.npy", "-o", "out.npy", *arguments)
        return np.load(self.folder / "out.npy")

    def assert_close(self, ours, theirs, most):
        self.assertEqual(ours.shape, theirs.shape)
        off = np.abs(ours - theirs).max() / np.abs(theirs).max()
        self.assertLess(off, most)

    def check_torch(self, module, network, names, side=224, scale="imagenet"):
        """Logits of the same weights, and the weights that come back."""
        state = module.state_dict()
        safetensors.torch.save_file(state, self.folder / "theirs.safetensors")
        report = json.loads(self.linnet("convert", "theirs.safetensors", "--network", network,
                                        "--from", names, "-o", "model.safetensors", "--json"))
        self.assertEqual(report["pixels"], scale)
        pixels = np.random.randint(0, 256, (2, side, side, 3), np.uint8)
        x = torch.from_numpy(pixels).permute(0, 3, 1, 2).float() / 255
        mean, std = (MEAN, STD) if scale == "imagenet" else ((0.5,) * 3, (0.5,) * 3)
        x = (x - torch.tensor(mean).view(3, 1, 1)) / torch.tensor(std).view(3, 1, 1)
        with torch.no_grad():
            self.assert_close(self.outputs(pixels), module(x).numpy(), 1e-4)
        self.linnet("convert", "model.safetensors", "--to", names, "-o", "back.safetensors")
        back = safetensors.torch.load_file(self.folder / "back.safetensors")
        for name, value in state.items():
            if not name.endswith("num_batches_tracked"):
                self.assertTrue(torch.equal(back.pop(name), value), name)
        self.assertEqual(back, {})

    def check_keras(self, model, network, inputs, seen, *arguments):
        """The same of a Keras model; `seen`: what it is given for `inputs`."""
        weights = {v.path: np.ascontiguousarray(v.numpy()) for v in model.variables}
        np.savez(self.folder / "theirs.npz", **weights)
        self.linnet("convert", "theirs.npz", "--network", network, "-o", "model.safetensors",
                    *arguments)
        self.assert_close(self.outputs(inputs), np.asarray(model.predict(seen, verbose=0)), 1e-4)
        self.linnet("convert", "model.safetensors", "--to", "keras", "-o", "back.npz")
        return weights, np.load(self.folder / "back.npz")


class Torchvision(Interop):
    def test_models(self):
        models = torchvision.models
        for network in ("resnet18", "resnet34", "resnet50", "resnet101", "densenet121",
                        "densenet169", "vgg11-bn", "vgg16", "mobilenet_v2", "mobilenet_v3_small",
                        "mobilenet_v3_large", "efficientnet_b0", "convnext_tiny", "regnet_x_400mf",
                        "regnet_y_400mf"):
            with self.subTest(network):
                module = getattr(models, network.replace("-", "_"))(num_classes=20)
                self.check_torch(with_statistics(module), network, "torchvision")

    def test_strict_loading(self):
        module = with_statistics(torchvision.models.resnet18())
        safetensors.torch.save_file(module.state_dict(), self.folder / "x.safetensors")
        self.linnet("convert", "x.safetensors", "--network", "resnet18", "-o", "m.safetensors")
        self.linnet("convert", "m.safetensors", "--to", "torchvision", "-o", "y.safetensors")
        other = torchvision.models.resnet18()
        other.load_state_dict(safetensors.torch.load_file(self.folder / "y.safetensors"),
                              strict=True)

    def test_texts(self):
        ids = np.random.randint(0, 30, (4, 7), np.int32)
        for kind in ("gru", "lstm"):
            module = Text(kind).eval()
            safetensors.torch.save_file(module.state_dict(), self.folder / "theirs.safetensors")
            self.linnet("convert", "theirs.safetensors", "--network", f"{kind}-text", "--steps", 7,
                        "-o", "model.safetensors")
            with torch.no_grad():
                expected = module(torch.from_numpy(ids).long()).numpy()
            self.assert_close(self.outputs(ids), expected, 1e-5)


class Timm(Interop):
    def test_models(self):
        for network in ("resnet50", "densenet121", "vgg11"):
            with self.subTest(network):
                module = timm.create_model(network.replace("-", "_"), num_classes=20)
                self.check_torch(with_statistics(module), network, "timm")

    def test_later_models(self):
        for network, name, scale in (("mobilenet_v2", "mobilenetv2_100", "imagenet"),
                                     ("mobilenet_v3_small", "mobilenetv3_small_100", "imagenet"),
                                     ("efficientnet_b0", "efficientnet_b0", "imagenet"),
                                     ("convnext_atto", "convnext_atto", "imagenet"),
                                     ("regnet_y_400mf", "regnety_004", "imagenet"),
                                     ("vit_tiny", "vit_tiny_patch16_224", "symmetric")):
            with self.subTest(network):
                module = timm.create_model(name, num_classes=20)
                self.check_torch(with_statistics(module), network, "timm", scale=scale)

    def test_cifar_variant(self):
        module = timm.create_model("resnet18", num_classes=10)
        module.conv1 = torch.nn.Conv2d(3, 64, 3, 1, 1, bias=False)
        module.maxpool = torch.nn.Identity()
        self.check_torch(with_statistics(module), "resnet18-cifar", "timm", side=32)


class Keras(Interop):
    def check_images(self, name, module, network):
        model = getattr(module, name)(weights=None, classes=20, classifier_activation=None)
        for variable in model.variables:
            if variable.path.endswith(("moving_mean", "bias", "beta")):
                variable.assign(np.random.uniform(-0.2, 0.2, variable.shape))
            elif variable.path.endswith(("moving_variance", "gamma")):
                variable.assign(np.random.uniform(0.5, 1.5, variable.shape))
        pixels = np.random.randint(0, 256, (2, 224, 224, 3), np.uint8)
        seen = module.preprocess_input(pixels.astype(np.float32))
        return self.check_keras(model, network, pixels, seen)

    def test_weights_come_back(self):
        applications = keras.applications
        for name, module, network in (("DenseNet121", applications.densenet, "densenet121"),
                                      ("VGG16", applications.vgg16, "vgg16")):
            with self.subTest(network):
                weights, back = self.check_images(name, module, network)
                self.assertEqual(set(back), set(weights))
                for path, value in weights.items():
                    self.assertTrue(np.array_equal(back[path], value), path)

    def test_biases_go_into_means(self):
        weights, back = self.check_images("ResNet50", keras.applications.resnet, "resnet50")
        self.assertEqual(set(back), set(weights))
        for path, value in weights.items():
            if path.endswith("_bn/moving_mean"):
                value = value - weights[path.replace("_bn/moving_mean", "_conv/bias")]
            elif path.endswith("_conv/bias"):
                value = np.zeros_like(value)
            self.assertTrue(np.array_equal(back[path], value), path)

    def test_texts(self):
        ids = np.random.randint(0, 30, (4, 7), np.int32)
        for kind in ("GRU", "LSTM"):
            keras.utils.clear_session()  # names of layers are counted by process
            model = keras.Sequential([keras.Input((7,), dtype="int32"),
                                      keras.layers.Embedding(30, 5),
                                      getattr(keras.layers, kind)(4, bias_initializer="normal"),
                                      keras.layers.Dense(3)])
            weights, back = self.check_keras(model, f"{kind.lower()}-text", ids, ids, "--steps", 7)
            for path, value in weights.items():
                if path.startswith("sequential"):
                    written = back["/".join(path.split("/")[1:]).replace(
                        f"{kind.lower()}_1/", f"{kind.lower()}/")]
                    self.assertTrue(np.array_equal(written, value), path)


class Files(Interop):
    def test_safetensors_reads_ours(self):
        module = with_statistics(torchvision.models.resnet18(num_classes=5))
        safetensors.torch.save_file(module.state_dict(), self.folder / "theirs.safetensors")
        self.linnet("convert", "theirs.safetensors", "--network", "resnet18", "-o",
                    "model.safetensors")
        with safetensors.safe_open(self.folder / "model.safetensors", "pt") as file:
            network = json.loads(file.metadata()["linnet.network"])
            self.assertEqual(network["format"], 3)
            self.assertEqual(list(file.get_tensor("conv1.weight").shape), [64, 7, 7, 3])
        for dtype, kind in (("f32", torch.float32), ("f16", torch.float16),
                            ("bf16", torch.bfloat16)):
            self.linnet("convert", "model.safetensors", "--to", "torchvision", "--dtype", dtype,
                        "-o", "half.safetensors")
            for name, value in safetensors.torch.load_file(self.folder / "half.safetensors").items():
                self.assertTrue(torch.equal(value, module.state_dict()[name].to(kind)), name)
        # Halves are read as well.
        self.linnet("convert", "half.safetensors", "--network", "resnet18", "-o", "m.safetensors")

    def test_integers_of_safetensors(self):
        values = {str(kind): torch.tensor([1, 2], dtype=kind)
                  for kind in (torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8,
                               torch.bool)}
        state = Text("gru").state_dict()
        safetensors.torch.save_file({**state, **values}, self.folder / "x.safetensors")
        result = self.linnet("convert", "x.safetensors", "--network", "gru-text", "--ignore",
                             "torch.*", "-o", "m.safetensors", "--json")
        self.assertEqual(sorted(json.loads(result)["ignored"]), sorted(values))

    def test_npz(self):
        state = {name: value.numpy() for name, value in Text("lstm").state_dict().items()}
        for save in (np.savez, np.savez_compressed):
            save(self.folder / "x.npz", **state)
            self.linnet("convert", "x.npz", "--network", "lstm-text", "-o", "m.safetensors")
            self.linnet("convert", "m.safetensors", "--to", "torchvision", "-o", "y.npz")
            back = np.load(self.folder / "y.npz")
            self.assertEqual(set(back), set(state))
            for name, value in state.items():
                self.assertTrue(np.array_equal(back[name], value), name)


class Features(Interop):
    def test_images_of_a_folder(self):
        """resnet50 features of photos of any size, as torchvision's transforms prepare them."""
        module = with_statistics(torchvision.models.resnet50())
        safetensors.torch.save_file(module.state_dict(), self.folder / "theirs.safetensors")
        self.linnet("convert", "theirs.safetensors", "--network", "resnet50", "-o",
                    "model.safetensors")
        images = self.folder / "photos"
        images.mkdir()
        transforms = torchvision.transforms
        prepare = transforms.Compose([transforms.Resize(256), transforms.CenterCrop(224),
                                      transforms.ToTensor(), transforms.Normalize(MEAN, STD)])
        module.fc = torch.nn.Identity()
        expected = []
        for i, (width, height) in enumerate(((640, 427), (300, 451), (224, 224), (181, 120),
                                             (1023, 769))):
            y, x = np.mgrid[0:height, 0:width]
            waves = [128 + 127 * np.sin((x * (c + 1) + y * (i + 2)) / 17) for c in range(3)]
            noise = np.random.randint(-40, 40, (height, width, 3))
            pixels = np.clip(np.stack(waves, 2) + noise, 0, 255).astype(np.uint8)
            path = images / f"{i}.{'jpg' if i % 2 else 'png'}"
            Image.fromarray(pixels).save(path, quality=95)
            with torch.no_grad():
                expected.append(module(prepare(Image.open(path).convert("RGB"))[None])[0].numpy())
        printed = self.linnet("features", "model.safetensors", "photos", "--layer",
                              "global_avg_pool2d_1", "-o", "out.npy")
        self.assertEqual(len(printed.splitlines()), 5)
        ours = np.load(self.folder / "out.npy")
        self.assertEqual(ours.shape, (5, 2048))
        for mine, theirs in zip(ours, expected):
            self.assert_close(mine, theirs, 1e-3)


if __name__ == "__main__":
    unittest.main()
