#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Runs the command for Windows under wine: check_command.py BUILD --beside COMMAND.

Trains on a table in a folder whose name has a space and letters beyond ASCII, with 1, 2 and 4 threads, whose model files
must have the same bytes; predicts by the model of Windows and by that of COMMAND, a command for this machine, on both
systems, within 1e-5; sees a folder that another training holds, Ctrl-C, and what is refused. Prints a line for each;
exits with 1 if something is wrong."""
import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT / "packaging/static"))
from check_static import TRAININGS, Place, Wrong, digest, predictions, run_checks  # noqa: E402

WINE = ROOT / "packaging/windows/wine.sh"
FOLDER = "Müller 數據 😀"
TOLERANCE = 1e-5
REFUSED = (("serve", "run"), ("launch", "-n", "2", "--", "train"), ("train", "penguins.csv", "--device", "cuda", "--out", "none"))


def expect(good, sentence):
    if not good:
        raise Wrong(sentence)


def distance(ours, theirs):
    """The largest difference between numbers of two values of JSON, which must be equal elsewhere."""
    if isinstance(ours, float) or isinstance(theirs, float):
        return abs(ours - theirs)
    if isinstance(ours, dict) and isinstance(theirs, dict):
        expect(ours.keys() == theirs.keys(), f"keys {list(ours)} and {list(theirs)}")
        return max((distance(ours[key], theirs[key]) for key in ours), default=0)
    if isinstance(ours, list) and isinstance(theirs, list):
        expect(len(ours) == len(theirs), f"{len(ours)} and {len(theirs)} values")
        return max(map(distance, ours, theirs), default=0)
    expect(ours == theirs, f"{ours!r} and {theirs!r}")
    return 0


def start(place, *arguments):
    return subprocess.Popen([*place.words, *arguments], cwd=place.folder, env={"HOME": "/"}, text=True,
                            stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                            start_new_session=True)


def until(condition, sentence, seconds=120):
    end = time.monotonic() + seconds
    while not condition():
        expect(time.monotonic() < end, sentence)
        time.sleep(0.1)


def windows_process(name):
    """The number of a process of wine whose command line ends in a program of this name."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            words = (folder / "cmdline").read_bytes().split(b"\0")
        except OSError:
            continue
        if any(word.endswith(name.encode()) for word in words) and b"Long" in words:
            return int(folder.name)
    return None


def check_interrupt(place):
    """A second training finds the folder held; Ctrl-C ends the first, which saves its model."""
    arguments = ("train", "penguins.csv", "--target", "species", "--epochs", "100000", "--out", "Long")
    process = start(place, *arguments)
    try:
        history = place.folder / "Long/history.jsonl"
        until(lambda: history.exists() and history.stat().st_size > 0, "the long training has written no epoch")
        _, said = place.run(*arguments[:-2], "--resume", "Long", status=2)
        expect("in use by process" in said, f"a second training said: {said}")
        os.kill(windows_process("linnet.exe"), signal.SIGINT)
        _, notes = process.communicate(timeout=120)
    finally:
        if process.poll() is None:
            os.killpg(process.pid, signal.SIGKILL)
    expect("interrupted" in notes, f"after Ctrl-C the training said: {notes}")
    expect((place.folder / "Long/model.safetensors").exists(), "after Ctrl-C no model is there")
    expect(not (place.folder / "Long/.linnet-lock").exists(), "the lock file has stayed")
    return f"exit status {process.returncode}"


def train(place, run, threads):
    place.run("train", *TRAININGS["a table"], "--out", run, "--threads", threads, "--device", "cpu", "--json")
    return digest(place, run)


def checks(program, beside, work):
    """Yields name and result of each check; raises Wrong."""
    place, linux = Place(work / FOLDER, [WINE, program]), Place(work / "beside", [beside])
    yield "linnet --version", place.run("--version")[0].strip()
    ours = train(place, "run ä", 1)
    for threads in (2, 4):
        expect(train(place, f"run {threads}", threads) == ours, f"{threads} threads give other bits than one")
    theirs = train(linux, "run", 1)
    yield "train on a table in a folder with a space, umlauts and an emoji", (
        f"SHA-256 {ours[:16]} with 1, 2 and 4 threads, on Linux {theirs[:16]}")
    shutil.copytree(place.folder / "run ä", linux.folder / "of Windows")
    shutil.copytree(linux.folder / "run", place.folder / "of Linux")
    for run, there in (("run ä", "of Windows"), ("of Linux", "run")):
        rows = predictions(place, run, "penguins.csv")
        off = distance(rows, predictions(linux, there, "penguins.csv"))
        expect(off <= TOLERANCE, f"predictions by the model '{run}' are off by {off:.1e}")
        yield f"predict by the model '{run}' on both systems", f"{len(rows)} rows, off by at most {off:.1e}"
    out, _ = place.run("data", "info", "cities.csv")
    expect("Москва" in out, f"`linnet data info` of a file in cp1251 said: {out}")
    yield "a table in cp1251", "read"
    for words in REFUSED:
        _, said = place.run(*words, status=2)
        yield "refused: " + " ".join(words), said.strip()
    yield "a lock and Ctrl-C", check_interrupt(place)


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("build", type=Path)
    parser.add_argument("--beside", type=Path, required=True)
    arguments = parser.parse_args()
    program = arguments.build.resolve() / "bin/linnet.exe"
    return run_checks(lambda work: checks(program, arguments.beside.resolve(), work), "windows")


if __name__ == "__main__":
    sys.exit(main())
