// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <chrono>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "commands/interrupt.h"
#include "report/progress.h"
#include "report/run_folder.h"

namespace linnet::command {

/// Describes what ends a training before its last epoch.
struct TimeLimit {
  enum class Kind {
    none,       ///< nothing does
    rehearsal,  ///< the training is thrown away, and its end is not shown
    run
  };
  Kind kind = Kind::none;
  Callback* callback = nullptr;       ///< follows the training and ends it; null: of no limit
  std::function<double()> left = {};  ///< seconds until a run has to end; empty: of a rehearsal
};

/// Shows, saves and records a training as it goes.
class Watcher : public Callback {
 public:
  /// `words`: of texts, kept beside the model.
  Watcher(Model& model, RunFolder& folder, const std::vector<std::string>& words,
          const TrainingOptions& training, InterruptGuard& guard);

  void on_progress(const Progress& progress) override;
  void on_evaluation(const EvaluationProgress& progress) override {
    if (!quiet_) display_.evaluation(progress);
  }
  void on_epoch(const EpochReport& report) override;
  bool stop_requested() override;
  /// A second signal may come at any time, and what sent the first may not wait long.
  void on_stop() override;
  void on_resume(const ResumeReport& report) override;
  void on_checkpoint(const CheckpointReport& report) override;

  /// Sets what ends the training early. With a limit the model is saved at most once a second.
  void keep_time(const TimeLimit& limit) {
    limit_ = limit;
    rarely_ = rarely_ || limit.callback != nullptr;
  }

  /// Saves the model unless the last epoch's is saved and kept. Throws Error where that fails.
  void finish();
  /// Saves the model, to which something was added after the training.
  void save();
  /// Another record of the training; what it cannot write is treated as what cannot be saved.
  void add_log(std::unique_ptr<Callback> log) { logs_.push_back(std::move(log)); }
  void line(const std::string& text) {
    if (!quiet_) display_.line(text);
  }
  /// A line that be_quiet() does not hide: the training does not go well.
  void trouble(const std::string& text) { display_.line(text); }
  /// Shows only trouble from now on.
  void be_quiet() { quiet_ = true; }
  /// Returns the last epoch whose weights are in the folder; 0: none.
  std::int64_t saved_epoch() const { return saved_epoch_; }

 private:
  /// Does it; what fails ends the training, or is shown where it is to go on.
  template <class Save>
  bool attempt(const Save& act);
  /// For `linnet runs --serve`, once a second.
  void tell(const Progress& progress);

  Model& model_;
  RunFolder& folder_;
  const std::vector<std::string>& words_;
  std::int64_t epochs_;
  bool replaces_;  ///< the training ends with other weights: the best epoch's, or an average
  bool rarely_;    ///< saves the model at most once a second, and not after each epoch
  OnFailedSave on_failed_save_;
  InterruptGuard& guard_;
  std::int64_t saved_epoch_ = 0;
  bool saved_ = false;  ///< the weights as they are
  bool saved_at_stop_ = false;
  bool quiet_ = false;
  TimeLimit limit_;
  std::chrono::steady_clock::time_point saved_at_{};
  std::vector<std::unique_ptr<Callback>> logs_;
  std::chrono::steady_clock::time_point progress_written_{};
  ProgressDisplay display_;
};

}  // namespace linnet::command
