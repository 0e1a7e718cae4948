# SPDX-License-Identifier: Apache-2.0
"""The table of sketch.py."""
import figures
from side_table import Table

TITLE = "mnist-cnn beside a sketch of it"


def speed(row, name):
    return figures.range_of(figures.spread([run["samples_per_second"] for run in row["runs"][name]]))


def tables(result):
    about = (f"Training in fp32, samples/s: median (least to most) of the processes; Linnet's are medians of "
             f"{result['settings']['epochs']} epochs of {result['settings']['samples']} samples, those of "
             f"`{result['sketch']}` medians of its steps. Ratio: Linnet's speed over the sketch's, median of the pairs "
             "in turn (bootstrap 95 % interval; of less than "
             f"{figures.LEAST_RUNS} pairs their number instead).")
    return [Table("Speed", about, ("batch", "threads", "Linnet", "the sketch", "ratio"),
                  [(str(row["batch"]), str(row["threads"]), speed(row, "linnet"), speed(row, "sketch"),
                    figures.ratio_words(row["ratio"])) for row in result["rows"]])]
