#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Size and latency of `linnet export --c` beside the library and onnxruntime: a perceptron, a small
CNN and a GRU, trained for an epoch on the drawn digits. Writes
benchmarks/results/<date>-cpu-<isa>-c-file.json and .md.

  benchmarks/c_file.py                     wants build/release/bin/linnet and latency_bench, and the
                                           onnxruntime that `./dev test --interop` installs
  benchmarks/c_file.py --python PYTHON     onnxruntime of this Python; none: leaves it out
"""
import argparse
import array
import json
import os
import random
import subprocess
import sys
import tempfile
from pathlib import Path

import engines
import figures
import footprint
import other_results

ROOT = Path(__file__).resolve().parents[1]
HERE = ROOT / "benchmarks"
PEER = HERE / "onnxruntime_latency.py"
INTEROP = ROOT / ".cache/interop/bin/python"
INPUT = 28 * 28
SAMPLES = 64
LAYERS = {  # of the networks that are not workloads, on images (28, 28, 1)
    "mlp": """{ type = "flatten" }, { type = "dense", units = 128 }, { type = "relu" },
      { type = "dense", units = 64 }, { type = "relu" }, { type = "dense", units = 10 }""",
    "gru": """{ type = "reshape", sample = [28, 28] }, { type = "gru", units = 64 },
      { type = "dense", units = 10 }""",
}
CONFIG = """[data]
name = "digits"
[network]
input = [28, 28, 1]
layers = [{ type = "rescale" }, %s]
[training]
epochs = 1
batch = 64
"""
NETWORKS = ("mlp", "mnist-cnn", "gru")
PLAIN, NATIVE = ("-O2",), ("-O3", "-march=native")
FLAGS = {"c": PLAIN, "c-int8": PLAIN, "c-quantized": PLAIN, "c-native": NATIVE, "c-int8-native": NATIVE,
         "c-quantized-native": NATIVE}


def check(command):
    """Runs a command that must succeed; returns its output."""
    process = subprocess.run([str(part) for part in command], capture_output=True, text=True)
    if process.returncode:
        sys.exit(f"c_file.py: {command[0]}: {process.stderr.strip()}")
    return process.stdout


def identity_graph(path):
    """Writes an ONNX file of one Identity: f32 (1, 1) to f32 (1, 1), opset 17, IR 8."""
    def field(number, payload):
        if isinstance(payload, int):
            return bytes([number << 3, payload])
        data = payload.encode() if isinstance(payload, str) else payload
        return bytes([number << 3 | 2, len(data)]) + data

    def value(name):
        one = field(1, field(1, 1))
        return field(1, name) + field(2, field(1, field(1, 1) + field(2, one + one)))
    node = field(1, "x") + field(2, "y") + field(4, "Identity")
    graph = field(1, node) + field(2, "g") + field(11, value("x")) + field(12, value("y"))
    path.write_bytes(field(1, 8) + field(7, graph) + field(8, field(1, "") + field(2, 17)))


class Network:
    """One network: its model, its files for each engine, and what was measured of them."""

    def __init__(self, name, folder, options):
        self.name, self.folder, self.options = name, folder, options
        folder.mkdir()
        self.model = folder / "run/model.safetensors"
        self.found = {"name": name, "engines": {}}

    def prepare(self):
        if self.name in LAYERS:
            (self.folder / "net.toml").write_text(CONFIG % LAYERS[self.name])
            train = [self.folder / "net.toml"]
        else:
            train = ["--workload", self.name, "--data", "digits", "--epochs", 1]
        linnet = self.options.linnet
        summary = json.loads(check([linnet, "train", *train, "--device", "cpu", "--seed", 1, "--out",
                                    self.folder / "run", "--json"]))
        self.found["parameters"] = summary["parameters"]
        rng = random.Random(self.name)
        values = array.array("f", (rng.randrange(256) for _ in range(SAMPLES * INPUT)))
        (self.folder / "samples").write_bytes(values.tobytes())
        check([linnet, "export", self.folder / "run", "--onnx", self.folder / "model.onnx"])
        self.found["model_files"] = {"model.safetensors": self.model.stat().st_size,
                                     "model.onnx": (self.folder / "model.onnx").stat().st_size}
        check([linnet, "quantize", self.folder / "run", "--data", "digits", "-o", self.folder / "quantized.safetensors"])
        for key, flags in FLAGS.items():
            self.compile(key, flags)
        self.add("linnet", [self.options.bench, self.model])
        if self.options.python:
            self.add("onnxruntime", [self.options.python, "-B", PEER, self.folder / "model.onnx"])

    def compile(self, key, flags):
        folder = self.folder / key
        int8 = ["--int8"] if "int8" in key else []
        model = "quantized.safetensors" if "quantized" in key else "run"
        check([self.options.linnet, "export", self.folder / model, "--c", folder, *int8])
        source = folder / "model.c"
        check([self.options.cc, "-std=c99", *flags, "-c", source, "-o", folder / "model.o"])
        check([self.options.cc, "-std=gnu99", "-O2", "-I", folder, HERE / "latency_driver.c",
               folder / "model.o", "-lm", "-o", folder / "program"])
        names, numbers = check(["size", folder / "model.o"]).splitlines()
        size = {word: int(number) for word, number in zip(names.split(), numbers.split()[:3])}
        self.add(key, [folder / "program"], source_bytes=source.stat().st_size, size=size)

    def add(self, key, command, **found):
        command = [str(part) for part in command]
        self.found["engines"][key] = {"command": command, "failed": None, **found, "runs": []}

    def measure(self, key):
        engine = self.found["engines"][key]
        if engine["failed"]:
            return
        outputs = self.folder / f"{key}.outputs"
        run, record = engines.observed_process(
            [*engine["command"], str(self.folder / "samples"), str(outputs),
             str(self.options.calls)], {}, self.options.limit)
        engine["failed"] = run["failed"]
        engine["runs"].append({**run, **(record or {})})
        print(f"{self.name} {key}: {run['failed'] or record}", file=sys.stderr, flush=True)

    def finish(self):
        """Spreads, and the outputs against the library's."""
        def outputs(key):
            return array.array("f", (self.folder / f"{key}.outputs").read_bytes())
        ours = None if self.found["engines"]["linnet"]["failed"] else outputs("linnet")
        for key, engine in self.found["engines"].items():
            runs = figures.good(engine["runs"])
            engine["difference"] = None
            engine["median_us"] = figures.spread([run["median_us"] for run in runs])
            if engine["failed"] or ours is None:
                continue
            theirs = outputs(key)
            if len(theirs) != len(ours) or not ours:
                engine["failed"] = f"it gave {len(theirs)} numbers, the library {len(ours)}"
                continue
            engine["difference"] = (max(abs(a - b) for a, b in zip(theirs, ours)) /
                                    max(map(abs, ours)))
        return self.found


