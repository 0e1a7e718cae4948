# SPDX-License-Identifier: Apache-2.0
"""What run.py writes about a result in Markdown."""
import side_tables
from figures import number, range_of
from side_table import ratio_words, threads_of

BUSY = 0.1          # processors that others use, from which on a machine is called busy
INSTALLED = ("Linnet: the command with every shared library that it loads, the system's too. Peers: "
             "all packages of their virtual environment but pip, without Python and the system's "
             "libraries.")


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


def cells(name, engine, ratio_to_linnet, differs):
    against = ratio_words(ratio_to_linnet)
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
    for table in side_tables.of(result):
        lines += table.markdown()
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
