# SPDX-License-Identifier: Apache-2.0
"""benchmarks/result_page.py: its HTML as text, and in Chromium where one is installed."""
import html.parser
import os
import pathlib
import re
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest
import xml.etree.ElementTree
import zlib

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "benchmarks"))
import figures  # noqa: E402
import plots  # noqa: E402
import result_page  # noqa: E402
import result_table  # noqa: E402

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))),
                None)


def runs(*speeds, losses=(2.0, 1.0, 0.5)):
    return [{"failed": None, "samples_per_second": speed, "loss": losses[-1],
             "losses": [loss * (1 + 0.02 * i) for loss in losses], "startup_s": 0.4,
             "peak_bytes": 3 << 24, "timed_seconds": [1.0], "others_processors": 0.01}
            for i, speed in enumerate(speeds)]


def row(name, engines, batch=128, **other):
    found = {engine: {**figures.summary(each), "command": [engine, "<a & b>"],
                      "environment": {"OMP_NUM_THREADS": "2"}} for engine, each in engines.items()}
    return {"name": name, "mode": "train", "batch": batch, "samples": 1280, "warmup": 1,
            "epochs": 2, "threads": 0, "data": "digits", "synthetic": True, "failed": None, "engines": found,
            "ratios": {peer: figures.ratio(engines["linnet"], each)
                       for peer, each in engines.items() if peer != "linnet"},
            "losses_differ": [], "export": ["linnet", "bench"], **other}


def result():
    ours = runs(100, 102, 98, 101)
    engines = {"linnet": ours, "torch": runs(50, 51, 50, 49),
               "torch-compile": runs(150, 151, 149, 150), "torch-plain": runs(100, 99, 104, 101),
               "jax": [{"failed": "exit status 1: <no jax>"}]}
    rows = [row("mnist-cnn", engines), row("mnist-cnn", engines, batch=1024),
            {**row("flux-cnn", {"linnet": ours}), "engines": {}, "ratios": {},
             "failed": "linnet bench --export: no data"}]
    return {"format": 1, "date": "2026-11-21T12:00:00", "linnet": "0.1.0", "workloads": rows,
            "machine": {"processor": "P <1>", "processors": 2, "memory_bytes": 8 << 30},
            "settings": {"device": "cpu", "precision": "auto", "protocol": "quick",
                         "repetitions": 4, "peers": ["torch", "torch-compile", "torch-plain", "jax"]},
            "load": {"at_start": 0.1, "processors": 2, "busy": True,
                     "others_processors": {"median": 0.5, "min": 0, "max": 1.0}}}


class Balance(html.parser.HTMLParser):
    """Fails at a tag that closes another than the last that was opened."""
    VOID = ("meta", "link")

    def __init__(self):
        super().__init__()
        self.open = []

    def handle_starttag(self, tag, attrs):
        if tag not in self.VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        pass

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            raise AssertionError(f"</{tag}> at {self.getpos()} closes nothing")


