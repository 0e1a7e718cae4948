# SPDX-License-Identifier: Apache-2.0
"""Callbacks, which watch a fit: a live progress bar, and logs in files."""
from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING, Any, TextIO

from . import _linnet
from ._spelling import spelled as _spelled

if TYPE_CHECKING:
    from numpy.typing import ArrayLike

    from ._linnet import (BatchResult, CheckpointReport, EpochReport, EvaluationProgress, History, Model,
                          Progress, ResumeReport)

__all__ = ["Callback", "CsvLog", "FleetCallback", "JsonLinesLog", "ProgressBar", "TensorBoardLog"]


class Callback:
    """Watches a fit: derive from it, override what you need, and pass it as `callbacks`.

    Every method is called on the thread that trains, between steps. An exception that one raises ends
    the fit and reaches the caller. A method may use the trainer and its model: evaluate, predict, ask
    for gradients, state() and best(), save the model. fit(), step(), minimize() and load_state() of the
    same trainer raise Error."""

    def on_batch(self, step: BatchResult) -> None:
        """Called after every step. An override makes the host run one step at a time."""

    def on_progress(self, progress: Progress) -> None:
        """Called several times a second while an epoch runs."""

    def on_evaluation(self, progress: EvaluationProgress) -> None:
        """Called several times a second while a long evaluation runs."""

    def on_epoch(self, report: EpochReport) -> None:
        """Called after the epoch's evaluations. Weights and losses are finite."""

    def stop_requested(self) -> bool:
        """Returns True to end the training after the current step or evaluation."""
        return False

    def on_stop(self) -> None:
        """Called once, as soon as a stop was requested."""

    def on_resume(self, report: ResumeReport) -> None:
        """Called before the first step of a fit that continues one that was stopped."""

    def on_checkpoint(self, report: CheckpointReport) -> None:
        """Called after each checkpoint, also one that could not be written."""

    def on_end(self, history: History) -> None:
        """Called after the last epoch, also of a fit that was stopped, but not after an Error."""


class FleetCallback:
    """Watches a fit of a Fleet: derive from it, override what you need, and pass it as `callbacks`.

    The threads that train call its methods, one call at a time, between steps of the member whose
    index they name. A method must not use the fleet or its members: it would raise Error. An exception
    that one raises ends the fit and reaches the caller."""

    def on_epoch(self, member: int, report: EpochReport) -> None:
        """Called after the evaluations of a member's epoch."""

    def stop_requested(self, member: int) -> bool:
        """Returns True to end the member's training after the current step or evaluation."""
        return False

    def on_resume(self, member: int, report: ResumeReport) -> None:
        """Called before the first step of a member that continues a fit that was stopped."""

    def on_checkpoint(self, report: CheckpointReport) -> None:
        """Called after each checkpoint of the fleet, also one that could not be written."""


class ProgressBar(Callback):
    """Shows a fit while it runs: a line for each epoch, the last of them live. In a notebook the line
    is replaced in the cell's output, elsewhere it is written to `file`, by default stderr."""

    def __init__(self, file: TextIO | None = None) -> None:
        self._file = file
        self._lines: list[str] = []
        self._epochs = 0
        self._shown: Any = None

    def _notebook(self) -> Any:
        """Returns IPython's display function in a notebook, else None."""
        if self._file is not None or "IPython" not in sys.modules:
            return None
        shell = sys.modules["IPython"].get_ipython()
        if shell is None or not hasattr(shell, "kernel"):
            return None
        from IPython.display import display
        return display

    def _show(self, live: str, done: bool = False) -> None:
        display = self._notebook()
        if display is not None:
            text = {"text/plain": "\n".join(self._lines + ([live] if live else []))}
            if self._shown is None:
                self._shown = display(text, raw=True, display_id=True)
            else:
                self._shown.update(text, raw=True)
            return
        file = self._file or sys.stderr
        if done:
            file.write("\r" + self._lines[-1].ljust(78) + "\n")
        elif hasattr(file, "isatty") and file.isatty():
            file.write("\r" + live.ljust(78))
        file.flush()

    def on_progress(self, progress: Progress) -> None:
        self._epochs = progress.epochs
        share = progress.samples_done / max(progress.samples, 1)
        bar = ("━" * round(20 * share)).ljust(20, "─")
        self._show(f"epoch {progress.epoch}/{progress.epochs} {bar} loss {progress.loss:.4f}  "
                   f"{progress.samples_per_second:,.0f} samples/s  {progress.seconds_left:.0f} s left")

    def on_epoch(self, report: EpochReport) -> None:
        line = f"epoch {report.epoch}/{max(self._epochs, report.epoch)}  loss {report.train.loss:.4f}"
        for name, part in (("validation", report.validation), ("test", report.test)):
            if part.samples > 0:
                line += f"  {name} {part.loss:.4f}"
                if part.accuracy == part.accuracy:
                    line += f" ({100 * part.accuracy:.2f} %)"
        self._lines.append(line)
        self._show("", done=True)


class _Log(Callback):
    """A log of the library."""

    _log: Any

    def on_resume(self, report: ResumeReport) -> None:
        self._log.on_resume(report)

    def on_epoch(self, report: EpochReport) -> None:
        self._log.on_epoch(report)


class CsvLog(_Log):
    """Writes a row of comma-separated values for each epoch, after a header: losses, accuracies, metrics,
    learning rate and speed. A value that was not measured is empty. A file with rows is continued.

        trainer.fit(data, epochs=10, callbacks=ln.CsvLog("history.csv"))"""

    @_spelled
    def __init__(self, file: str | os.PathLike[str]) -> None:
        self._log = _linnet._CsvLog(file)  # type: ignore[attr-defined]  # stubs have no private names


class JsonLinesLog(_Log):
    """Writes an object of JSON for each epoch, a line each, with the keys of CsvLog. A value that was not
    measured is null. A file with lines is continued."""

    @_spelled
    def __init__(self, file: str | os.PathLike[str]) -> None:
        self._log = _linnet._JsonLinesLog(file)  # type: ignore[attr-defined]


class TensorBoardLog(_Log):
    """Writes an event file that TensorBoard shows: losses (also of each step), accuracies, custom metrics,
    learning rate and speed; with a model also histograms of its weights and its graph. TensorBoard itself
    is not needed. `tensorboard --logdir FOLDER` shows it.

        trainer.fit(data, epochs=10, callbacks=ln.TensorBoardLog("runs/first", model))

    Arguments:
      folder: where the file "events.out.tfevents..." is made, and the folder if needed
      model: the model whose weights and graph are shown; None: only numbers
      histograms: whether histograms of each weight are written after each epoch
      graph: whether the graph of the network's operators is written, once"""

    @_spelled
    def __init__(self, folder: str | os.PathLike[str], model: Model | None = None, histograms: bool = True,
                 graph: bool = True) -> None:
        self._log = _linnet._TensorBoardLog(folder, model, histograms, graph)  # type: ignore[attr-defined]

    def scalar(self, tag: str, value: float, step: int) -> None:
        """Writes a number under a tag, e.g. "gan/distance"."""
        self._log.scalar(tag, value, step)

    def histogram(self, tag: str, values: ArrayLike, step: int) -> None:
        """Writes a histogram of an array's elements; elements that are not finite are left out."""
        self._log.histogram(tag, values, step)

    def image(self, tag: str, pixels: ArrayLike, step: int) -> None:
        """Writes an image, u8 (height, width, channels) of 1 or 3 channels. Raises Error for others."""
        self._log.image(tag, pixels, step)
