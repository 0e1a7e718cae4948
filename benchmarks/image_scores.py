# SPDX-License-Identifier: Apache-2.0
"""The tables of images.py."""
import statistics

from side_table import Table

TITLE = "Images: Linnet beside a small PyTorch network and HOG with an SVM"
HEADS = {"linnet": "Linnet", "torch": "PyTorch", "hog-svm": "HOG + SVM"}


def shown(runs, key, form):
    values = [run[key] for run in runs]
    if not values:
        return "–"
    if len(values) == 1:
        return form(values[0])
    return f"{form(statistics.mean(values))} ({form(min(values))} to {form(max(values))})"


def percent(share):
    return f"{100 * share:.2f}"


def tables(result):
    others = [what for what in result["images"][0]["scores"] if what not in HEADS]
    heads = HEADS | {what: f"Linnet, {what}" for what in others}
    sizes = ("images", "to train", "to test", "classes")

    def lines(key, form):
        return [(each["images"], f"{each['train']:,}", f"{each['test']:,}", str(each["classes"]),
                 *(shown(each["scores"][what], key, form) for what in heads)) for each in result["images"]]

    about = ("Percent of the test images; mean over the seeds (least to most). Linnet's defaults, of which no "
             "choice was made on test images.")
    return [Table("Accuracy", about, (*sizes, *heads.values()), lines("accuracy", percent)),
            Table("CPU seconds of a training", "User and system time on one thread; Linnet's with its start and report.",
                  (*sizes, *heads.values()), lines("seconds", "{:.0f}".format))]
