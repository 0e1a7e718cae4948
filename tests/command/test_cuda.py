# SPDX-License-Identifier: Apache-2.0
"""The command on a simulated GPU: a plug-in whose kernels run on the CPU, slowly."""
import json
import os
import pathlib
import shutil
import unittest

import command

PLUGIN = pathlib.Path(os.environ["LINNET_SIMULATED_PLUGIN"])
NONE = "/none/liblinnet_cuda.so"
NO_PLUGIN = (f"CUDA is not usable: {NONE}: cannot open shared object file: No such file or "
             "directory")
CONFIG = """[data]
path = "patterns"
[network]
input = [28, 28, 1]
layers = [
  {type = "rescale", scale = 0.004},
  {type = "conv2d", filters = 2, kernel = 5, stride = 4},
  {type = "relu"},
  {type = "flatten"},
  {type = "dense", units = 10},
]
[training]
batch = 8
epochs = 2
"""


class Cuda(command.CommandTest):
    def setUp(self):
        super().setUp()
        command.write_mnist(self.folder / "patterns", 20, 6)  # two full batches and a rest
        (self.folder / "tiny.toml").write_text(CONFIG)

    def with_plugin(self, plugin=PLUGIN):
        return {"env": {**os.environ, "LINNET_CUDA_LIBRARY": str(plugin),
                        "XDG_CACHE_HOME": str(self.folder / "cache")}}

    def cuda_json(self, *arguments, plugin=PLUGIN):
        out, err = self.run_linnet(*arguments, "--json", **self.with_plugin(plugin))
        return json.loads(out), err

    def train_tiny(self, *arguments, plugin=PLUGIN):
        """Trains on the GPU unless told otherwise; returns the summary."""
        out = f"run{len(list(self.folder.glob('run*')))}"
        summary, _ = self.cuda_json("train", "tiny.toml", "--out", out, *arguments, plugin=plugin)
        self.assertEqual(json.loads((self.folder / out / "summary.json").read_text()), summary)
        return summary

    def assert_cuda_error(self, sentence, *arguments, plugin=PLUGIN):
        self.assert_error(sentence, *arguments, **self.with_plugin(plugin))

    def test_a_training_continues_from_any_checkpoint(self):
        for number, arguments in enumerate(((), ("--streamed",), ("--graph", "off"),
                                            ("--precision", "fp16"))):
            whole = self.folder / f"whole{number}"
            self.run_linnet("train", "tiny.toml", "--device", "cuda", "--out", whole,
                            "--checkpoint-every", "1steps", "--keep-checkpoints", 9, *arguments,
                            **self.with_plugin())
            checkpoints = sorted((whole / "checkpoints").iterdir())
            self.assertEqual(len(checkpoints), 6)
            for checkpoint in checkpoints:
                run = self.folder / f"{number}-{checkpoint.stem}"
                (run / "checkpoints").mkdir(parents=True)
                shutil.copy(whole / "run.json", run)
                shutil.copy(checkpoint, run / "checkpoints")
                self.run_linnet("train", "--resume", run, **self.with_plugin())
                self.assertEqual((run / "model.safetensors").read_bytes(),
                                 (whole / "model.safetensors").read_bytes(), run.name)

    def test_devices(self):
        devices, _ = self.cuda_json("devices")
        cuda = devices["cuda"]
        self.assertTrue(cuda["usable"])
        self.assertIsNone(cuda["unusable"])
        self.assertIn("CUDA driver 13.0", cuda["libraries"])
        self.assertEqual(len(cuda["devices"]), 1)
        gpu = cuda["devices"][0]
        self.assertEqual((gpu["index"], gpu["name"], gpu["compute_capability"]),
                         (0, "Simulated H200", "9.0"))
        self.assertRegex(gpu["uuid"], r"^GPU-[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$")
        self.assertEqual(gpu["memory_bytes"], 4 << 30)
        out, _ = self.run_linnet("devices", **self.with_plugin())
        for text in ("cuda:0   Simulated H200\n", "compute capability 9.0", "4.0 GiB of memory",
                     gpu["uuid"], *cuda["libraries"]):
            self.assertIn(text, out)

    def test_devices_says_why_there_is_none(self):
        devices, _ = self.cuda_json("devices", plugin=NONE)
        self.assertEqual(devices["cuda"], {"usable": False, "unusable": NO_PLUGIN,
                                           "libraries": [], "devices": []})
        out, _ = self.run_linnet("devices", **self.with_plugin(NONE))
        self.assertIn(f"\ncuda     {NO_PLUGIN}\n", out)

    def test_training_follows_the_cpu_however_steps_are_launched(self):
        cpu = self.train_tiny("--device", "cpu")
        self.assertEqual((cpu["device"], cpu["precision"], cpu["graph"], cpu["conv_engine"]),
                         ("cpu", "fp32", None, None))
        for graph in ("epoch", "off", "1", "2"):
            cuda = self.train_tiny("--device", "cuda", "--graph", graph)
            self.assertEqual((cuda["device"], cuda["device_name"], cuda["graph"]),
                             ("cuda", "Simulated H200", graph))
            self.assertEqual(cuda["notes"], [])
            for key in ("train_loss", "test_loss"):
                self.assertAlmostEqual(cuda[key], cpu[key], delta=1e-4 * cpu[key], msg=graph)
        report = (self.folder / "run1" / "report.html").read_text()
        self.assertIn("Simulated H200, epoch", report)

    def test_auto_takes_the_gpu_where_there_is_one(self):
        self.assertEqual(self.train_tiny("--epochs", 1)["device"], "cuda")
        self.assertEqual(self.train_tiny("--epochs", 1, plugin=NONE)["device"], "cpu")

    def test_a_gpu_is_chosen_by_index_and_uuid(self):
        uuid = self.cuda_json("devices")[0]["cuda"]["devices"][0]["uuid"]
        for device in ("cuda:0", f"cuda:{uuid}"):
            self.assertEqual(self.train_tiny("--device", device, "--epochs", 1)["device_name"],
                             "Simulated H200")
        there = f"expected cuda:0 (Simulated H200, {uuid})"
        for device in ("cuda:7", "cuda:-1", "cuda:GPU-0"):
            self.assert_cuda_error(f"there is no device '{device}'; {there}", "train", "tiny.toml",
                                   "--device", device)

    def test_precisions_and_engines_stand_in_the_record(self):
        for precision in ("auto", "fp32", "tf32", "bf16", "fp16"):
            summary = self.train_tiny("--device", "cuda", "--precision", precision, "--epochs", 1)
            self.assertEqual(summary["precision"], precision)
            self.assertEqual(summary["conv_engine"], "graph")
        (self.folder / "tiny.toml").write_text(
            CONFIG + 'device = "cuda:0"\nprecision = "fp32"\ngraph = 3\nconv_engine = "legacy"\n'
            "deterministic = false\n")
        summary = self.train_tiny()
        self.assertEqual((summary["device"], summary["precision"], summary["graph"],
                          summary["conv_engine"], summary["deterministic"]),
                         ("cuda", "fp32", "3", "legacy", False))
        self.assertIs(self.train_tiny("--deterministic", "on", "--epochs", 1)["deterministic"],
                      True)
        self.assert_cuda_error("--precision tf32 is for GPUs; the network runs on the CPU: leave it "
                               "out", "train", "tiny.toml", "--device", "cpu", "--precision", "tf32")

    def test_bf16_is_the_cpus_where_auto_is_the_cpu(self):
        summary = self.train_tiny("--precision", "bf16", "--epochs", 1, plugin=NONE)
        self.assertEqual((summary["device"], summary["precision"]), ("cpu", "bf16"))

    def test_prediction_follows_the_cpu(self):
        self.train_tiny("--device", "cpu", "--epochs", 1)
        model = "run0/model.safetensors"
        images = "patterns/t10k-images-idx3-ubyte"
        results = [self.cuda_json("predict", model, images, "--device", device, "--batch", 4)[0]
                   for device in ("cpu", "cuda")]
        self.assertEqual([result["device"] for result in results], ["cpu", "cuda"])
        for a, b in zip(*(result["predictions"] for result in results)):
            self.assertEqual(a["class"], b["class"])
            for x, y in zip(a["outputs"], b["outputs"]):
                self.assertAlmostEqual(x, y, places=5)
        bf16 = self.cuda_json("predict", model, images, "--device", "cpu", "--batch", 4,
                              "--precision", "bf16")[0]["predictions"]
        for a, b in zip(results[0]["predictions"], bf16):
            self.assertNotEqual(a["outputs"], b["outputs"])
            for x, y in zip(a["outputs"], b["outputs"]):
                self.assertAlmostEqual(x, y, delta=0.02)

    def test_plans_for_the_gpu_name_its_engines(self):
        cpu, _ = self.run_linnet("plan", "tiny.toml", **self.with_plugin())
        cuda, _ = self.run_linnet("plan", "tiny.toml", "--device", "cuda", **self.with_plugin())
        self.assertNotIn("  engine ", cpu)
        self.assertIn("  engine ", cuda)
        summary, _ = self.cuda_json("summary", "tiny.toml", "--device", "cuda")
        self.assertGreater(summary["training"]["total"], summary["prediction"]["total"])

    def test_a_missing_plugin_is_one_sentence(self):
        for words in (("train", "tiny.toml"), ("plan", "tiny.toml"), ("summary", "tiny.toml")):
            self.assert_cuda_error(NO_PLUGIN, *words, "--device", "cuda", plugin=NONE)
        self.assertFalse((self.folder / "runs").exists())

    def test_a_damaged_plugin_is_one_sentence(self):
        whole = PLUGIN.read_bytes()
        damaged = self.folder / "damaged.so"
        for content in (b"", b"not a library", whole[:60], whole[:1000], whole[: len(whole) // 2], whole[:-1]):
            damaged.write_bytes(content)
            _, err = self.run_linnet("train", "tiny.toml", "--device", "cuda", status=2,
                                     **self.with_plugin(damaged))
            self.assertRegex(err, r"^linnet: error: CUDA is not usable: [^\n]*damaged\.so[^\n]*\n$")
            self.assertEqual(self.train_tiny("--epochs", 1, plugin=damaged)["device"], "cpu")

    def test_another_library_is_no_plugin(self):
        other = next(pathlib.Path("/lib").glob("*/libm.so.6"), None)
        if other is None:
            self.skipTest("no libm.so.6")
        self.assert_cuda_error(f"CUDA is not usable: {other} is not a plug-in of Linnet", "train",
                               "tiny.toml", "--device", "cuda", plugin=other)


if __name__ == "__main__":
    unittest.main()
