#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Draws tables of the manual: manual_plots.py writes docs/images/benchmarks-untuned.svg, -workloads.svg and training-fast.svg.

A bar is a ratio of speed on a logarithmic axis; the line at 1 is the rival's speed. A test compares what is there."""
import math
import re
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
PAGE = ROOT / "docs/benchmarks.md"
FAST = ROOT / "docs/guides/training-fast.md"
# Page, title of the section, file, what the title of the plot says, and the columns that are drawn.
PLOTS = ((PAGE, "Networks that nobody tuned", "benchmarks-untuned.svg", "Speed over PyTorch, and over the better of onnxruntime and OpenVINO",
          ("training, × PyTorch", "a batch, × the better of the two")),
         (PAGE, "Workloads, training", "benchmarks-workloads.svg", "Training speed over each rival", ("PyTorch", "torch.compile", "TensorFlow")),
         (FAST, "Measured: the defaults for images", "training-fast.svg", "Speed of a whole training, over the defaults before and over PyTorch",
          ("as fast as before, ×", "as fast as PyTorch, ×")))
COLORS = ("#2563a8", "#b45309", "#2f7d4f")
LEFT, RIGHT, TOP, BAR, GAP, WIDTH = 290, 60, 64, 13, 12, 900
LEAST, MOST = 0.4, 32.0  # ratios at the ends of the axis


def table(page, section):
    """(heads, rows of cells) of the first table in the page's section."""
    text = page.read_text().partition(f"\n## {section}\n")[2].partition("\n## ")[0]
    lines = [line.strip("|").split("|") for line in re.findall(r"^\|.*", text, re.MULTILINE)]
    cells = [[cell.strip().replace("`", "") for cell in line] for line in lines]
    return cells[0], cells[2:]


def place(ratio):
    share = math.log(ratio / LEAST) / math.log(MOST / LEAST)
    return LEFT + share * (WIDTH - LEFT - RIGHT)


def drawing(page, section, title, columns):
    heads, rows = table(page, section)
    places = [heads.index(column) for column in columns]
    bars = [[(color, float(row[at])) for color, at in zip(COLORS, places) if row[at]] for row in rows]
    height = TOP + sum(len(each) * BAR + GAP for each in bars) + 30
    out = [f'<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {WIDTH} {height}" font-family="system-ui, sans-serif" '
           f'font-size="13">', f"<title>{title}</title>", f'<rect width="{WIDTH}" height="{height}" fill="#ffffff"/>',
           f'<text x="16" y="24" font-size="15" font-weight="700">{title}</text>']
    x = 16
    for color, column in zip(COLORS, columns):
        out.append(f'<rect x="{x}" y="38" width="12" height="12" fill="{color}"/><text x="{x + 18}" y="49">{column}</text>')
        x += 46 + 7 * len(column)
    for tick in (0.5, 1, 2, 5, 10, 20):
        out.append(f'<line x1="{place(tick):.1f}" x2="{place(tick):.1f}" y1="{TOP - 6}" y2="{height - 26}" '
                   f'stroke="{"#333" if tick == 1 else "#ddd"}"/>'
                   f'<text x="{place(tick):.1f}" y="{height - 10}" text-anchor="middle" fill="#444">{tick} ×</text>')
    y = TOP
    for row, each in zip(rows, bars):
        out.append(f'<text x="{LEFT - 8}" y="{y + len(each) * BAR / 2 + 3:.1f}" text-anchor="end">{row[0]}</text>')
        for color, ratio in each:
            start, end = sorted((place(1), place(ratio)))
            out.append(f'<rect x="{start:.1f}" y="{y}" width="{end - start:.1f}" height="{BAR - 2}" fill="{color}"/>'
                       f'<text x="{max(end, place(1)) + 4:.1f}" y="{y + BAR - 3}" font-size="11">{ratio:g}</text>')
            y += BAR
        y += GAP
    return "\n".join(out + ["</svg>", ""])


def main():
    for page, section, file, title, columns in PLOTS:
        (ROOT / "docs/images" / file).write_text(drawing(page, section, title, columns))
    return 0


if __name__ == "__main__":
    sys.exit(main())
