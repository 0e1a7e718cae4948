#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""`linnet serve` while hostile clients are at work: four clients ask for predictions of mnist-cnn, trained
for an epoch on the drawn digits, over connections that they keep and over new ones, and compare every bit of
each answer with what `linnet predict` prints. Attacks come from the same address, each for some seconds, then
all at once; at the end the server gets SIGTERM while the attacks go on. Exits with 1 where an answer was wrong
or missing, or the server did not end. Writes benchmarks/results/<date>-cpu-<isa>-serve-attacks.json and .md.

  ./dev check serve_attacks                             builds build/release/bin/linnet before
  benchmarks/serve_attacks.py --seconds 1 --attacks slow,deep
"""
import argparse
import contextlib
import http.client
import itertools
import json
import os
import random
import re
import signal
import socket
import struct
import subprocess
import sys
import tempfile
import threading
import time
from pathlib import Path

import other_results
from serve_load import png

HEADER = b"POST /predict HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
HEALTH = b"GET /healthz HTTP/1.1\r\nHost: localhost\r\n\r\n"
CLIENTS = 4
IMAGES = 20
DRAIN = 3  # seconds that the server is given after SIGTERM
END_WITHIN = 10


def connect(port, data=b""):
    connection = socket.create_connection(("127.0.0.1", port), timeout=10,
                                          source_address=("127.0.0.2", 0))  # a limit is each address's own
    connection.sendall(data)
    return connection


def send_and_wait(port, data):
    """Sends and reads until the server closes."""
    with contextlib.suppress(OSError), connect(port, data) as connection:
        connection.shutdown(socket.SHUT_WR)
        while connection.recv(65536):
            pass


def body_of(data, kind=b"application/json"):
    return HEADER.replace(b"application/json", kind) + b"Content-Length: %d\r\n\r\n" % len(data) + data


def slow(port, until, count=70):
    """Sockets that send a line of a header every three seconds."""
    sockets = []
    while time.monotonic() < until:
        sockets = [each for each in sockets if each.fileno() >= 0]
        with contextlib.suppress(OSError):
            while len(sockets) < count:
                sockets.append(connect(port, b"POST /predict HTTP/1.1\r\nHost: localhost\r\n"))
        for each in sockets:
            try:
                each.sendall(b"X: y\r\n")
            except OSError:
                each.close()
        time.sleep(max(0, min(3, until - time.monotonic())))


def many_slow(port, until):
    """The same with 300: more than the server's connections."""
    slow(port, until, 300)


def deep(port, until):
    """JSON that nests 1,000,000 deep."""
    for body in itertools.cycle([b'{"inputs":' + b"[" * 1000000 + b"]" * 1000000 + b"}",
                                 b'{"a":' * 1000000 + b"1" + b"}" * 1000000]):
        if time.monotonic() >= until:
            return
        send_and_wait(port, body_of(body))


