# SPDX-License-Identifier: Apache-2.0
"""Plots of result_page.py as inline SVG, in the page's own colours (classes e0, e1, ... of
engines), so that they follow its light and dark dress. The standard library alone."""
import html
import math

from figures import LEAST_RUNS, number, ratio_words

WIDTH, LABELS = 720, 170
ROW = 30
COLOURS = 8  # e0 to e7


def text(x, y, words, anchor="start", kind=""):
    return (f'<text x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" class="{kind}">'
            f"{html.escape(words)}</text>")


def line(x1, y1, x2, y2, kind):
    return f'<line x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" class="{kind}"/>'


def svg(height, title, parts):
    return "\n".join([f'<svg viewBox="0 0 {WIDTH} {height:.0f}" role="img" '
                      f'aria-label="{html.escape(title)}"><title>{html.escape(title)}</title>',
                      *parts, "</svg>"])


def linear_ticks(low, high, count=5):
    """Round numbers from low to high, about `count` of them."""
    if not high > low:
        return [low]
    step = 10 ** math.floor(math.log10((high - low) / count))
    step *= next(m for m in (1, 2, 5, 10) if (high - low) / (step * m) <= count)
    first = math.ceil(low / step - 1e-9)
    return [round((first + i) * step, 12) for i in range(int((high - low) / step + 1e-9) + 1)
            if (first + i) * step <= high * (1 + 1e-9)]


def log_ticks(low, high):
    """1, 2, 5 of each decade in range."""
    decades = range(math.floor(math.log10(low)), math.ceil(math.log10(high)) + 1)
    return [m * 10.0 ** e for e in decades
            for m in (1, 2, 5) if low <= m * 10.0 ** e <= high]


def ratio_bars(rows):
    """Linnet's speed over each engine's, on a logarithmic axis: to the right of 1 Linnet is faster,
    to the left slower. Of each row (label, colour, ratio of figures.py or None, its reason)."""
    found = [ratio for _, _, ratio, _ in rows if ratio]
    low = min([0.5] + [ratio["low"] / 1.1 for ratio in found])
    high = max([2.0] + [ratio["high"] * 1.1 for ratio in found])
    right = WIDTH - 140

    def at(value):
        return LABELS + (right - LABELS) * math.log(value / low) / math.log(high / low)
    bottom = 24 + ROW * len(rows)
    parts = [text(at(1) - 8, 14, "← Linnet slower", "end", "muted"),
             text(at(1) + 8, 14, "Linnet faster →", "start", "muted")]
    for tick in log_ticks(low, high):
        parts += [line(at(tick), 22, at(tick), bottom, "grid"),
                  text(at(tick), bottom + 16, number(tick), "middle", "muted")]
    for i, (label, colour, ratio, reason) in enumerate(rows):
        y = 24 + ROW * i + ROW / 2
        parts.append(text(LABELS - 10, y + 4, label, "end"))
        if not ratio:
            parts.append(text(at(1) + 8, y + 4, reason[:60], "start", "muted"))
            continue
        left, width = min(at(1), at(ratio["median"])), abs(at(ratio["median"]) - at(1))
        parts.append(f'<rect x="{left:.1f}" y="{y - 8:.1f}" width="{max(width, 1):.1f}" '
                     f'height="16" class="fill e{colour % COLOURS}"/>')
        if len(ratio["each"]) >= LEAST_RUNS:
            parts.append(line(at(ratio["low"]), y, at(ratio["high"]), y, "whisker"))
            parts += [line(at(ratio[end]), y - 5, at(ratio[end]), y + 5, "whisker")
                      for end in ("low", "high")]
        parts.append(text(right + 10, y + 4, ratio_words(ratio, "–")))
    parts.append(line(at(1), 22, at(1), bottom, "one"))
    return svg(bottom + 24, "Linnet's speed over each engine's", parts)


def bars(rows, title, unit):
    """Lengths from 0; of each row (label, colour, value or None)."""
    top = max([value for _, _, value in rows if value is not None] or [1]) or 1
    right, parts = WIDTH - 140, []
    for i, (label, colour, value) in enumerate(rows):
        y = 4 + ROW * i + ROW / 2
        parts.append(text(LABELS - 10, y + 4, label, "end"))
        width = (right - LABELS) * (value or 0) / top
        if value is not None:
            parts.append(f'<rect x="{LABELS}" y="{y - 8:.1f}" width="{max(width, 1):.1f}" '
                         f'height="16" class="fill e{colour % COLOURS}"/>')
        words = "–" if value is None else f"{number(value)} {unit}"
        parts.append(text(LABELS + width + 8, y + 4, words))
    parts.append(line(LABELS, 2, LABELS, 4 + ROW * len(rows), "one"))
    return svg(8 + ROW * len(rows), title, parts)


def curves(lines, title, x_title, y_title, logarithmic=False):
    """Of each line (colour, points (x, y), whether it is drawn faintly). Logarithmic: both axes,
    without what is not above 0. None where there is nothing to draw."""
    lines = [(colour, [(x, y) for x, y in points if y is not None and math.isfinite(y) and
                       (not logarithmic or (x > 0 and y > 0))], faint)
             for colour, points, faint in lines]
    xs = [x for _, points, _ in lines for x, _ in points]
    ys = [y for _, points, _ in lines for _, y in points]
    if not xs:
        return None
    scale = math.log if logarithmic else float
    left, right, top, bottom = 80, WIDTH - 20, 14, 254

    def ends(values, room):
        if logarithmic:
            return min(values) / room, max(values) * room
        width = (max(values) - min(values)) or abs(max(values)) or 1
        return min(values) - width * (room - 1), max(values) + width * (room - 1)
    (x0, x1), (y0, y1) = ends(xs, 1.03), ends(ys, 1.08)

    def at(x, y):
        return (left + (right - left) * (scale(x) - scale(x0)) / (scale(x1) - scale(x0)),
                bottom - (bottom - top) * (scale(y) - scale(y0)) / (scale(y1) - scale(y0)))
    parts = []
    for tick in log_ticks(y0, y1) if logarithmic else linear_ticks(y0, y1):
        _, y = at(x1, tick)
        parts += [line(left, y, right, y, "grid"),
                  text(left - 8, y + 4, number(tick), "end", "muted")]
    whole = sorted(set(xs))
    for tick in whole if len(whole) <= 12 else linear_ticks(x0, x1, 8):
        x, _ = at(tick, y1)
        parts.append(text(x, bottom + 18, number(tick), "middle", "muted"))
    parts += [line(left, bottom, right, bottom, "one"),
              text((left + right) / 2, bottom + 38, x_title, "middle", "muted"),
              text(left, 10, y_title, "end", "muted")]
    for colour, points, faint in lines:
        places = [at(x, y) for x, y in points]
        kind = f"stroke e{colour % COLOURS}" + (" faint" if faint else "")
        joined = " ".join(f"{x:.1f},{y:.1f}" for x, y in places)
        parts.append(f'<polyline points="{joined}" class="{kind}"/>')
        if not faint:
            parts += [f'<circle cx="{x:.1f}" cy="{y:.1f}" r="3" class="fill e{colour % COLOURS}"/>'
                      for x, y in places]
    return svg(bottom + 46, title, parts)