class ResultPage(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.page = result_page.page(result())

    def has(self, words):
        """assertIn, without the whole page in its message."""
        self.assertTrue(words in self.page, f"the page lacks: {words}")

    def test_well_formed_and_from_nowhere_else(self):
        balance = Balance()
        balance.feed(self.page)
        self.assertEqual(balance.open, [])
        drawings = re.findall(r"<svg.*?</svg>", self.page, re.DOTALL)
        self.assertEqual(len(drawings), 2 * 3 + 1)
        for drawing in drawings:
            xml.etree.ElementTree.fromstring(drawing)
        for foreign in ("http:", "https:", "<script", "src=", "nan", "inf\""):
            self.assertFalse(foreign in self.page, foreign)

    def test_losses_are_as_plain_as_wins(self):
        self.has("Of 8 comparisons: Linnet is faster: 2; Linnet is slower: 2; "
                 "no difference shown: 2; no comparison: 2.")
        self.has("<td>torch-compile</td><td>0.67 (0.66–0.68)</td><td>Linnet is slower</td>")
        self.has("<td>torch</td><td>2.00 (1.96–2.06)</td><td>Linnet is faster</td>")

    def test_failures_give_their_reason(self):
        self.has("exit status 1: &lt;no jax&gt;")
        self.has("Failed: linnet bench --export: no data")

    def test_commands_and_a_busy_machine(self):
        self.has("OMP_NUM_THREADS=2 torch &lt;a &amp; b&gt;")
        self.has('<p class="warning">The machine was busy')

    def test_published_figures_are_labelled(self):
        head = self.page.index("Published figures: other hardware, not measured here")
        self.assertGreater(self.page.index("397 k"), head)
        self.assertGreater(self.page.index("OpenNN"), head)

    def test_batches_make_a_scaling_plot(self):
        self.has("mnist-cnn: samples/s by batch")
        self.assertFalse("samples/s by threads" in self.page)

    def test_engines_that_ran_less_often_are_named(self):
        less = result()
        ours, few = runs(100, 102, 98, 101), runs(40, 44) + [None, None]
        less["workloads"] = [row("mnist-cnn", {"linnet": ours, "jax": few[:2], "torch": ours})]
        table, page = result_table.markdown(less), result_page.page(less)
        for text in (table, page):
            self.assertIn("4 repetitions (jax: 2), each a fresh process", text)
            self.assertNotIn("torch, 4 runs", text)
        self.assertIn("|  | jax, 2 runs | 42 (40 to 44) | 2.41 (2 pairs) |", table)
        self.assertIn("<td>2.41 (2 pairs)</td><td>too few repetitions to tell</td>", page)
        self.assertEqual(page.count('class="whisker"'), 3, "torch's alone")
        self.assertIn("4 repetitions, each", result_table.markdown(result()))

    def test_latency_and_size_are_drawn(self):
        found = result()
        found["installed_bytes"] = {"linnet": 3 << 20, "torch": 5 << 30, "jax": None}
        found["workloads"].append(row("flux-cnn:infer", {"linnet": runs(500)}, 1, mode="infer"))
        table, page = result_table.markdown(found), result_page.page(found)
        self.assertIn("| flux-cnn:infer | linnet | 2 |", table)
        self.assertIn("| torch | 5,120 |", table)
        self.assertRegex(page, "(?s)<h2>Latency at batch 1</h2>.*\n<h3>flux-cnn:infer</h3>\n<svg")
        self.assertRegex(page, "(?s)<h2>Installed size</h2>.*5,120 MiB")

    def test_ticks(self):
        self.assertEqual(plots.linear_ticks(0, 1), [0, 0.2, 0.4, 0.6, 0.8, 1.0])
        self.assertEqual(plots.log_ticks(0.3, 7), [0.5, 1, 2, 5])
        self.assertEqual(plots.linear_ticks(3, 3), [3])

    def test_bars_lie_on_the_side_of_the_faster_engine(self):
        def ratio(value):
            return {"median": value, "low": value, "high": value, "each": [value] * 3}
        drawing = plots.ratio_bars([("a", 1, ratio(2.0), ""), ("b", 2, ratio(0.5), "")])
        one = float(re.search(r'x1="([\d.]+)"[^>]*class="one"', drawing).group(1))
        (x1, width1), (x2, width2) = [map(float, each) for each in re.findall(
            r'<rect x="([\d.]+)"[^>]*? width="([\d.]+)"', drawing)]
        self.assertAlmostEqual(x1, one, delta=0.2)
        self.assertAlmostEqual(x2 + width2, one, delta=0.2)
        self.assertAlmostEqual(width1, width2, delta=0.2)  # a loss is as long as its win


def pixels(path):
    """(width, height, how many different rows of bytes) of a PNG."""
    data, at, packed = path.read_bytes(), 8, b""
    while at < len(data):
        size, kind = struct.unpack(">I4s", data[at:at + 8])
        if kind == b"IHDR":
            width, height, _, colour = struct.unpack(">IIBB", data[at + 8:at + 18])
        packed += data[at + 8:at + 8 + size] if kind == b"IDAT" else b""
        at += size + 12
    plain = zlib.decompress(packed)
    stride = 1 + width * {2: 3, 6: 4}[colour]
    return width, height, len({plain[i:i + stride] for i in range(0, len(plain), stride)})


@unittest.skipUnless(CHROMIUM, "no Chromium is installed: the page was not opened in a browser")
class InChromium(unittest.TestCase):
    def open(self, content):
        """(what its console says, the screenshot's pixels())."""
        keep = os.environ.get("LINNET_SCREENSHOTS")  # a folder to look at them
        with tempfile.TemporaryDirectory(prefix="linnet-page-") as folder:
            page, shot = pathlib.Path(folder, "page.html"), pathlib.Path(folder, "page.png")
            page.write_text(content)
            process = subprocess.run(
                [CHROMIUM, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 f"--user-data-dir={folder}/profile", "--enable-logging=stderr",
                 "--window-size=900,3000", f"--screenshot={shot}", page.as_uri()],
                capture_output=True, text=True, timeout=120)
            self.assertEqual(process.returncode, 0, process.stderr)
            if keep:
                shutil.copy(shot, pathlib.Path(keep, self._testMethodName + ".png"))
                shutil.copy(page, keep)
            return [each for each in process.stderr.splitlines() if "CONSOLE" in each], pixels(shot)

    def test_opens_without_errors(self):
        console, (width, height, different) = self.open(result_page.page(result()))
        self.assertEqual(console, [])
        self.assertEqual((width, height), (900, 3000))
        self.assertGreater(different, 300, "the page is not blank")

    def test_an_error_would_be_seen(self):
        console, _ = self.open("<!doctype html><p>a</p><script>console.error('b')</script>")
        self.assertEqual(len(console), 1)


if __name__ == "__main__":
    unittest.main()
