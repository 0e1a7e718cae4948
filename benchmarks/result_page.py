#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""The HTML page about a result of run.py: one file, without scripts or anything from outside.

  benchmarks/result_page.py RESULT.json...      writes build/results/RESULT.html, which is not
                                                committed, and RESULT.md again
"""
import html
import json
import statistics
import sys
from pathlib import Path

import figures
import machine
import other_results
import plots
import published
import result_name
import result_table
import scaling
import side_tables
from side_table import title_of

PAGES = Path(__file__).resolve().parents[1] / "build/results"
VERDICTS = {"faster": "Linnet is faster", "slower": "Linnet is slower",
            "no difference shown": "no difference shown",
            "too few repetitions": "too few repetitions to tell", "failed": "no comparison"}
HEAD = ("engine", "samples/s", "ratio", "loss", "start-up, s", "memory, MiB")

STYLE = """
:root { color-scheme: light dark; --paper: #fff; --ink: #1c2126; --muted: #5c6670; --rule: #dfe3e8;
  --panel: #f5f7f9; --e0: #0b6bcb; --e1: #c8501e; --e2: #8a4fb5; --e3: #1a7f5a; --e4: #a3750b;
  --e5: #b3366e; --e6: #4d6a7a; --e7: #6b7f1f; }
@media (prefers-color-scheme: dark) { :root { --paper: #14181c; --ink: #e6e9ec; --muted: #9aa5b0;
  --rule: #323a42; --panel: #1c2228; --e0: #58a6ff; --e1: #f0875a; --e2: #c297e6; --e3: #4fc39a;
  --e4: #dfb04a; --e5: #ee7fae; --e6: #9bb8c9; --e7: #b5cc5f; } }
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 60rem; padding: 2rem 1.25rem 4rem; background: var(--paper);
  color: var(--ink); font: 16px/1.5 system-ui, sans-serif; }
h1 { font-size: 1.9rem; line-height: 1.2; margin: 0 0 .5rem; }
h2 { margin: 3rem 0 .25rem; padding-top: 1rem; border-top: 1px solid var(--rule); }
h3 { margin: 1.75rem 0 .5rem; font-size: 1rem; }
p { margin: .5rem 0; max-width: 46rem; } .muted { color: var(--muted); }
.warning { border-left: 4px solid var(--e1); background: var(--panel); padding: .5rem .9rem; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; font-size: .9rem;
  font-variant-numeric: tabular-nums; width: 100%; }
caption { text-align: left; font-weight: 600; padding: 1rem 0 .25rem; }
th, td { text-align: left; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--rule);
  vertical-align: top; }
th { color: var(--muted); font-weight: 600; }
pre { background: var(--panel); padding: .75rem; overflow-x: auto; font-size: .8rem; }
svg { width: 100%; height: auto; max-width: 45rem; display: block; }
svg text { font: 13px system-ui, sans-serif; fill: var(--ink); }
svg text.muted { fill: var(--muted); }
.grid { stroke: var(--rule); } .one { stroke: var(--muted); }
.whisker { stroke: var(--ink); stroke-width: 1.5; }
.stroke { fill: none; stroke: var(--c); stroke-width: 2; } .faint { opacity: .3; stroke-width: 1; }
.fill { fill: var(--c); }
.key { display: inline-block; width: .75rem; height: .75rem; margin-right: .4rem;
  background: var(--c); border-radius: 2px; }
.legend span { margin-right: 1.25rem; white-space: nowrap; }
""" + "\n".join(f".e{i} {{ --c: var(--e{i}); }}" for i in range(plots.COLOURS))


def escape(value):
    return html.escape(str(value))


def table(head, rows, caption=""):
    """Cells that are not Raw are escaped."""
    def cell(value):
        return value if isinstance(value, Raw) else escape(value)
    lines = [f"<caption>{escape(caption)}</caption>" if caption else "",
             "<tr>" + "".join(f"<th>{cell(each)}</th>" for each in head) + "</tr>",
             *("<tr>" + "".join(f"<td>{cell(each)}</td>" for each in row) + "</tr>"
               for row in rows)]
    return f'<div class="scroll"><table>{"".join(lines)}</table></div>'


class Raw(str):
    """Text that is HTML already."""


def document(title, parts):
    return ("<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\">"
            '<meta name="viewport" content="width=device-width, initial-scale=1">'
            '<link rel="icon" href="data:,">'  # else browsers ask for one
            f"<title>{escape(title)}</title><style>{STYLE}</style></head><body>\n"
            + "\n".join(part for part in parts if part) + "\n</body></html>\n")


class Page:
    def __init__(self, result):
        self.result = result
        names = ["linnet", *result["settings"]["peers"]]
        self.colours = {name: i for i, name in enumerate(names)}
        self.rows = result["workloads"]

    def html(self):
        title = f"Linnet beside its peers, {self.result['date'][:10]}"
        parts = [f"<h1>{escape(title)}</h1>", *self.introduction(), *self.overview(),
                 *self.scaling()]
        for i, row in enumerate(self.rows):
            parts += self.workload(i, row)
        parts += self.side_tables() + self.published()
        return document(title, parts)

    def introduction(self):
        about, settings = self.result["machine"], self.result["settings"]
        load = escape(machine.load_words(self.result["load"]).replace("**", "", 2))
        return [f"<p>{escape(about['processor'])}, {about['processors']} processors, "
                f"{about['memory_bytes'] / 2**30:.0f} GiB. Linnet "
                f"{escape(self.result['linnet'])}; device {escape(settings['device'])}, precision "
                f"{escape(settings['precision'])}, protocol {escape(settings['protocol'])}, "
                f"{escape(result_table.repetitions_words(self.result))}, each a fresh process, "
                "engines in turn.</p>",
                f'<p class="{"warning" if self.result["load"]["busy"] else "muted"}">{load}</p>',
                f'<p class="muted">{escape(result_name.versions_words(self.result))}</p>',
                f'<p class="muted">{result_table.RATIO} An interval that holds 1 shows no '
                "difference.</p>"]

    def comparisons(self):
        """(row, peer, ratio or None) of all that was meant to be compared."""
        return [(row, name, row["ratios"].get(name)) for row in self.rows if not row["failed"]
                for name in self.result["settings"]["peers"] if name in row["engines"]]

    def overview(self):
        found = self.comparisons()
        if not found:
            return []
        counts = {each: 0 for each in VERDICTS}
        lines = []
        for row, name, ratio in found:
            verdict = figures.verdict(ratio)
            counts[verdict] += 1
            text = figures.ratio_words(ratio, "–") if ratio else \
                row["engines"][name]["failed"] or row["engines"]["linnet"]["failed"] or "–"
            lines.append((Raw(f'<a href="#w{self.rows.index(row)}">'
                              f"{escape(title_of(row))}</a>"), row["batch"], name,
                          text, VERDICTS[verdict]))
        words = "; ".join(f"{VERDICTS[each]}: {count}" for each, count in counts.items() if count)
        return ["<h2>At a glance</h2>", f"<p>Of {len(found)} comparisons: {escape(words)}.</p>",
                table(("workload", "batch", "beside", "ratio", "verdict"), lines)]

    def legend(self, names):
        return '<p class="legend">' + "".join(
            f'<span><i class="key e{self.colours[name] % plots.COLOURS}"></i>{escape(name)}</span>'
            for name in names) + "</p>"

    def workload(self, index, row):
        about = (f"{row['data'] or 'no data'}{' (synthetic)' if row['synthetic'] else ''}, "
                 f"{row['samples']} samples, batch {row['batch']}, {row['warmup']} + "
                 f"{row['epochs']} epochs, "
                 + ("prediction" if row["mode"] == "infer" else "training"))
        parts = [f'<h2 id="w{index}">{escape(title_of(row))}</h2>',
                 f'<p class="muted">{escape(about)}</p>']
        if row["failed"]:
            return [*parts, f'<p class="warning">Failed: {escape(row["failed"])}</p>']
        lines = []
        for name, engine in row["engines"].items():
            label, *cells = result_table.cells(
                name, engine, row["ratios"].get(name), name in row["losses_differ"],
                self.result["settings"]["repetitions"])
            key = Raw(f'<i class="key e{self.colours[name] % plots.COLOURS}"></i>{escape(label)}')
            lines.append((key, *cells))
        parts.append(table(HEAD, lines))
        peers = [(name, self.colours[name], row["ratios"].get(name),
                  engine["failed"] or "no pair of runs")
                 for name, engine in row["engines"].items() if name != "linnet"]
        if peers:
            parts += ["<h3>Speed: Linnet over each engine</h3>", plots.ratio_bars(peers)]
        return parts + self.loss_curves(row) + self.memory(row) + self.commands(row)

    def loss_curves(self, row):
        lines, names = [], []
        for name, engine in row["engines"].items():
            runs = [run["losses"] for run in figures.good(engine["runs"]) if run.get("losses")]
            if not runs:
                continue
            names.append(name)
            lines += [(self.colours[name], list(enumerate(losses, 1)), True) for losses in runs]
            lines.append((self.colours[name], [(i, statistics.median(each)) for i, each in
                                               enumerate(zip(*runs), 1)], False))
        drawn = plots.curves(lines, "training loss by epoch", "epoch", "loss")
        return ["<h3>Training loss; each repetition faintly, their median boldly</h3>",
                self.legend(names), drawn] if drawn else []

    def memory(self, row):
        rows = [(name, self.colours[name], engine["peak_bytes"] and
                 engine["peak_bytes"]["median"] / 2**20) for name, engine in row["engines"].items()]
        return ["<h3>Memory at the peak of the process</h3>",
                plots.bars(rows, "memory at the peak", "MiB")]

    def commands(self, row):
        lines = [" ".join(row["export"])]
        for engine in row["engines"].values():
            lines.append("".join(f"{key}={value} " for key, value in engine["environment"].items())
                         + " ".join(engine["command"]))
        return ["<h3>Commands, each with --seed 0, 1, … after it</h3>",
                f"<pre>{escape(chr(10).join(lines))}</pre>"]

    def scaling(self):
        parts = []
        for by, title, rows in scaling.groups(self.result):
            found = {name: scaling.points(rows, by, name) for name in self.colours}
            names = [name for name, points in found.items() if points]
            drawn = plots.curves([(self.colours[name], found[name], False) for name in names],
                                 title, scaling.WORDS[by], "samples/s", logarithmic=True)
            parts += [f"<h3>{escape(title)}</h3>", self.legend(names), drawn] if drawn else []
        return ["<h2>Scaling</h2>", *parts] if parts else []

    def side_tables(self):
        parts = []
        for each in side_tables.of(self.result):
            if each.title == "Scaling":  # drawn above
                continue
            parts += [f"<h2>{escape(each.title)}</h2>", f'<p class="muted">{escape(each.about)}</p>',
                      *(self.bars(each) if each.bars else [table(each.head, each.rows)])]
        return parts

    def bars(self, side_table):
        """One drawing a title."""
        return [part for title, values in side_table.bars.items() for part in
                (f"<h3>{escape(title)}</h3>" if title else "",
                 plots.bars([(name, self.colours[name], value) for name, value in values],
                            f"{side_table.title} {title}".strip(), side_table.unit))]

    def published(self):
        parts = ["<h2>Published figures: other hardware, not measured here</h2>",
                 '<p class="warning">What others have published for these workloads on their own '
                 "machines. Nothing above was measured on such a machine, so no figure of this "
                 "section can be compared with one above.</p>"]
        return parts + [table(each.head, each.rows, f"{each.workload}: {each.title}")
                        for each in published.TABLES]


def tables_page(result):
    """Returns the page of a result that another script than run.py wrote."""
    title = other_results.title(result).replace("`", "")
    parts = [f"<h1>{escape(title)}</h1>", *(f'<p class="muted">{escape(each)}</p>'
                                            for each in other_results.about(result))]
    for each in other_results.tables(result):
        parts += [f"<h2>{escape(each.title)}</h2>", f'<p class="muted">{escape(each.about)}</p>',
                  table(each.head, each.rows)]
    return document(title, [*parts, f"<pre>{escape(chr(10).join(result['commands']))}</pre>"])


def page(result):
    return tables_page(result) if "kind" in result else Page(result).html()


def main(names):
    if not names or not all(name.endswith(".json") for name in names):
        sys.exit(__doc__.strip())
    PAGES.mkdir(parents=True, exist_ok=True)
    for source in map(Path, names):
        result = json.loads(source.read_text())
        source.with_suffix(".md").write_text(result_table.markdown(result))
        target = PAGES / f"{source.stem}.html"
        target.write_text(page(result))
        print(target)


if __name__ == "__main__":
    main(sys.argv[1:])
