# SPDX-License-Identifier: Apache-2.0
"""The tables of table_ensembles.py."""
import math
import statistics

from side_table import Table

TITLE = "Tables: the default ensemble beside one network, linear models and trees"
DOUBTED = "seconds"  # on a busy machine; errors do not depend on it
ENSEMBLE, ONE = "ensemble", "one network"
FEW = 700  # rows


def errors_of(each):
    return {name: statistics.mean(errors) for name, errors in each["errors"].items()}


def ratio(each):
    errors = errors_of(each)
    return errors[ENSEMBLE] / errors[ONE]


def spread(each):
    """The std over the seeds of the ratio of both errors."""
    return statistics.stdev(a / b for a, b in zip(each["errors"][ENSEMBLE], each["errors"][ONE], strict=True))


def mean_ratio(tables):
    return math.exp(statistics.mean(math.log(ratio(each)) for each in tables))


def mean_ranks(tables, names):
    """Mean ranks by the errors, 1 is best; one network is left out, as the ensemble stands for Linnet."""
    ranks = {name: [] for name in names}
    for each in tables:
        errors = errors_of(each)
        ordered = sorted(names, key=errors.__getitem__)
        for name in names:
            ranks[name].append(ordered.index(name) + 1)
    return {name: statistics.mean(all_ranks) for name, all_ranks in ranks.items()}


def summary(what, tables):
    names = [name for name in tables[0]["errors"] if name != ONE]
    ranks = mean_ranks(tables, names)
    seconds = [statistics.mean(each["seconds"][ENSEMBLE]) / statistics.mean(each["seconds"][ONE]) for each in tables]
    return (what, len(tables), f"{mean_ratio(tables):.3f}",
            f"{sum(ratio(each) < 1 for each in tables)} / {sum(ratio(each) > 1 for each in tables)}",
            *(f"{ranks[name]:.2f}" for name in names), f"{statistics.geometric_mean(seconds):.1f}")


def line(each):
    errors = errors_of(each)
    took = {name: statistics.mean(seconds) for name, seconds in each["seconds"].items()}
    return (each["table"], each["half"], f"{each['rows']:,}", each["score"],
            *(f"{error:.4g}" for error in errors.values()), f"{ratio(each):.3f} ± {spread(each):.3f}",
            f"{took[ENSEMBLE]:.1f} / {took[ONE]:.1f}")


def tables(result):
    found = result["tables"]
    names = list(found[0]["errors"])
    parts = {"all": found, "tune": [e for e in found if e["half"] == "tune"], "check": [e for e in found if e["half"] == "check"],
             f"check, fewer than {FEW} rows": [e for e in found if e["half"] == "check" and e["rows"] < FEW],
             f"check, {FEW} rows or more": [e for e in found if e["half"] == "check" and e["rows"] >= FEW]}
    return [Table("Summary", "Geometric mean of the ensemble's error over that of one network; tables on which it is smaller and "
                  "larger; mean ranks without the single network, 1 is best; geometric mean of the CPU seconds of a training over the single network's.",
                  ("half", "tables", "error ratio", "better / worse", *(f"rank of {name}" for name in names if name != ONE), "CPU time"),
                  [summary(what, part) for what, part in parts.items() if part]),
            Table("Errors", "Mean over the seeds on held-out rows; the ratio with its std over the seeds; CPU seconds of a training, of the "
                  "ensemble and of one network.",
                  ("table", "half", "rows", "error", *names, "ratio", "seconds"), [line(each) for each in found])]
