// SPDX-License-Identifier: Apache-2.0
#include "report/progress.h"

#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

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
constexpr int kTextWidth = 92;  // of a line without its bar

std::string accuracy_text(double accuracy) {
  return std::isfinite(accuracy) ? fmt::format(", accuracy {:.2f} %", 100 * accuracy)
                                 : std::string();
}

int terminal_columns() {
  winsize size{};
  const bool known = ioctl(STDERR_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0;
  return known ? size.ws_col : 80;
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

ProgressDisplay::ProgressDisplay() : terminal_(isatty(STDERR_FILENO) == 1) {}

bool ProgressDisplay::is_due() {
  const Clock::time_point now = Clock::now();
  const auto pause = terminal_ ? Clock::duration(kTerminalPause) : Clock::duration(kPlainPause);
  if (any_ && now - last_ < pause) return false;
  any_ = true;
  last_ = now;
  return true;
}

void ProgressDisplay::progress(const Progress& progress) {
  if (!is_due()) return;
  if (!terminal_) return line(progress_text(progress, 0));
  bar(progress_text(progress, terminal_columns() >= kTextWidth + kBarWidth ? kBarWidth : 0));
}

void ProgressDisplay::evaluation(const EvaluationProgress& progress) {
  if (!is_due()) return;
  if (!terminal_) return line(evaluation_text(progress));
  bar(evaluation_text(progress));
}

void ProgressDisplay::bar(std::string text) {
  text.resize(std::min(text.size(), static_cast<std::size_t>(terminal_columns() - 1)));
  std::fprintf(stderr, "\r\x1b[2K%s", text.c_str());
  std::fflush(stderr);
  bar_shown_ = true;
}

void ProgressDisplay::epoch(const EpochReport& report, std::int64_t epochs) {
  line(epoch_text(report, epochs));
}

void ProgressDisplay::line(const std::string& text) {
  clear_bar();
  std::fprintf(stderr, "%s\n", text.c_str());
  std::fflush(stderr);
}

void ProgressDisplay::clear_bar() {
  if (bar_shown_) std::fputs("\r\x1b[2K", stderr);
  bar_shown_ = false;
}

}  // namespace linnet::command
