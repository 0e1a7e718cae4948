#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Checks a static program: check_static.py PROGRAM [--beside COMMAND].

It names no interpreter and no library, and runs in a folder that holds nothing but itself and data, as the root of
the file system (chroot, as root, or as another user where the kernel lets users have namespaces): trains on a CSV file, on
images and on patterns of MNIST's form, predicts, describes data, answers one request by HTTP, and refuses in one sentence
what it cannot do. --beside: an ordinary command, whose trained files must have the same bytes where oneDNN's
convolutions take no part. Prints a line for each; exits with 1 if something is wrong."""
import argparse
import hashlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import subprocess
import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "tests/command"))
import command  # noqa: E402  # writes small data sets

WIDE = """[network]
input = [28, 28, 1]
layers = [{type = "rescale", scale = 0.004}, {type = "conv2d", filters = 32, kernel = 3}, {type = "relu"},
          {type = "conv2d", filters = 64, kernel = 3}, {type = "relu"}, {type = "flatten"}, {type = "dense", units = 300},
          {type = "relu"}, {type = "dense", units = 10}]
[data]
path = "patterns"
"""


def elf_faults(program):
    """Returns sentences about what the file asks of a system."""
    text = subprocess.run(["readelf", "--program-headers", "--dynamic", "--file-header", "--wide", program], check=True,
                          capture_output=True, text=True, env={**os.environ, "LC_ALL": "C"}).stdout
    found = [f"it asks for the interpreter {name}" for name in re.findall(r"Requesting program interpreter: (.+?)\]", text)]
    found += [f"it needs the library {name}" for name in re.findall(r"\(NEEDED\).*\[(.+?)\]", text)]
    found += [f"it searches for libraries in {path}" for path in re.findall(r"\((?:RUNPATH|RPATH)\).*\[(.+?)\]", text)]
    if not re.search(r"Type:\s+DYN", text):
        found.append("it has a fixed place in memory; expected a program linked with -static-pie")
    return found


def write_penguins(path, count=300):
    """Writes a table of the form of the Palmer penguins, drawn, with missing numbers."""
    generator = random.Random(7)
    kinds = {"Adelie": (38.8, 18.3, 190, 3700), "Chinstrap": (48.8, 18.4, 196, 3730), "Gentoo": (47.5, 15.0, 217, 5080)}
    lines = ["species,island,bill_length_mm,bill_depth_mm,flipper_length_mm,body_mass_g,sex"]
    for _ in range(count):
        species = generator.choice([*kinds])
        numbers = [f"{generator.gauss(mean, mean / 20):.1f}" for mean in kinds[species]]
        if generator.random() < 0.03:
            numbers[generator.randrange(4)] = "NA"
        lines.append(",".join([species, generator.choice(("Biscoe", "Dream")), *numbers, generator.choice(("male", "female"))]))
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")


def write_images(folder, each=40):
    """Writes PNG files of two classes: rows or columns are bright."""
    generator = random.Random(8)
    for name in ("columns", "rows"):
        (folder / name).mkdir(parents=True)
        for number in range(each):
            pixels = []
            for y in range(28):
                for x in range(28):
                    bright = (x if name == "columns" else y) // 4 % 2
                    pixels.append(160 * bright + generator.randrange(80))
            (folder / name / f"{number}.png").write_bytes(command.png(pixels))


def write_data(folder):
    write_penguins(folder / "penguins.csv")
    write_images(folder / "images")
    command.write_mnist(folder / "patterns")
    (folder / "wide.toml").write_text(WIDE, encoding="utf-8")
    cities = ["город,число", *(f"{'Москва' if i % 2 else 'Рига'},{i % 2}.{i % 10}" for i in range(80))]
    (folder / "cities.csv").write_bytes(("\n".join(cities) + "\n").encode("cp1251"))


class Place:
    """A folder with data, and a program that works in it."""

    def __init__(self, folder, words):
        self.folder, self.words = folder, [str(word) for word in words]
        folder.mkdir()
        write_data(folder)

    def start(self, *arguments):
        return subprocess.Popen([*self.words, *map(str, arguments)], cwd=self.folder, env={"HOME": "/"}, text=True,
                                stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE)

    def run(self, *arguments, status=0):
        """Returns what it printed: standard output, standard error."""
        process = self.start(*arguments)
        out, err = process.communicate(timeout=600)
        if process.returncode != status:
            raise Wrong(f"linnet {' '.join(map(str, arguments))}: status {process.returncode}, expected {status}: "
                        f"{(out + err)[-600:]}")
        return out, err


class Wrong(Exception):
    pass


def run_checks(checks, kind):
    """Prints the name and result of each that checks(folder) yields, or what is Wrong; returns the exit status."""
    with tempfile.TemporaryDirectory(prefix=f"linnet-{kind}-") as work:
        try:
            for name, result in checks(Path(work)):
                print(f"{name}: {result}", flush=True)
        except Wrong as wrong:
            print(f"WRONG: {wrong}", flush=True)
            return 1
    return 0


def root_words(folder):
    """Returns the command that runs `folder`/linnet with `folder` as the root of its file system."""
    chroot = shutil.which("chroot", path="/usr/sbin:/usr/bin:/sbin:/bin")
    unshare = [] if os.getuid() == 0 else [shutil.which("unshare") or "unshare", "--map-root-user"]
    return [*unshare, chroot, str(folder), "/linnet"]


def empty_root(program, folder):
    """Returns a Place that the program sees as the root of its file system."""
    place = Place(folder, root_words(folder))
    shutil.copy(program, folder / "linnet")
    (folder / "linnet").chmod(0o755)
    return place


TRAININGS = {
    "a table": ("penguins.csv", "--target", "species", "--epochs", 5),
    "MNIST's form": ("--workload", "mnist-cnn", "--data", "patterns", "--epochs", 1, "--batch", 32),
    "images": ("images", "--epochs", 2),
    "wide layers": ("wide.toml", "--epochs", 1),
}
# oneDNN's convolutions are in neither; those of an ordinary command may be of another version.
SAME = ("a table", "MNIST's form")
ASK = ("--device", "cpu", "--json")


def train(place, name):
    """Trains, and returns the summary of the run."""
    run = "run_" + name.replace(" ", "_").replace("'", "")
    out, _ = place.run("train", *TRAININGS[name], "--out", run, *ASK)
    return run, json.loads(out)


def predictions(place, run, file):
    return json.loads(place.run("predict", run, file, *ASK)[0])["predictions"]


def serve(place, run, body):
    """Returns the answer to one request."""
    server = place.start("serve", run, "--port", 0, "--device", "cpu")
    try:
        line = server.stdout.readline()
        address = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", line)
        if not address:
            raise Wrong(f"linnet serve wrote {line!r} and {server.communicate(timeout=60)[1]!r}")
        connection = http.client.HTTPConnection("127.0.0.1", int(address[1]), timeout=60)
        connection.request("POST", "/predict", body, {"Content-Type": "application/json"})
        answer = json.loads(connection.getresponse().read())
        connection.close()
    finally:
        server.send_signal(signal.SIGTERM)
    server.communicate(timeout=60)
    if server.returncode != 0:
        raise Wrong(f"linnet serve ended with status {server.returncode}")
    return answer


def refusal(place, pattern, *arguments):
    """Returns the sentence; something else, or a crash, is wrong."""
    _, err = place.run(*arguments, status=2)
    last = err.strip().splitlines()[-1] if err.strip() else ""
    if not re.search(pattern, last):
        raise Wrong(f"linnet {' '.join(map(str, arguments))} said {err!r}; expected {pattern!r}")
    return last


def digest(place, run):
    return hashlib.sha256((place.folder / run / "model.safetensors").read_bytes()).hexdigest()


def checks(program, beside, work):
    """Yields name and result of each check; raises Wrong."""
    found = elf_faults(program)
    if found:
        raise Wrong(f"{program}: {'; '.join(found)}")
    yield "file", f"no interpreter, no library, {program.stat().st_size:,} bytes"
    place = empty_root(program, work / "root")
    yield "linnet --version", place.run("--version")[0].strip()
    ordinary = Place(work / "beside", [beside]) if beside else None
    for name in TRAININGS:
        run, summary = train(place, name)
        if not summary["test_accuracy"] > 0.8:
            raise Wrong(f"training on {name}: accuracy {summary['test_accuracy']}")
        said = f"accuracy {summary['test_accuracy']:.3f}"
        if ordinary:
            train(ordinary, name)
            ours, theirs = digest(place, run), digest(ordinary, run)
            if ours != theirs and name in SAME:
                raise Wrong(f"training on {name}: the model has SHA-256 {ours}; the ordinary command's {theirs}")
            said += f", SHA-256 {ours[:16]}...: {'as' if ours == theirs else 'not as'} the ordinary command's"
        yield f"train on {name}", said
    rows = predictions(place, "run_a_table", "penguins.csv")
    if ordinary and rows != predictions(ordinary, "run_a_table", "penguins.csv"):
        raise Wrong("predictions of the table differ from the ordinary command's")
    yield "predict", f"{len(rows)} rows, the first is {rows[0]['class']}"
    yield "data info", place.run("data", "info", "images")[0].splitlines()[0]
    row = dict(zip(*(line.split(",") for line in (place.folder / "penguins.csv").read_text().splitlines()[:2])))
    answer = serve(place, "run_a_table", json.dumps({"rows": [row]}))
    if answer.get("predictions", [{}])[0].get("class") != rows[0]["class"]:
        raise Wrong(f"linnet serve answered {answer}; expected class {rows[0]['class']}")
    yield "serve", f"one request: {answer['predictions'][0]['class']}"
    place.run("train", "cities.csv", "--target", "город", "--encoding", "cp1251", "--epochs", 1, "--out", "cities", *ASK)
    yield "a table in cp1251", "read"
    table = ("train", "penguins.csv", "--target", "species", "--out", "none")
    no_gpu = r"the static program of Linnet has no CUDA plug-in"
    refusal(place, no_gpu, *table, "--device", "cuda")
    (place.folder / "liblinnet_cuda.so").write_bytes(b"\x7fELF")
    yield "a GPU, with a plug-in beside", refusal(place, no_gpu, *table, "--device", "cuda")
    yield "an unknown encoding", refusal(place, r"encoding 'klingon' is not known", "train", "cities.csv",
                                            "--encoding", "klingon", "--target", "a", "--out", "none")
    out, err = place.run("data", "info", "fashion-mnist")  # drawn digits, where it cannot be downloaded
    if "resolve host" not in err and not out.startswith("fashion-mnist"):
        raise Wrong(f"linnet data info fashion-mnist wrote {err!r} and {out[:200]!r}")
    yield "a data set to download", re.sub(r".*(Could not resolve host).*", r"\1, and says so", err.strip()) or "downloaded"


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("program", type=Path)
    parser.add_argument("--beside", type=Path)
    arguments = parser.parse_args()
    beside = arguments.beside.resolve() if arguments.beside else None
    status = run_checks(lambda work: checks(arguments.program.resolve(), beside, work), "static")
    if status == 0:
        print("All is right.")
    return status


if __name__ == "__main__":
    sys.exit(main())
