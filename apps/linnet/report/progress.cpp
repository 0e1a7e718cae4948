// SPDX-License-Identifier: Apache-2.0
#include "report/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>

#include "report/count_progress.h"

namespace linnet::command {
namespace {

using namespace std::chrono_literals;
constexpr auto kTerminalPause = 100ms;
constexpr auto kPlainPause = 5s;
constexpr int kBarWidth = 24;
constexpr std::size_t kTextWidth = 92;  // of a line without its bar

std::string accuracy_text(double accuracy) {
  return std::isfinite(accuracy) ? fmt::format(", accuracy {:.2f} %", 100 * accuracy)
                                 : std::string();
}

}  // namespace

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  const auto all = static_cast<long long>(std::llround(seconds));
  if (all >= 3600) return fmt::format("{} h {:02} min", all / 3600, all / 60 % 60);
  if (all >= 60) return fmt::format("{} min {:02} s", all / 60, all % 60);
  return fmt::format("{} s", all);
}

std::string progress_text(const Progress& p, int bar_width) {
  const double part =
      p.samples > 0 ? static_cast<double>(p.samples_done) / static_cast<double>(p.samples) : 0;
  std::string bar;
  if (bar_width > 0) {
    const auto full = static_cast<std::size_t>(std::clamp(part, 0.0, 1.0) * bar_width);
    bar = " [" + std::string(full, '=') +
          std::string(static_cast<std::size_t>(bar_width) - full, ' ') + "]";
  }
  return fmt::format("epoch {}/{}{} {:3.0f} %  {:.0f} samples/s, loss {:.4f}{}, {} left", p.epoch,
                     p.epochs, bar, 100 * part, p.samples_per_second, p.loss,
                     accuracy_text(p.accuracy), duration_text(p.seconds_left));
}

std::string evaluation_text(const EvaluationProgress& p) {
  return fmt::format("epoch {}/{}: {}", p.epoch, p.epochs,
                     count_text("evaluating", p.samples_done, p.samples, "samples"));
}

std::string epoch_text(const EpochReport& r, std::int64_t epochs) {
  std::string text = fmt::format("epoch {}/{}: loss {:.4f}{}", r.epoch, epochs, r.train.loss,
                                 accuracy_text(r.train.accuracy));
  if (r.validation.samples > 0) {
    text += fmt::format("; validation loss {:.4f}{}", r.validation.loss,
                        accuracy_text(r.validation.accuracy));
  }
  if (r.test.samples > 0) {
    text += fmt::format("; test loss {:.4f}{}", r.test.loss, accuracy_text(r.test.accuracy));
  }
  return text + fmt::format("; {:.2f} s, {:.0f} samples/s", r.seconds, r.samples_per_second);
}

bool ProgressDisplay::is_due() {
  const Clock::time_point now = Clock::now();
  const auto pause = line_.live() ? Clock::duration(kTerminalPause) : Clock::duration(kPlainPause);
  if (any_ && now - last_ < pause) return false;
  any_ = true;
  last_ = now;
  return true;
}

void ProgressDisplay::progress(const Progress& progress) {
  if (!is_due()) return;
  const bool wide = line_.live() && TerminalLine::columns() >= kTextWidth + kBarWidth;
  line_.draw(progress_text(progress, wide ? kBarWidth : 0));
}

void ProgressDisplay::evaluation(const EvaluationProgress& progress) {
  if (is_due()) line_.draw(evaluation_text(progress));
}

void ProgressDisplay::epoch(const EpochReport& report, std::int64_t epochs) {
  line(epoch_text(report, epochs));
}

void ProgressDisplay::line(const std::string& text) {
  line_.clear();
  std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
}

}  // namespace linnet::command
