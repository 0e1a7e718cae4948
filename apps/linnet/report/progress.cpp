// SPDX-License-Identifier: Apache-2.0
#include "report/progress.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <limits>
#include <utility>

#include "report/count_progress.h"
#include "report/print.h"

namespace linnet::command {
namespace {

using namespace std::chrono_literals;
constexpr auto kTerminalPause = 100ms;
constexpr auto kPlainPause = 5s;
constexpr auto kLeastPast = 1s;  // before it says how much time is left: the first steps are slow
constexpr std::int64_t kMostLines = 20;
constexpr int kLeastBar = 8;  // columns
constexpr int kMostBar = 30;

std::string accuracy_text(double accuracy) {
  return std::isfinite(accuracy) ? fmt::format(", accuracy {:.2f} %", 100 * accuracy)
                                 : std::string();
}

std::string left_text(const Progress& p) {
  return std::isfinite(p.seconds_left) ? fmt::format(", {} left", duration_text(p.seconds_left))
                                       : std::string();
}

double part_of(const Progress& p) {
  return p.samples > 0 ? static_cast<double>(p.samples_done) / static_cast<double>(p.samples) : 0;
}

}  // namespace

std::string duration_text(double seconds) {
  if (!(seconds >= 0) || seconds > 1e9) return "?";
  const auto all = static_cast<long long>(std::llround(seconds));
  if (all >= 3600) return fmt::format("{} h {:02} min", all / 3600, all / 60 % 60);
  if (all >= 60) return fmt::format("{} min {:02} s", all / 60, all % 60);
  return fmt::format("{} s", all);
}

std::string progress_text(const Progress& p) {
  return fmt::format("epoch {}/{} {:3.0f} %  {:.0f} samples/s, loss {:.4f}{}{}", p.epoch, p.epochs,
                     100 * part_of(p), p.samples_per_second, p.loss, accuracy_text(p.accuracy),
                     left_text(p));
}

std::string progress_line(const Progress& p, std::size_t columns, const TerminalStyle& style) {
  const std::string epoch = fmt::format("epoch {}/{} ", p.epoch, p.epochs);
  const std::string percent = fmt::format(" {:3.0f} %  ", 100 * part_of(p));
  std::string speed = fmt::format("{:.0f} samples/s, ", p.samples_per_second);
  const std::string loss = fmt::format("loss {:.4f}", p.loss);
  std::string accuracy = accuracy_text(p.accuracy);
  const std::string left = left_text(p);
  const auto room = [&] {
    const std::size_t texts = epoch.size() + percent.size() + speed.size() + loss.size() +
                              accuracy.size() + left.size() + 1;  // the last column stays free
    return texts < columns ? static_cast<int>(columns - texts) : 0;
  };
  if (room() < kLeastBar) speed.clear();
  if (room() < kLeastBar) accuracy.clear();
  const int bar = std::clamp(room(), kLeastBar, kMostBar);
  return epoch + bar_text(part_of(p), bar, style) + percent + speed + loss + accuracy + left;
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

bool keeps_line(std::int64_t epoch, std::int64_t epochs) {
  const std::int64_t step = (epochs + kMostLines - 1) / kMostLines;
  return epoch == 1 || epoch == epochs || step <= 1 || epoch % step == 0;
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
  if (!any_) start_ = Clock::now();
  if (!is_due()) return;
  Progress shown = progress;
  if (last_ - start_ < kLeastPast) shown.seconds_left = std::numeric_limits<double>::quiet_NaN();
  line_.draw(line_.live() ? progress_line(shown, TerminalLine::columns(), line_.style())
                          : progress_text(shown));
}

void ProgressDisplay::evaluation(const EvaluationProgress& progress) {
  if (is_due()) line_.draw(evaluation_text(progress));
}

void ProgressDisplay::epoch(const EpochReport& report, std::int64_t epochs) {
  left_out_ = epoch_text(report, epochs);
  if (keeps_line(report.epoch, epochs)) {
    end_epochs();
  } else if (line_.live()) {
    line_.draw(left_out_);
  }
}

void ProgressDisplay::end_epochs() {
  line_.clear();
  if (!left_out_.empty()) print_line(std::exchange(left_out_, ""));
}

void ProgressDisplay::line(const std::string& text) {
  line_.clear();
  print_line(text);
}

}  // namespace linnet::command
