#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`linnet serve` under the load of wrk (Debian's package of that name): mnist-cnn, trained for an
epoch on the drawn digits, asked for one sample a request as JSON and as an image, with batching and
without. Writes benchmarks/results/<date>-cpu-<isa>-serve-load.json and .md.

  benchmarks/serve_load.py                              wants build/release/bin/linnet
  benchmarks/serve_load.py --connections 1,8 --seconds 2
"""
import argparse
import contextlib
import http.client
import json
import os
import random
import re
import shutil
import signal
import struct
import subprocess
import sys
import tempfile
import zlib
from pathlib import Path

import engines
import neighbour
import options as run_options
import other_results

ROOT = Path(__file__).resolve().parents[1]
SCRIPT = ROOT / "benchmarks/serve_load.lua"
WORKLOAD = "mnist-cnn"
BATCHES = (1, 32)
TYPES = {"json": "application/json", "png": "image/png"}


def png(pixels, side):
    """A grey PNG file of side x side bytes."""
    def chunk(kind, data):
        return struct.pack(">I", len(data)) + kind + data + struct.pack(">I",
                                                                        zlib.crc32(kind + data))
    rows = b"".join(b"\0" + pixels[i * side:(i + 1) * side] for i in range(side))
    return (b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", side, side, 8, 0, 0, 0, 0)) +
            chunk(b"IDAT", zlib.compress(rows)) + chunk(b"IEND", b""))


def bodies():
    """{body: bytes} of one drawn-over image of 28x28."""
    rng = random.Random(1)
    pixels = bytes(rng.randrange(256) if 6 < i % 28 < 20 else 0 for i in range(28 * 28))
    return {"json": json.dumps({"inputs": [list(pixels)]}).encode(), "png": png(pixels, 28)}


@contextlib.contextmanager
def server(linnet, model, batch, connections):
    """A running `linnet serve`: gives its process and its port."""
    process = subprocess.Popen(
        [linnet, "serve", str(model), "--port", "0", "--batch", str(batch), "--device", "cpu",
         "--connections", str(connections)], stdout=subprocess.PIPE, text=True)
    try:
        found = re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", process.stdout.readline())
        if not found:
            sys.exit("serve_load.py: linnet serve did not start")
        yield process, int(found[1])
    finally:
        process.send_signal(signal.SIGTERM)
        process.communicate()


def counters(port):
    """(samples, batches) that a server has predicted."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("GET", "/metrics")
        text = connection.getresponse().read().decode()
    finally:
        connection.close()
    return [int(re.search(rf"^linnet_{name}_total (\d+)$", text, re.MULTILINE)[1])
            for name in ("samples", "batches")]


def warm(port, body, kind):
    """Asks once, which must succeed; returns the predicted class."""
    connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    try:
        connection.request("POST", "/predict", body, {"Content-Type": kind})
        answer = json.loads(connection.getresponse().read())
    finally:
        connection.close()
    if "predictions" not in answer:
        sys.exit(f"serve_load.py: {answer}")
    return answer["predictions"][0]["class"]


def measure(load, process, port, options):
    """One run of wrk on a load; adds to it."""
    if load["failed"]:
        return
    before = counters(port)
    run, record = engines.observed_process(
        [*load["command"], f"http://127.0.0.1:{port}/predict", "--", TYPES[load["body"]],
         load["file"]], {}, options.seconds + 60,
        helpers=lambda: neighbour.used_seconds(process.pid))
    load["failed"] = run["failed"]
    if record:
        samples, batches = (a - b for a, b in zip(counters(port), before))
        run.update(record, per_second=record["requests"] / record["seconds"],
                   samples_per_batch=samples / max(batches, 1))
        if record["requests"] == 0:
            load["failed"] = run["failed"] = "no request was answered"
    load["runs"].append(run)
    print(f"{load['body']} batch {load['batch']} x{load['connections']}: {run}", file=sys.stderr,
          flush=True)


def arguments():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--connections", type=run_options.numbers, default=[1, 8, 64],
                        metavar="N,N,...")
    parser.add_argument("--seconds", type=int, default=5, help="of each run of wrk")
    parser.add_argument("--repetitions", type=int, default=3)
    options = other_results.parsed(parser, "serve-load")
    if min(*options.connections, options.seconds, options.repetitions) < 1:
        parser.error("--connections, --seconds, --repetitions: expected at least 1")
    if not shutil.which("wrk"):
        parser.error("there is no wrk on the PATH; Debian's package is called wrk")
    return options


def main():
    options = arguments()
    at_start = os.getloadavg()[0]
    loads, most = [], max(options.connections)
    with tempfile.TemporaryDirectory(prefix="linnet-bench-") as folder, \
            contextlib.ExitStack() as servers:
        model = Path(folder, "run")
        train = [options.linnet, "train", "--workload", WORKLOAD, "--data", "digits", "--epochs",
                 "1", "--device", "cpu", "--seed", "1", "--out", str(model)]
        if subprocess.run(train, capture_output=True).returncode:
            sys.exit(f"serve_load.py: {' '.join(train)} failed")
        running = {batch: servers.enter_context(server(options.linnet, model, batch, most))
                   for batch in BATCHES}
        for name, content in bodies().items():
            file = Path(folder, name)
            file.write_bytes(content)
            classes = {warm(port, content, TYPES[name]) for _, port in running.values()}
            if len(classes) != 1:
                sys.exit(f"serve_load.py: the servers answer differently: {classes}")
            loads += [{"body": name, "body_bytes": len(content), "batch": batch,
                       "connections": count, "file": str(file), "failed": None, "runs": [],
                       "command": ["wrk", "-t", "1", "-c", str(count), "-d",
                                   f"{options.seconds}s", "-s", str(SCRIPT)]}
                      for batch in BATCHES for count in options.connections]
        for _ in range(options.repetitions):
            for load in loads:
                measure(load, *running[load["batch"]], options)
    wrk = subprocess.run(["wrk", "--version"], capture_output=True, text=True).stdout.split()
    counts = ",".join(map(str, options.connections))
    other_results.save(
        options, at_start, [run for load in loads for run in load["runs"]],
        {"wrk": {"wrk": " ".join(wrk[1:2])}},
        {"workload": WORKLOAD, "seconds": options.seconds, "repetitions": options.repetitions},
        [f"benchmarks/serve_load.py --connections {counts} --seconds {options.seconds} "
         f"--repetitions {options.repetitions}"], loads=loads)
    return int(any(load["failed"] for load in loads))


if __name__ == "__main__":
    sys.exit(main())
