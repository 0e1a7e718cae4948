// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <string>

#include "report/terminal_line.h"

namespace linnet::command {

/// Returns text such as "epoch 2/5  40 %  1234 samples/s, loss 0.2500, ...", for logs.
std::string progress_text(const Progress& progress);
/// Returns the same with a bar after the epoch, in so many columns: what does not fit beside a bar
/// of at least 8 columns is left out, the speed first, then the accuracy.
std::string progress_line(const Progress& progress, std::size_t columns,
                          const TerminalStyle& style);
/// Returns text such as "epoch 2/5: evaluating 4096/10000 samples (41 %)"
std::string evaluation_text(const EvaluationProgress& progress);
/// Returns text such as "epoch 2/5: loss 0.1234, accuracy 96.51 %; test loss ..."
std::string epoch_text(const EpochReport& report, std::int64_t epochs);
/// Returns text such as "1 h 02 min", "3 min 20 s" or "12 s"
std::string duration_text(double seconds);

/// Returns whether a line stays of an epoch: of all of 20, of about as many of more, and of the
/// first and the last.
bool keeps_line(std::int64_t epoch, std::int64_t epochs);

/// Shows a training on standard error: one line that is drawn again and again in a terminal, plain
/// lines (the first state, then one every few seconds) elsewhere, and lines of epochs.
class ProgressDisplay {
 public:
  void progress(const Progress& progress);
  void evaluation(const EvaluationProgress& progress);
  void epoch(const EpochReport& report, std::int64_t epochs);
  /// Shows the last epoch, if its line was left out.
  void end_epochs();
  /// A whole line that does not belong to the bar.
  void line(const std::string& text);

 private:
  using Clock = std::chrono::steady_clock;
  /// Returns whether the last text has been shown long enough.
  bool is_due();

  TerminalLine line_;
  bool any_ = false;
  Clock::time_point start_{};
  Clock::time_point last_{};
  std::string left_out_;  ///< of the last epoch
};

}  // namespace linnet::command
