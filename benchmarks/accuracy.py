# SPDX-License-Identifier: Apache-2.0
"""Seconds of training until a test accuracy is reached, of runs with --test."""
import figures
from side_table import Table, work_of


def seconds_to(run, target):
    """Of a run without warm-up; None if it never gets there. Linnet's compilation is in it. Peers
    compile in their first epoch or, to their favour, uncounted before it."""
    spent = run.get("compile_s") or 0.0
    for seconds, accuracy in zip(run["timed_seconds"], run["test_accuracies"]):
        spent += seconds
        if accuracy is not None and accuracy >= target:
            return spent
    return None


def best(runs):
    found = [each for run in runs for each in run["test_accuracies"] if each is not None]
    return f"best {max(found):.4f}" if found else "it has none"


def cells(engine, ours, target, name):
    """(seconds, the engine's over Linnet's) in words."""
    runs = figures.good(engine["runs"])
    if engine["failed"]:
        return f"failed: {engine['failed']}", "–"
    seconds = figures.spread([seconds_to(run, target) for run in runs])
    if not seconds:
        return f"not reached ({best(runs)})", "–"
    reached = sum(seconds_to(run, target) is not None for run in runs)
    some = f", {reached} of {len(runs)} runs" if reached < len(runs) else ""
    timed = [[{"failed": None, "to": seconds_to(run, target)} if figures.good([run]) else None
              for run in each] for each in (engine["runs"], ours)]
    return (figures.range_of(seconds) + some,
            "–" if name == "linnet" else figures.ratio_words(figures.ratio(*timed, key="to")))


def table(result):
    target, lines = result["settings"].get("accuracy"), []
    for row in result["workloads"] if target else []:
        ours = row["engines"].get("linnet", {}).get("runs", [])
        lines += [(work_of(row), name, *cells(engine, ours, target, name))
                  for name, engine in row["engines"].items() if row["mode"] == "train"]
    about = (f"Seconds of training until the test set is first predicted with an accuracy of "
             f"{target}, looked at after each epoch, off the clock: median (least to most). "
             "Linnet's compilation is in it; of its peers only what they compile in their first "
             "epoch. Ratio: the peer's over Linnet's, median of the pairs (bootstrap 95 % "
             "interval); above 1 Linnet is there first.")
    return Table("Time to accuracy", about, ("workload", "engine", "seconds", "ratio"), lines)
