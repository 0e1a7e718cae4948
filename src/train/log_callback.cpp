// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <linnet/trainer.h>

#include <cmath>
#include <cstdio>
#include <string>
#include <typeinfo>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"

namespace linnet {
namespace {

/// In one piece, so that lines of several threads stay whole.
void write_to_stderr(std::string_view line) { fmt::print(stderr, "{}\n", escaped(line)); }

/// "  validation loss 0.4121  accuracy 0.8702  mae 0.3"; nothing without samples.
std::string text_of(std::string_view name, const Evaluation& evaluation) {
  if (evaluation.samples == 0) return "";
  std::string text = fmt::format("  {}loss {:.4f}", name, evaluation.loss);
  if (!std::isnan(evaluation.accuracy))
    text += fmt::format("  accuracy {:.4f}", evaluation.accuracy);
  for (const auto& [metric, value] : evaluation.metrics) {
    text += fmt::format("  {} {:.4g}", metric, value);
  }
  return text;
}

}  // namespace

LogCallback::LogCallback(Write write, std::int64_t every_steps)
    : write_(write != nullptr ? std::move(write) : write_to_stderr),
      every_steps_(static_cast<std::uint64_t>(every_steps)) {
  require(every_steps >= 0, "expected a log line every 0 (none) or more steps; got {}",
          every_steps);
}

void LogCallback::on_batch(const StepResult& step) {
  if (every_steps_ == 0) {
    // Which nobody hears; a class derived from this one may hear more than it passes on.
    if (typeid(*this) == typeid(LogCallback)) Callback::on_batch(step);
    return;
  }
  const std::uint64_t done = step.step() + 1;
  if (done % every_steps_ == 0) write_(fmt::format("step {}  loss {:.4f}", done, step.loss()));
}

void LogCallback::on_progress(const Progress& progress) { epochs_ = progress.epochs; }

void LogCallback::on_epoch(const EpochReport& report) {
  write_(fmt::format("epoch {}/{}{}{}{}  {:.0f} samples/s", report.epoch, epochs_,
                     text_of("", report.train), text_of("validation ", report.validation),
                     text_of("test ", report.test), report.samples_per_second));
}

void LogCallback::on_end(const History& history) {
  double seconds = 0;
  for (const EpochReport& epoch : history.epochs) seconds += epoch.seconds;
  const std::string_view why = history.interrupted     ? "interrupted"
                               : history.stopped_early ? "stopped early: no improvement"
                                                       : "done";
  write_(fmt::format("{}; {} epochs in {:.1f} s", why, history.epochs.size(), seconds));
}

}  // namespace linnet
