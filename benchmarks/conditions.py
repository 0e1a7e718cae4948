# SPDX-License-Identifier: Apache-2.0
"""Other conditions under which each repetition runs once more, and what speed engines keep."""
import contextlib
import functools
from collections.abc import Callable
from dataclasses import dataclass

import figures
import neighbour
from side_table import Table, work_of


@dataclass(frozen=True)
class Condition:
    word: str = ""         # of runs under it, after the engine's name
    plain: str = ""        # and of those without it
    title: str = ""        # of the table
    about: str = ""        # what it shows; what "kept" is comes after it
    arguments: tuple = ()  # after the command
    only: tuple = ()       # engines that know it; all where it is empty
    beside: Callable = functools.partial(contextlib.nullcontext, lambda: 0.0)


PLAIN = Condition()
ALL = {  # by the option of run.py that asks for it
    "neighbour": Condition(
        ", disturbed", "alone", "Beside a busy neighbour",
        "A process of one thread spins on one of the machine's processors. Wanted of Linnet: at "
        f"least {neighbour.TARGET} of its speed.",
        beside=neighbour.spinning),
    "streamed": Condition(
        ", streamed", "resident", "Resident against streamed",
        "Linnet with its data in the device's memory, and with `--data streamed` after the "
        "command: in the host's, batches gathered and copied ahead. Peers hold theirs resident.",
        ("--data", "streamed"), ("linnet",)),
}


def summary(plain, changed):
    """Of an engine's repetitions, each without the condition and then under it."""
    return {"runs": changed, "kept": figures.ratio(changed, plain),
            "failed": figures.failure(changed)}


def table(name, result):
    condition, lines = ALL[name], []
    word = condition.word.removeprefix(", ")
    for row in result["workloads"]:
        for engine, found in row.get(name, {}).items():
            plain = row["engines"][engine]
            speeds = [figures.spread([run["samples_per_second"] for run in figures.good(runs)])
                      for runs in (plain["runs"], found["runs"])]
            failed = plain["failed"] or found["failed"]
            lines.append((work_of(row), engine, *map(figures.range_of, speeds),
                          f"failed: {failed}" if failed else figures.ratio_words(found["kept"])))
    about = (f"{condition.about} Kept: the speed {word} over that {condition.plain}, "
             "each pair in turn, median (bootstrap 95 % interval).")
    return Table(condition.title, about, ("workload", "engine", f"samples/s {condition.plain}",
                                          f"samples/s {word}", "kept"), lines)


TABLES = tuple(functools.partial(table, name) for name in ALL)