def by_fours(port, until, data):
    """Sends the same four at a time."""
    def ask():
        while time.monotonic() < until:
            send_and_wait(port, data)
    threads = [threading.Thread(target=ask) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def large(port, until):
    """Four at a time of 8 MB of [[],[],...]."""
    by_fours(port, until, body_of(b'{"inputs":[[' + b"[]," * 2700000 + b"[]]]}"))


def pixels(port, until):
    """Four at a time of a PNG file of 60 kB with 20 megapixels."""
    by_fours(port, until, body_of(png(bytes(4472 * 4472), 4472), b"image/png"))


def fields(port, until):
    """Four at a time of 2.4 MB of empty fields."""
    by_fours(port, until, body_of(b"," * 2400000, b"text/csv"))


def pipelined(port, until):
    """A thousand requests at once over one connection."""
    while time.monotonic() < until:
        send_and_wait(port, (body_of(b'{"inputs":[]}') + HEALTH) * 500)


def unread(port, until, count=40):
    """Clients that ask for the server's page and never read the answers."""
    sockets = []
    while time.monotonic() < until:
        with contextlib.suppress(OSError):
            each = connect(port)
            each.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
            each.settimeout(0.1)
            sockets.append(each)
            each.sendall(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n" * 1000)
        if len(sockets) > count:
            sockets.pop(0).close()


def bombs(port, until):
    """PNG files of 69 bytes that name 30,000 x 30,000 pixels, and tables of 4,000,000 empty fields."""
    image = png(bytes(100), 10).replace(struct.pack(">II", 10, 10), struct.pack(">II", 30000, 30000))
    for data in itertools.cycle([body_of(image, b"image/png"), body_of(b",\n" * 4000000, b"text/csv")]):
        if time.monotonic() >= until:
            return
        send_and_wait(port, data)


def smuggled(port, until):
    """Lengths that two servers may read in two ways, each followed by a second request."""
    headers = (b"Content-Length: 2\r\nContent-Length: 70\r\n", b"Content-Length: 2\r\nTransfer-Encoding: chunked\r\n",
               b"Transfer-Encoding: xchunked\r\n", b"Content-Length: +2\r\n", b"Content-Length : 2\r\n",
               b"X: a\rContent-Length: 2\r\n")
    for header in itertools.cycle(headers):
        if time.monotonic() >= until:
            return
        send_and_wait(port, HEADER + header + b"\r\n{}" + HEALTH)


ATTACKS = {"slow": slow, "many-slow": many_slow, "deep": deep, "large": large, "pipelined": pipelined,
           "smuggled": smuggled, "unread": unread, "bombs": bombs, "pixels": pixels, "fields": fields}


@contextlib.contextmanager
def attacked(names, port, seconds):
    """Runs attacks in processes of their own."""
    running = [subprocess.Popen([sys.executable, "-B", __file__, "--run", name, str(port), str(seconds)])
               for name in names]
    try:
        yield
    finally:
        for process in running:
            process.kill()
            process.wait()


def request(connection, body, kind="application/json"):
    connection.request("POST", "/predict", body, {"Content-Type": kind})
    response = connection.getresponse()
    return response.status, response.read()


def fault_of(status, answer, wanted):
    """What is wrong with an answer; None: it is `linnet predict`'s, bit by bit, for which JSON has enough digits."""
    with contextlib.suppress(ValueError, KeyError):
        if status == 200 and json.loads(answer)["predictions"] == [wanted]:
            return None
    return f"status {status}: {answer[:100]!r}"


def client(number, port, samples, until, found):
    """Asks until then; every third request over a new connection. Appends (seconds, fault or None)."""
    kept = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
    for i in itertools.count(number):
        if time.monotonic() >= until:
            break
        body, kind, wanted = samples[i % len(samples)]
        connection = kept if i % 3 else http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        begin = time.monotonic()
        try:
            status, answer = request(connection, body, kind)
            fault = fault_of(status, answer, wanted)
        except (OSError, http.client.HTTPException) as error:
            fault = repr(error)
            connection.close()
        found.append((time.monotonic() - begin, fault))
        if connection is not kept:
            connection.close()
    kept.close()


def memory(pid):
    """The most bytes that a process has had since this was last asked."""
    status = Path(f"/proc/{pid}/status").read_text()
    with contextlib.suppress(OSError):
        Path(f"/proc/{pid}/clear_refs").write_text("5")
    return int(re.search(r"^VmHWM:\s+(\d+) kB", status, re.MULTILINE)[1]) << 10


def measure(names, process, port, samples, seconds):
    """The answers to the clients while attacks go on."""
    memory(process.pid)
    found = []
    with attacked(names, port, seconds + 1):
        time.sleep(0.5 if names else 0)
        until = time.monotonic() + seconds
        threads = [threading.Thread(target=client, args=(i, port, samples, until, found)) for i in range(CLIENTS)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
    took = sorted(each for each, _ in found)
    faults = [fault for _, fault in found if fault]
    row = {"attacks": names, "answers": len(found), "faults": len(faults), "first_fault": faults[0] if faults else None,
           "p50_s": took[len(took) // 2], "p99_s": took[len(took) * 99 // 100], "most_s": took[-1],
           "bytes": memory(process.pid)}
    print(row, file=sys.stderr, flush=True)
    return row


def ended(process, names, port):
    """The seconds from SIGTERM to the end, while attacks go on; None: it did not end."""
    with attacked(names, port, END_WITHIN + 5):
        time.sleep(0.5)
        begin = time.monotonic()
        process.send_signal(signal.SIGTERM)
        try:
            status = process.wait(timeout=END_WITHIN)
            return time.monotonic() - begin if status == 0 else None
        except subprocess.TimeoutExpired:
            process.kill()
            return None


def arguments():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--attacks", default=",".join(ATTACKS), metavar="NAME,NAME,...")
    parser.add_argument("--seconds", type=float, default=10, help="of each attack")
    options = other_results.parsed(parser, "serve-attacks")
    options.attacks = options.attacks.split(",")
    if unknown := set(options.attacks) - set(ATTACKS):
        parser.error(f"--attacks: expected some of {', '.join(ATTACKS)}; got {', '.join(sorted(unknown))}")
    return options


def drawn_samples(linnet, folder):
    """(body, media type, prediction) of images, as JSON and as PNG in turn; predictions are `linnet predict`'s."""
    rng = random.Random(1)
    images = [bytes(rng.randrange(256) if 6 < j % 28 < 20 else 0 for j in range(28 * 28)) for _ in range(IMAGES)]
    files = [folder / f"{i}.png" for i in range(IMAGES)]
    for file, pixels in zip(files, images):
        file.write_bytes(png(pixels, 28))
    predict = [linnet, "predict", folder / "run", *files, "--json", "--device", "cpu"]
    predictions = json.loads(subprocess.run(predict, check=True, capture_output=True).stdout)["predictions"]
    for prediction in predictions:
        del prediction["input"]
    return [(json.dumps({"inputs": [list(pixels)]}).encode(), "application/json", wanted) if i % 2 else
            (files[i].read_bytes(), "image/png", wanted) for i, (pixels, wanted) in enumerate(zip(images, predictions))]


def main():
    if sys.argv[1:2] == ["--run"]:
        ATTACKS[sys.argv[2]](int(sys.argv[3]), time.monotonic() + float(sys.argv[4]))
        return 0
    options = arguments()
    at_start = os.getloadavg()[0]
    with tempfile.TemporaryDirectory(prefix="linnet-bench-") as name:
        folder = Path(name)
        train = [options.linnet, "train", "--workload", "mnist-cnn", "--data", "digits", "--epochs", "1", "--device",
                 "cpu", "--seed", "1", "--out", str(folder / "run")]
        if subprocess.run(train, capture_output=True).returncode:
            sys.exit(f"serve_attacks.py: {' '.join(train)} failed")
        samples = drawn_samples(options.linnet, folder)
        process = subprocess.Popen([options.linnet, "serve", str(folder / "run"), "--port", "0", "--device", "cpu",
                                    "--drain", str(DRAIN)], stdout=subprocess.PIPE, text=True)
        port = int(re.fullmatch(r"http://127\.0\.0\.1:(\d+)/\n", process.stdout.readline())[1])
        kinds = [[], *[[name] for name in options.attacks], options.attacks]
        rows = [measure(names, process, port, samples, options.seconds) for names in kinds]
        end = ended(process, options.attacks, port)
        print(f"ended after {end} s", file=sys.stderr)
    other_results.save(options, at_start, [], {}, {"workload": "mnist-cnn", "seconds": options.seconds, "repetitions": 1},
                       [f"benchmarks/serve_attacks.py --seconds {options.seconds:g} "
                        f"--attacks {','.join(options.attacks)}"], rows=rows, end_s=end)
    return int(end is None or any(row["faults"] for row in rows))


if __name__ == "__main__":
    sys.exit(main())
