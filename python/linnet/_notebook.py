# SPDX-License-Identifier: Apache-2.0
"""How reports look as text and in notebooks. Imported when the first of them is shown."""
from __future__ import annotations

from html import escape
from typing import Any, Iterable, Sequence

import numpy as np


def _table(head: Sequence[str], rows: Iterable[Sequence[object]]) -> str:
    def cell(value: object) -> str:
        right = isinstance(value, (int, float)) or (isinstance(value, str) and value[:1].isdigit())
        return f"<td style='text-align:{'right' if right else 'left'}'>{escape(str(value))}</td>"
    body = "".join("<tr>" + "".join(map(cell, row)) + "</tr>" for row in rows)
    titles = "".join(f"<th style='text-align:left'>{escape(title)}</th>" for title in head)
    return f"<table><thead><tr>{titles}</tr></thead><tbody>{body}</tbody></table>"


def _text_table(head: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    cells = [list(head), *([str(value) for value in row] for row in rows)]
    widths = [max(len(row[i]) for row in cells) for i in range(len(head))]
    return "\n".join("  ".join(value.ljust(width) for value, width in zip(row, widths)).rstrip()
                     for row in cells)


def _number(value: float) -> str:
    return "" if value != value else f"{value:.4g}"


def _short(value: Any) -> str:
    if isinstance(value, float):
        return f"{value:.6g}"
    shape = getattr(value, "shape", None)
    text = f"<array {shape}>" if shape and isinstance(value, np.ndarray) else repr(value)
    return text if len(text) <= 80 else text[:77] + "..."


def fields_text(one: Any) -> str:
    """Any object of the library by its fields, e.g. ClassScore(precision=0.9, ...)."""
    fields = []
    for name, member in vars(type(one)).items():
        if isinstance(member, property) and not name.startswith("_"):
            try:
                fields.append(f"{name}={_short(getattr(one, name))}")
            except Exception:  # a repr never fails: of a forked process, or never made
                continue
    return f"{type(one).__name__}({', '.join(fields)})"


def history_table(history: Any) -> dict[str, list[float]]:
    """The numbers of all epochs, a column each; those that no epoch has are left out."""
    columns: dict[str, list[float]] = {"epoch": [report.epoch for report in history.epochs]}
    for part in ("train", "validation", "test"):
        for name in ("loss", "accuracy"):
            values = [getattr(getattr(report, part), name)
                      if getattr(report, part).samples > 0 else float("nan")
                      for report in history.epochs]
            if any(value == value for value in values):
                columns[f"{part}_{name}"] = values
        names = sorted({name for report in history.epochs for name in getattr(report, part).metrics})
        for name in names:
            columns[f"{part}_{name}"] = [getattr(report, part).metrics.get(name, float("nan"))
                                         for report in history.epochs]
    for name in ("learning_rate", "seconds", "samples_per_second"):
        columns[name] = [getattr(report, name) for report in history.epochs]
    return columns


def plot_history(history: Any) -> Any:
    """Draws losses and accuracies with matplotlib, and returns the figure."""
    from matplotlib.figure import Figure
    columns = history_table(history)
    kinds = [kind for kind in ("loss", "accuracy") if any(name.endswith(kind) for name in columns)]
    figure = Figure(figsize=(5 * len(kinds), 3), layout="constrained")
    for axes, kind in zip(figure.subplots(1, len(kinds), squeeze=False)[0], kinds):
        for name, values in columns.items():
            if name.endswith("_" + kind):
                axes.plot(columns["epoch"], values, marker=".", label=name.removesuffix("_" + kind))
        axes.set_xlabel("epoch")
        axes.set_ylabel(kind)
        axes.legend()
    return figure


def _figure_html(figure: Any) -> str:
    import io

    from matplotlib import rc_context
    out = io.StringIO()
    with rc_context({"svg.fonttype": "none", "svg.hashsalt": "linnet"}):  # small, and the same each time
        figure.savefig(out, format="svg", metadata={"Date": None})
    return out.getvalue()[out.getvalue().index("<svg"):]


def history_html(history: Any) -> str:
    columns = history_table(history)
    rows = zip(*[[_number(value) if name != "epoch" else int(value) for value in values]
                 for name, values in columns.items()])
    text = _table(list(columns), rows)
    try:
        text += _figure_html(plot_history(history))
    except ImportError:
        pass  # without matplotlib the table alone
    return text


def evaluation_html(evaluation: Any) -> str:
    rows: list[tuple[str, object]] = [("loss", _number(evaluation.loss))]
    if evaluation.accuracy == evaluation.accuracy:
        rows.append(("accuracy", f"{100 * evaluation.accuracy:.2f} %"))
    rows += [(name, _number(value)) for name, value in evaluation.metrics.items()]
    return _table(["", "value"], [*rows, ("samples", evaluation.samples)])


def metrics_html(metrics: Any) -> str:
    names = ("accuracy", "top5", "log_loss", "perplexity", "r_squared", "mae", "rmse")
    rows: list[tuple[str, object]] = [(name, _number(getattr(metrics, name))) for name in names
                                      if getattr(metrics, name) == getattr(metrics, name)]
    return _table(["", "value"], [*rows, ("samples", metrics.samples)])


def _megabytes(count: int) -> str:
    return f"{count / 2**20:.1f} MiB"


def _summary_rows(summary: Any) -> list[tuple[object, ...]]:
    return [(layer.name, layer.kind, layer.settings, str(layer.output), f"{layer.parameters:,}",
             f"{layer.flops_per_sample:.3g}") for layer in summary.layers]


_SUMMARY = ("layer", "kind", "settings", "output", "parameters", "FLOPs")


def _totals(summary: Any) -> str:
    return (f"{summary.parameters:,} parameters, {summary.flops_per_sample:.3g} FLOPs a sample; batch "
            f"{summary.batch}: {_megabytes(summary.training.total)} to train, "
            f"{_megabytes(summary.prediction.total)} to predict")


def summary_text(summary: Any) -> str:
    return _text_table(_SUMMARY, _summary_rows(summary)) + "\n" + _totals(summary)


def summary_html(summary: Any) -> str:
    return _table(_SUMMARY, _summary_rows(summary)) + f"<p>{_totals(summary)}</p>"


def network_html(network: Any) -> str:
    from . import summarize
    return summary_html(summarize(network))


def network_text(network: Any) -> str:
    inputs, outputs = ", ".join(network.input_names), ", ".join(network.output_names)
    return (f"<Network: {inputs} {network.input_shape} → {outputs} {network.output_shape}, "
            f"{network.parameters:,} parameters>")


def model_text(model: Any) -> str:
    return f"<Model on {model.device}: " + network_text(model.network).removeprefix("<Network: ")


def model_html(model: Any) -> str:
    return network_html(model.network)


_PROFILE = ("name", "layer", "engine", "seconds", "share", "flops", "bytes", "of_ceiling")


def profile_table(profile: Any) -> dict[str, list[Any]]:
    return {name: [getattr(one, name) for one in profile.operators] for name in _PROFILE}


def _profile_rows(profile: Any) -> list[tuple[object, ...]]:
    return [(one.name, one.layer, one.engine, f"{1e6 * one.seconds:.1f} µs", f"{100 * one.share:.1f} %",
             f"{one.flops:.3g}", f"{one.bytes:.3g}", f"{100 * one.of_ceiling:.0f} %")
            for one in profile.operators]


def profile_text(profile: Any) -> str:
    return _text_table(_PROFILE, _profile_rows(profile))


def profile_html(profile: Any) -> str:
    return _table(_PROFILE, _profile_rows(profile))


def prediction_report_html(report: Any) -> str:
    """Scores of each class or value; the curves are numbers of the report's own fields."""
    if report.classes:
        head = ("class", "ROC AUC", "average precision", "calibration error", "Brier score")
        rows = [(one.name, _number(one.curve.roc_area()), _number(one.curve.average_precision()),
                 _number(one.calibration.expected_error), _number(one.calibration.brier))
                for one in report.classes]
        return _table(head, rows)
    values = [(one.name, _number(one.r_squared), _number(one.mae), _number(one.rmse)) for one in report.values]
    return _table(("value", "R²", "mean absolute error", "root mean squared error"), values)


def importance_html(importance: Any) -> str:
    rows = [(one.column, _number(one.mean), _number(one.std))
            for one in sorted(importance.columns, key=lambda one: -float(one.mean))]
    return _table(("column", f"loss of {importance.score}", "std"), rows)
