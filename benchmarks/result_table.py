# SPDX-License-Identifier: Apache-2.0
"""What run.py makes of its runs: medians, ratios with their intervals, and a page in Markdown."""
import random
import statistics

RESAMPLES = 10000
BUSY = 0.1          # processors that others use, from which on a machine is called busy
INSTALLED = ("Linnet: the command with every shared library that it loads, the system's too. Peers: "
             "all packages of their virtual environment but pip, without Python and the system's "
             "libraries.")
LOSS_NOISE = 0.1    # relative; seeds alone make this much on short runs


def bootstrap(groups, statistic=statistics.median, confidence=0.95, seed=0):
    """Percentile interval of `statistic` of `groups`, each drawn anew with replacement."""
    rng = random.Random(seed)
    found = sorted(statistic(*(rng.choices(group, k=len(group)) for group in groups))
                   for _ in range(RESAMPLES))
    outside = (1 - confidence) / 2
    return found[int(outside * RESAMPLES)], found[int((1 - outside) * RESAMPLES) - 1]


def interval(values):
    """Bootstrap 95 % interval of the median."""
    return bootstrap([values])


def spread(values):
    values = [value for value in values if value is not None]
    if not values:
        return None
    return {"median": statistics.median(values), "min": min(values), "max": max(values)}


def good(runs):
    return [run for run in runs if run and run["failed"] is None]


def summary(runs):
    """Of an engine's repetitions."""
    keys = ("samples_per_second", "loss", "startup_s", "peak_bytes")
    return {"failed": next((run["failed"] for run in runs if run and run["failed"]), None),
            **{key: spread([run.get(key) for run in good(runs)]) for key in keys},
            "runs": runs}


def ratio(linnet, peer):
    """Linnet's speed over the peer's, paired by repetition; None without a pair."""
    each = [a["samples_per_second"] / b["samples_per_second"] for a, b in zip(linnet, peer)
            if good([a]) and good([b])]
    if not each:
        return None
    low, high = interval(each)
    return {"median": statistics.median(each), "low": low, "high": high, "each": each}


def verdict(ratio_to_linnet):
    """What a ratio says of Linnet, no kinder than its interval."""
    if ratio_to_linnet is None:
        return "failed"
    if len(ratio_to_linnet["each"]) < 3:
        return "too few repetitions"
    if ratio_to_linnet["low"] > 1:
        return "faster"
    return "slower" if ratio_to_linnet["high"] < 1 else "no difference shown"


def losses_differ(linnet, peer):
    """Whether final losses are further apart than repetitions of either, and seeds, explain."""
    if not linnet or not peer:
        return False
    width = max(each["max"] - each["min"] for each in (linnet, peer))
    scale = max(abs(linnet["median"]), abs(peer["median"]))
    return abs(linnet["median"] - peer["median"]) > max(width, LOSS_NOISE * scale)


def load_words(load):
    """The load of the machine in a sentence."""
    others = load["others_processors"]
    if others is None:
        return f"load average {load['at_start']:.2f} at the start."
    text = (f"load average {load['at_start']:.2f} at the start; other programs used "
            f"{others['median']:.2f} of {load['processors']} processors "
            f"(up to {others['max']:.2f}).")
    return ("**The machine was busy, so these figures are not to be relied on:** " + text
            if load["busy"] else text[0].upper() + text[1:])


def number(value):
    if value is None:
        return "–"
    return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"


def range_of(values, scale=1.0):
    if values is None:
        return "–"
    ends = f"{number(values['min'] / scale)} to {number(values['max'] / scale)}"
    return f"{number(values['median'] / scale)} ({ends})"


def threads_of(row):
    """The threads of a row, where they were asked for."""
    if not row["threads"]:
        return ""
    return f", {row['threads']} thread{'s' if row['threads'] > 1 else ''}"


def title_of(row):
    return row["name"] + threads_of(row)


def cells(name, engine, ratio_to_linnet, differs):
    against = "–"
    if ratio_to_linnet:
        against = "{median:.2f} ({low:.2f} to {high:.2f})".format(**ratio_to_linnet)
    if engine["failed"]:
        against = f"failed: {engine['failed']}".replace("|", "/")
    loss = f"{engine['loss']['median']:.4g}" if engine["loss"] else "–"
    return (name, range_of(engine["samples_per_second"]), against,
            loss + (" (differs)" if differs else ""),
            number(engine["startup_s"]["median"]) if engine["startup_s"] else "–",
            number(engine["peak_bytes"]["median"] / 2**20) if engine["peak_bytes"] else "–")


def latencies(result):
    """[(row, engine's name, ms from a sample to its prediction)], medians of repetitions' means."""
    return [(row, name, 1000 / engine["samples_per_second"]["median"])
            for row in result["workloads"] if row["mode"] == "infer" and row["batch"] == 1
            for name, engine in row["engines"].items() if engine["samples_per_second"]]


def axes_lines(result):
    """The tables beside the main one, where there is something to say."""
    lines, found = [], latencies(result)
    if found:
        lines += ["", "## Latency at batch 1", "", "| workload | engine | ms a prediction |",
                  "| --- | --- | --- |"]
        lines += [f"| `{row['name']}`{threads_of(row)} | {name} | {number(ms)} |"
                  for row, name, ms in found]
    sizes = {name: size for name, size in result.get("installed_bytes", {}).items() if size}
    if sizes:
        lines += ["", "## Installed size", "", INSTALLED, "", "| engine | MiB |", "| --- | --- |",
                  *(f"| {name} | {number(size / 2**20)} |" for name, size in sizes.items())]
    return lines


def markdown(result):
    machine, settings = result["machine"], result["settings"]
    lines = [f"# Linnet beside its peers, {result['date']}", "",
             f"{machine['processor']}, {machine['processors']} processors, "
             f"{machine['memory_bytes'] / 2**30:.0f} GiB; Linnet {result['linnet']}; device "
             f"{settings['device']}, precision {settings['precision']}, protocol "
             f"{settings['protocol']}, {settings['repetitions']} repetitions, each a fresh "
             "process, engines in turn.", "",
             load_words(result["load"]), "",
             "Samples/s: median (least to most) of the repetitions' median epochs. Ratio: Linnet's "
             "speed over the peer's, median of the pairs (bootstrap 95 % interval); above 1 Linnet "
             "is faster. Loss: of the last epoch. Start-up: seconds of the process outside its "
             "epochs and the reading of its data. Memory: MiB, resident at the peak.", "",
             "| workload | engine | samples/s | ratio | loss | start-up | memory |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for row in result["workloads"]:
        title = (f"`{row['name']}`{threads_of(row)}, {row['data']}"
                 f"{' (synthetic)' if row['synthetic'] else ''}, {row['samples']} samples, batch {row['batch']}, {row['warmup']} + "
                 f"{row['epochs']} epochs")
        if row["failed"]:
            lines.append(f"| {title} | – | – | failed: {row['failed']} | – | – | – |")
        for name, engine in row["engines"].items():
            against = row["ratios"].get(name)
            lines.append("| " + " | ".join((title, *cells(name, engine, against,
                                                          name in row["losses_differ"]))) + " |")
            title = ""
    lines += axes_lines(result)
    lines += ["", "Commands, each with `--seed` 0, 1, ... behind the data's:", "", "```sh"]
    for row in result["workloads"]:
        lines.append(" ".join(row["export"]))
        for name, engine in row["engines"].items():
            environment = "".join(f"{key}={value} " for key, value in engine["environment"].items())
            lines.append(environment + " ".join(engine["command"]))
    return "\n".join(lines + ["```", ""])
