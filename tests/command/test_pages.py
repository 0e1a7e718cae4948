# SPDX-License-Identifier: Apache-2.0
"""Pages at a phone's width, in headless Chromium: nothing is wider than the screen, no label is cut, and
letters have a size that can be read."""
import datetime
import json
import math
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest

import command

CHROMIUM = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome"))), None)

# Chromium's window is never narrower than about 500 pixels, so a frame is the phone.
FRAME = """<!doctype html><title>frame</title><body style="margin:0">
<iframe id="phone" src="{page}" style="border:0;width:{width}px;height:900px"></iframe><pre id="found"></pre>
<script>
const measure = () => {{
  const inner = document.getElementById("phone").contentDocument, found = {{cut: [], sizes: [], hidden: []}};
  found.width = inner.documentElement.scrollWidth;
  for (const svg of inner.querySelectorAll("svg")) {{
    const box = svg.getBoundingClientRect();
    for (const text of svg.querySelectorAll("text")) {{
      const at = text.getBoundingClientRect();
      if (at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1 || at.bottom > box.bottom + 1)
        found.cut.push(text.textContent);
      found.sizes.push(text.hasAttribute("transform") ? at.width : at.height);  // a turned axis name
    }}
  }}
  // What is wider than its place has to show that it goes on: shadows that scroll with it.
  for (const e of inner.querySelectorAll("section, section *")) {{
    const style = inner.defaultView.getComputedStyle(e);
    if (!(e instanceof inner.defaultView.SVGElement) && e.scrollWidth > e.clientWidth + 1 &&
        style.overflowX != "visible" && !style.backgroundAttachment.includes("local")) found.hidden.push(e.outerHTML.slice(0, 80));
  }}
  found.charts = [...inner.querySelectorAll("svg")].map(svg => svg.getBoundingClientRect().width);
  document.getElementById("found").textContent = JSON.stringify(found);
}};
addEventListener("load", measure);
</script>"""


@unittest.skipIf(CHROMIUM is None, "there is no Chromium")
class Pages(command.CommandTest):
    def look(self, page, width):
        """What the page shows in a frame of so many pixels."""
        frame = page.with_name("frame.html")
        frame.write_text(FRAME.format(page=page.name, width=width))
        with tempfile.TemporaryDirectory(prefix="linnet-chromium-") as profile:
            dom = subprocess.run(
                [CHROMIUM, "--headless=new", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
                 "--allow-file-access-from-files", f"--user-data-dir={profile}",
                 f"--window-size={max(width, 600)},900", "--virtual-time-budget=4000", "--dump-dom",
                 frame.as_uri()], check=True, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                text=True).stdout
        return json.loads(re.search(r'<pre id="found">(.*?)</pre>', dom, re.S)[1].replace("&quot;", '"'))

    def assert_readable(self, page):
        for width in (390, 1200):
            found = self.look(page, width)
            self.assertLessEqual(found["width"], width, page)
            self.assertEqual(found["cut"], [], f"{page} at {width}")
            self.assertEqual(found["hidden"], [], f"{page} at {width}")
            self.assertTrue(found["sizes"])
            self.assertGreater(min(found["sizes"]), 10, f"{page} at {width}")
            self.assertLess(max(found["sizes"]), 24, f"{page} at {width}")

    def test_reports_of_classes_and_of_values(self):
        self.train()
        self.assert_readable(self.folder / "run/report.html")
        lines = "".join(f"{i % 37 / 7:.3f},{1e6 * (i % 37) + i % 5}\n" for i in range(200))
        (self.folder / "values.csv").write_text("x,y\n" + lines)
        self.run_linnet("train", "values.csv", "--target", "y", "--epochs", 30, "--out", "values",
                        "--device", "cpu")
        self.assert_readable(self.folder / "values/report.html")

    def test_long_names_of_categories(self):
        kinds = [f"a category of the kind {kind}" for kind in ("red", "green", "vermilion", "white and grey")]
        target = "a_target_whose_name_is_longer_than_its_axis_is_high"
        (self.folder / "values.csv").write_text(f"x,kind,{target}\n" + "".join(
            f"{i % 37 / 7:.3f},{kinds[i % 4]},{1e6 * (i % 4) + i % 37}\n" for i in range(200)))
        self.run_linnet("train", "values.csv", "--target", target, "--epochs", 20, "--out", "values", "--device",
                        "cpu")
        self.run_linnet("importance", "values", "values.csv", "--report", "importance.html")
        page = self.folder / "importance.html"
        for name in (*kinds, f"Upwards: {target}"):
            self.assertIn(f">{name}</", page.read_text())
        self.assert_readable(page)

    def test_the_report_of_a_series(self):
        days = [datetime.date(2023, 1, 1) + datetime.timedelta(days=i) for i in range(200)]
        lines = "".join(f"{day},{12000 + 900 * math.sin(i / 5) + i % 3:.1f}\n" for i, day in enumerate(days))
        (self.folder / "s.csv").write_text("day,a_long_name_of_sales\n" + lines)
        self.run_linnet("train", "s.csv", "--target", "a_long_name_of_sales", "--past", 14, "--future", 3,
                        "--epochs", 2, "--out", "series", "--device", "cpu")
        page = self.folder / "series/report.html"
        self.assertIn("<h1>Forecast of a_long_name_of_sales, 3 steps ahead from the last 14: s.csv</h1>", page.read_text())
        self.assertIn(">12,500</text>", page.read_text())
        self.assert_readable(page)

    def test_one_chart_is_as_large_as_one_of_two(self):
        lines = "".join(f"{i % 37 / 7:.3f},{i % 37}\n" for i in range(60))
        (self.folder / "values.csv").write_text("x,y\n" + lines)
        self.run_linnet("train", "values.csv", "--target", "y", "--epochs", 3, "--out", "values",
                        "--device", "cpu")
        self.train()
        alone = self.look(self.folder / "values/report.html", 1200)["charts"][0]
        self.assertEqual(alone, self.look(self.folder / "run/report.html", 1200)["charts"][0])

    def test_the_page_of_runs(self):
        # A first epoch that dwarfs the rest, long numbers, and no accuracy.
        self.train()
        history = self.folder / "run/history.jsonl"
        epochs = [{"epoch": i + 1, "train_loss": 5e6 if i == 0 else 1234.5 / (i + 1), "seconds": 1,
                   "samples_per_second": 100} for i in range(1200)]
        history.write_text("".join(json.dumps(epoch) + "\n" for epoch in epochs))
        self.run_linnet("runs", ".", "--html", "runs.html")
        self.assert_readable(self.folder / "runs.html")
        page = (self.folder / "runs.html").read_text()
        self.assertIn("logarithmic", page)
        # It has the style and the colours of a report.
        style = re.search(r"<style>(.*?)</style>", (self.folder / "run/report.html").read_text(), re.S)[1]
        self.assertIn(style, page)
        self.assertIn('const COLOURS = ["#2a78d6",', page)


if __name__ == "__main__":
    unittest.main()
