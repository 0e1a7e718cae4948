// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/callback.h>
#include <linnet/lbfgs.h>
#include <linnet/metrics.h>
#include <linnet/trainer.h>
#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cmath>

#include "bind.h"
#include "docstrings.h"
#include "gil.h"
#include "options.h"
#include "shown.h"

namespace linnet::python {

template <>
std::vector<std::string> names_of<MinimumReason>() {
  return {"small_gradient", "small_decrease", "iterations", "no_lower_loss"};
}
template <>
std::vector<std::string> names_of<Metrics::Kind>() {
  return {"labels", "binary", "values"};
}

namespace {

std::string text_of(const Evaluation& e) {
  std::string out = fmt::format("Evaluation(loss={:.6g}", e.loss);
  if (!std::isnan(e.accuracy)) out += fmt::format(", accuracy={:.4f}", e.accuracy);
  for (const auto& [name, value] : e.metrics) out += fmt::format(", {}={:.6g}", name, value);
  return out + fmt::format(", samples={})", e.samples);
}

void bind_evaluation(nb::module_& m) {
  nb::class_<Evaluation> evaluation(m, "Evaluation", doc("Evaluation"));
  evaluation.def_ro("loss", &Evaluation::loss, doc("Evaluation.loss"))
      .def_ro("accuracy", &Evaluation::accuracy, doc("Evaluation.accuracy"))
      .def_ro("samples", &Evaluation::samples, doc("Evaluation.samples"))
      .def_ro("metrics", &Evaluation::metrics, doc("Evaluation.metrics"))
      .def_prop_ro(
          "one_view",
          [](const Evaluation& e) {
            return e.one_view == nullptr ? nb::none() : nb::cast(Evaluation(*e.one_view));
          },
          nb::sig("def one_view(self) -> Evaluation | None"), doc("Evaluation.one_view"))
      .def("__repr__", &text_of);
  shown(evaluation, "_repr_html_", "evaluation_html");
}

void bind_progress(nb::module_& m) {
  nb::class_<EpochReport> epoch(m, "EpochReport", doc("EpochReport"));
  epoch.def_ro("epoch", &EpochReport::epoch, doc("EpochReport.epoch"))
      .def_ro("train", &EpochReport::train, doc("EpochReport.train"))
      .def_ro("validation", &EpochReport::validation, doc("EpochReport.validation"))
      .def_ro("test", &EpochReport::test, doc("EpochReport.test"))
      .def_ro("step_losses", &EpochReport::step_losses, doc("EpochReport.step_losses"))
      .def_ro("learning_rate", &EpochReport::learning_rate, doc("EpochReport.learning_rate"))
      .def_ro("seconds", &EpochReport::seconds, doc("EpochReport.seconds"))
      .def_ro("samples_per_second", &EpochReport::samples_per_second,
              doc("EpochReport.samples_per_second"))
      .def_ro("complete", &EpochReport::complete, doc("EpochReport.complete"))
      .def("__repr__", [](const EpochReport& r) {
        std::string out = fmt::format("EpochReport(epoch={}, train={}", r.epoch, text_of(r.train));
        if (r.validation.samples > 0) out += ", validation=" + text_of(r.validation);
        if (r.test.samples > 0) out += ", test=" + text_of(r.test);
        return out + ")";
      });
  nb::class_<Progress>(m, "Progress", doc("Progress"))
      .def_ro("epoch", &Progress::epoch, doc("Progress.epoch"))
      .def_ro("epochs", &Progress::epochs, doc("Progress.epochs"))
      .def_ro("samples_done", &Progress::samples_done, doc("Progress.samples_done"))
      .def_ro("samples", &Progress::samples, doc("Progress.samples"))
      .def_ro("loss", &Progress::loss, doc("Progress.loss"))
      .def_ro("accuracy", &Progress::accuracy, doc("Progress.accuracy"))
      .def_ro("samples_per_second", &Progress::samples_per_second,
              doc("Progress.samples_per_second"))
      .def_ro("seconds_left", &Progress::seconds_left, doc("Progress.seconds_left"));
  nb::class_<EvaluationProgress>(m, "EvaluationProgress", doc("EvaluationProgress"))
      .def_ro("epoch", &EvaluationProgress::epoch, doc("EvaluationProgress.epoch"))
      .def_ro("epochs", &EvaluationProgress::epochs, doc("EvaluationProgress.epochs"))
      .def_ro("samples_done", &EvaluationProgress::samples_done,
              doc("EvaluationProgress.samples_done"))
      .def_ro("samples", &EvaluationProgress::samples, doc("EvaluationProgress.samples"));
}

void bind_files(nb::module_& m) {
  nb::class_<CheckpointReport>(m, "CheckpointReport", doc("CheckpointReport"))
      .def_prop_ro(
          "file", [](const CheckpointReport& r) { return r.file; }, doc("CheckpointReport.file"))
      .def_ro("epoch", &CheckpointReport::epoch, doc("CheckpointReport.epoch"))
      .def_ro("step", &CheckpointReport::step, doc("CheckpointReport.step"))
      .def_ro("seconds", &CheckpointReport::seconds, doc("CheckpointReport.seconds"))
      .def_ro("error", &CheckpointReport::error, doc("CheckpointReport.error"));
  nb::class_<ResumeReport>(m, "ResumeReport", doc("ResumeReport"))
      .def_prop_ro(
          "file", [](const ResumeReport& r) { return r.file; }, doc("ResumeReport.file"))
      .def_ro("epoch", &ResumeReport::epoch, doc("ResumeReport.epoch"))
      .def_ro("step", &ResumeReport::step, doc("ResumeReport.step"))
      .def_ro("epochs", &ResumeReport::epochs, doc("ResumeReport.epochs"))
      .def_ro("notes", &ResumeReport::notes, doc("ResumeReport.notes"));
}

void bind_history(nb::module_& m) {
  nb::class_<History> history(m, "History", doc("History"));
  history.def_ro("epochs", &History::epochs, doc("History.epochs"))
      .def_ro("stopped_early", &History::stopped_early, doc("History.stopped_early"))
      .def_ro("interrupted", &History::interrupted, doc("History.interrupted"))
      .def_ro("startup_seconds", &History::startup_seconds, doc("History.startup_seconds"))
      .def_ro("planned_bytes", &History::planned_bytes, doc("History.planned_bytes"))
      .def_ro("shards", &History::shards, doc("History.shards"))
      .def_ro("notes", &History::notes, doc("History.notes"))
      .def("__len__", [](const History& h) { return h.epochs.size(); })
      .def(
          "__iter__", [](const nb::object& self) { return nb::iter(self.attr("epochs")); },
          nb::sig("def __iter__(self) -> Iterator[EpochReport]"))
      .def(
          "table",
          [](const nb::object& self) {
            return nb::module_::import_("linnet._notebook").attr("history_table")(self);
          },
          nb::sig("def table(self) -> dict[str, list[float]]"),
          "Returns the numbers of all epochs by name, a column each, e.g. for pandas.DataFrame().")
      .def(
          "plot",
          [](const nb::object& self) {
            return nb::module_::import_("linnet._notebook").attr("plot_history")(self);
          },
          nb::sig("def plot(self) -> Any"),
          "Draws the losses and accuracies of all epochs with matplotlib, and returns the figure.")
      .def("__repr__", [](const History& h) {
        if (h.epochs.empty()) return std::string("<History: no epochs>");
        return fmt::format("<History: {} epochs, last {}>", h.epochs.size(),
                           text_of(h.epochs.back().train));
      });
  shown(history, "_repr_html_", "history_html");
}

void bind_minimum(nb::module_& m) {
  nb::class_<Minimum>(m, "Minimum", doc("Minimum"))
      .def_ro("loss", &Minimum::loss, doc("Minimum.loss"))
      .def_ro("losses", &Minimum::losses, doc("Minimum.losses"))
      .def_ro("evaluations", &Minimum::evaluations, doc("Minimum.evaluations"))
      .def_prop_ro(
          "reason", [](const Minimum& r) { return Convert<MinimumReason>::to(r.reason); },
          nb::sig(keep("def reason(self) -> " + Convert<MinimumReason>::type())),
          doc("Minimum.reason"))
      .def("__repr__", [](const Minimum& r) {
        return fmt::format("Minimum(loss={:.6g}, iterations={}, reason='{}')", r.loss,
                           r.losses.empty() ? 0 : r.losses.size() - 1, to_string(r.reason));
      });
}

void bind_metrics(nb::module_& m) {
  nb::class_<ClassScore>(m, "ClassScore", doc("ClassScore"))
      .def_ro("precision", &ClassScore::precision, doc("ClassScore.precision"))
      .def_ro("recall", &ClassScore::recall, doc("ClassScore.recall"))
      .def_ro("f1", &ClassScore::f1, doc("ClassScore.f1"))
      .def_ro("samples", &ClassScore::samples, doc("ClassScore.samples"));
  nb::class_<ClassScores>(m, "ClassScores", doc("ClassScores"))
      .def_ro("classes", &ClassScores::classes, doc("ClassScores.classes"))
      .def_ro("macro", &ClassScores::macro, doc("ClassScores.macro"))
      .def_ro("micro", &ClassScores::micro, doc("ClassScores.micro"));
  nb::class_<LabelAuc>(m, "LabelAuc", doc("LabelAuc"))
      .def_ro("labels", &LabelAuc::labels, doc("LabelAuc.labels"))
      .def_ro("mean", &LabelAuc::mean, doc("LabelAuc.mean"));
  nb::class_<Metrics> metrics(m, "Metrics", doc("Metrics"));
  metrics
      .def_prop_ro(
          "kind", [](const Metrics& r) { return Convert<Metrics::Kind>::to(r.kind); },
          nb::sig(keep("def kind(self) -> " + Convert<Metrics::Kind>::type())), doc("Metrics.kind"))
      .def_ro("samples", &Metrics::samples, doc("Metrics.samples"))
      .def_ro("accuracy", &Metrics::accuracy, doc("Metrics.accuracy"))
      .def_ro("top5", &Metrics::top5, doc("Metrics.top5"))
      .def_ro("log_loss", &Metrics::log_loss, doc("Metrics.log_loss"))
      .def_ro("perplexity", &Metrics::perplexity, doc("Metrics.perplexity"))
      .def_ro("confusion", &Metrics::confusion, doc("Metrics.confusion"))
      .def_ro("scores", &Metrics::scores, doc("Metrics.scores"))
      .def_ro("auc", &Metrics::auc, doc("Metrics.auc"))
      .def_ro("r_squared", &Metrics::r_squared, doc("Metrics.r_squared"))
      .def_ro("mae", &Metrics::mae, doc("Metrics.mae"))
      .def_ro("rmse", &Metrics::rmse, doc("Metrics.rmse"));
  shown(metrics, "_repr_html_", "metrics_html");
}

}  // namespace

void bind_reports(nb::module_& m) {
  bind_evaluation(m);
  bind_progress(m);
  bind_files(m);
  bind_history(m);
  bind_minimum(m);
  bind_metrics(m);
}

}  // namespace linnet::python
