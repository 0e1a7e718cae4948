# SPDX-License-Identifier: Apache-2.0
"""The table of series.py."""
import statistics

from side_table import Table

TITLE = "Series: Linnet beside simple forecasts and scikit-learn"
HEADS = {"linnet-mlp": "Linnet mlp", "linnet-conv1d": "conv1d", "linnet-gru": "gru (default)",
         "linnet-lstm": "lstm", "ridge": "Ridge", "sklearn-mlp": "MLP"}


def shown(scores, key, digits):
    values = [score[key] for score in scores]
    return f"{statistics.median(values):#.{digits}g} ({min(values):#.{digits}g} to {max(values):#.{digits}g})"


def line(each):
    """One series: medians over the seeds (least to most)."""
    simple = [f"{each['persistence']['mae']:#.4g}", f"{each['seasonal']['mae']:#.4g} ({each['season']})"]
    return (each["series"], each["target"], f"{each['past']}, {each['future']}", f"{each['test_windows']:,}",
            *simple, *(shown(each["scores"][kind], "mae", 4) for kind in HEADS))


def seconds(each):
    return (each["series"], *(shown(each["scores"][kind], "seconds", 3) for kind in HEADS))


def tables(result):
    about = ("Mean absolute error on the test windows, in the target's unit; median over the seeds (least "
             "to most). Linnet's networks by their defaults. Ridge: RidgeCV; MLP: MLPRegressor of (128, 128) "
             "with early stopping; both learn the change from the last value on the same windows, with the same "
             "calendar, Linnet's validation windows among them. In parentheses after the seasonal naive "
             "forecast its steps, which Linnet found. gru was made the default by the validation windows; the "
             "networks have a linear part since Ridge's errors were known.")
    return [Table("Errors", about, ("series", "target", "past, future", "test windows", "persistence",
                                    "seasonal naive", *HEADS.values()), [line(each) for each in result["series"]]),
            Table("Seconds of a training", "With the start of the command for Linnet.",
                  ("series", *HEADS.values()), [seconds(each) for each in result["series"]])]
