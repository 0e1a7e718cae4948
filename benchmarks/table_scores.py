# SPDX-License-Identifier: Apache-2.0
"""The table of tables.py."""
import statistics

from side_table import Table

TITLE = "Tables: Linnet beside scikit-learn"
DOUBTED = "seconds"  # on a busy machine; scores do not depend on it
LINNET, MLP, TREES = "linnet", "sklearn-mlp", "hist-gradient-boosting"


def line(each):
    """One table: medians over the splits (least to most), and Linnet's distance from the others."""
    middle = {name: statistics.median(scores) for name, scores in each["scores"].items()}
    shown = {name: f"{middle[name]:.4f} ({min(scores):.4f} to {max(scores):.4f})"
             for name, scores in each["scores"].items()}
    took = {name: statistics.median(seconds) for name, seconds in each["seconds"].items()}
    return (each["table"], f"{each['rows']:,}", each["score"], shown[LINNET], shown[MLP],
            f"{middle[LINNET] - middle[MLP]:+.4f}", shown[TREES],
            f"{middle[LINNET] - middle[TREES]:+.4f}", f"{took[LINNET]:.1f} / {took[MLP]:.1f}")


def tables(result):
    about = ("Median over the splits (least to most) of the score on held-out rows, which is the mean of "
             "three trainings from other seeds. Linnet by its defaults; MLP: scikit-learn's MLPClassifier or MLPRegressor of (128, 128) with early "
             "stopping on standardised inputs and targets; HGB: HistGradientBoosting by its "
             "defaults. Seconds of one training: Linnet's, the MLP's. " + result.get("note", ""))
    return [Table("Scores", about.strip(),
                  ("table", "rows", "score", "Linnet", "MLP", "Linnet − MLP", "HGB",
                   "Linnet − HGB", "seconds"), [line(each) for each in result["tables"]])]