def programs(options):
    """What a program loads beside the model: [{engine, what, bytes}]."""
    own, system = footprint.libraries(options.bench)
    with tempfile.TemporaryDirectory(prefix="linnet-strip-") as folder:
        library = [path for path in own if "cuda" not in path.name]
        found = [{"engine": "linnet", "what": f"{path.name}, stripped",
                  "bytes": footprint.stripped_bytes(path, folder)} for path in library]
    found.append({"engine": "linnet", "what": f"{len(system)} libraries of the system",
                  "bytes": sum(path.stat().st_size for path in system)})
    if options.python:
        package = Path(check([options.python, "-c", "import onnxruntime, os; "
                              "print(os.path.dirname(onnxruntime.__file__))"]).strip())
        files = [path for path in package.rglob("*") if path.is_file() and
                 "__pycache__" not in path.parts]
        library = next(path for path in files if path.name.startswith("libonnxruntime.so"))
        found += [{"engine": "onnxruntime", "what": f"{library.name}, its C library",
                   "bytes": library.stat().st_size},
                  {"engine": "onnxruntime", "what": "its package, without NumPy and Python",
                   "bytes": sum(path.stat().st_size for path in files)}]
    return found


def versions(networks, options):
    found = {"cc": {"version": check([options.cc, "--version"]).splitlines()[0]}}
    for network in networks:
        for run in network["engines"].get("onnxruntime", {"runs": []})["runs"]:
            if "versions" in run:
                found["onnxruntime"] = run.pop("versions")
    return found


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--repetitions", type=int, default=9, help="processes of each engine")
    parser.add_argument("--calls", type=int, default=20000, help="timed calls of a process")
    parser.add_argument("--python", default=str(INTEROP),
                        help="that has onnxruntime; none: leave onnxruntime out")
    parser.add_argument("--cc", default="gcc", help="C compiler")
    parser.add_argument("--limit", type=float, default=300, help="seconds for a process")
    options = other_results.parsed(parser, "c-file")
    if options.repetitions < 1 or options.calls < 1:
        parser.error("--repetitions, --calls: expected at least 1")
    if options.python == "none":
        options.python = None
    options.bench = str(Path(options.linnet).parent / "latency_bench")
    if not Path(options.bench).exists():
        parser.error(f"there is no {options.bench}; `cmake --build build/release --target "
                     "latency_bench` builds it beside --linnet")
    if options.python and not Path(options.python).exists():
        parser.error(f"there is no {options.python}; `./dev test --interop` makes it, --python names "
                     "another, or none")
    return options


def main():
    options = arguments()
    at_start = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="linnet-bench-") as folder:
        networks = [Network(name, Path(folder, name), options) for name in NETWORKS]
        for network in networks:
            network.prepare()
        empty = Network("identity", Path(folder, "identity"), options)
        identity_graph(empty.folder / "model.onnx")
        (empty.folder / "samples").write_bytes(bytes(4))
        if options.python:
            empty.add("onnxruntime", [options.python, "-B", PEER, empty.folder / "model.onnx"])
        for _ in range(options.repetitions):
            for network in [*networks, empty]:
                for key in network.found["engines"]:
                    network.measure(key)
        found = [network.finish() for network in networks]
        calls = [run["median_us"] for engine in empty.found["engines"].values()
                 for run in figures.good(engine["runs"])]
    runs = [run for network in found for engine in network["engines"].values()
            for run in engine["runs"]]
    other_results.save(
        options, at_start, runs, versions(found, options),
        {"repetitions": options.repetitions, "calls": options.calls},
        [f"benchmarks/c_file.py --repetitions {options.repetitions} --calls {options.calls}"],
        networks=found, onnxruntime_call_us=figures.spread(calls), programs=programs(options))
    return int(any(engine["failed"] for network in found
                   for engine in network["engines"].values()))


if __name__ == "__main__":
    sys.exit(main())
