# SPDX-License-Identifier: Apache-2.0
"""What run.py writes about a result in Markdown."""
import machine
import other_results
import result_name
import side_tables
from figures import LEAST_RUNS, good, number, range_of, ratio_words
from side_table import threads_of

RATIO = ("Ratio: Linnet's speed over the peer's, median of the pairs of repetitions (bootstrap 95 % "
         f"interval; of less than {LEAST_RUNS} pairs their number instead); above 1 Linnet is "
         "faster.")


def repetitions_words(result):
    """How often engines ran, those that did so less often by name."""
    wanted, less = result["settings"]["repetitions"], {}
    for name in result["settings"]["peers"]:
        most = max((len(row["engines"][name]["runs"]) for row in result["workloads"]
                    if name in row["engines"] and not row["engines"][name]["failed"]),
                   default=wanted)
        if most < wanted:
            less.setdefault(most, []).append(name)
    words = "; ".join(f"{', '.join(names)}: {most}" for most, names in less.items())
    return f"{wanted} repetition{'s' if wanted > 1 else ''}" + (f" ({words})" if words else "")


def runs_words(engine, wanted):
    """How often an engine ran in a row, if not as often as the head says."""
    count = len(good(engine["runs"]))
    return "" if engine["failed"] or count == wanted else \
        f", {count} run{'s' if count > 1 else ''}"


def cells(name, engine, ratio_to_linnet, differs, wanted):
    against = ratio_words(ratio_to_linnet)
    if engine["failed"]:
        against = f"failed: {engine['failed']}".replace("|", "/")
    loss = f"{engine['loss']['median']:.4g}" if engine["loss"] else "–"
    return (name + runs_words(engine, wanted), range_of(engine["samples_per_second"]), against,
            loss + (" (differs)" if differs else ""),
            number(engine["startup_s"]["median"]) if engine["startup_s"] else "–",
            number(engine["peak_bytes"]["median"] / 2**20) if engine["peak_bytes"] else "–")


def markdown(result):
    if "kind" in result:
        return other_results.markdown(result)
    about, settings = result["machine"], result["settings"]
    lines = [f"# Linnet beside its peers, {result['date']}", "",
             f"{about['processor']}, {about['processors']} processors, "
             f"{about['memory_bytes'] / 2**30:.0f} GiB; Linnet {result['linnet']}; device "
             f"{settings['device']}, precision {settings['precision']}, protocol "
             f"{settings['protocol']}, {repetitions_words(result)}, each a fresh process, engines "
             "in turn.", "",
             machine.load_words(result["load"]), "",
             *([result_name.versions_words(result), ""] if "versions" in result else []),
             f"Samples/s: median (least to most) of the repetitions' median epochs. {RATIO} Loss: "
             "of the last epoch. Start-up: seconds of the process outside its epochs and the "
             "reading of its data. Memory: MiB, resident at the peak.", "",
             "| workload | engine | samples/s | ratio | loss | start-up | memory |",
             "| --- | --- | --- | --- | --- | --- | --- |"]
    for row in result["workloads"]:
        title = (f"`{row['name']}`{threads_of(row)}, {row['data']}"
                 f"{' (synthetic)' if row['synthetic'] else ''}, {row['samples']} samples, batch "
                 f"{row['batch']}, {row['warmup']} + {row['epochs']} epochs")
        if row["failed"]:
            lines.append(f"| {title} | – | – | failed: {row['failed']} | – | – | – |")
        for name, engine in row["engines"].items():
            against = row["ratios"].get(name)
            found = cells(name, engine, against, name in row["losses_differ"],
                          settings["repetitions"])
            lines.append("| " + " | ".join((title, *found)) + " |")
            title = ""
    for table in side_tables.of(result):
        lines += table.markdown()
    lines += ["", "Commands, each with `--seed` 0, 1, ... after the data's:", "", "```sh"]
    for row in result["workloads"]:
        lines.append(" ".join(row["export"]))
        for name, engine in row["engines"].items():
            environment = "".join(f"{key}={value} " for key, value in engine["environment"].items())
            lines.append(environment + " ".join(engine["command"]))
    return "\n".join(lines + ["```", ""])
