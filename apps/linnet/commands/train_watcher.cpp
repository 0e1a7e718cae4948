// SPDX-License-Identifier: Apache-2.0
#include "commands/train_watcher.h"

#include <fmt/format.h>
#include <linnet/run_log.h>

#include "base/check.h"
#include "base/folder.h"
#include "data/vocabulary.h"
#include "report/json.h"
#include "report/machine.h"
#include "report/run_record.h"
#include "report/runs.h"

namespace linnet::command {

Watcher::Watcher(Model& model, RunFolder& folder, const std::vector<std::string>& words,
                 const TrainingOptions& training, InterruptGuard& guard)
    : model_(model),
      folder_(folder),
      words_(words),
      epochs_(training.epochs),
      replaces_(training.keep_best || training.average.decay > 0),
      rarely_(!training.checkpoints.every_epoch),
      on_failed_save_(training.checkpoints.on_failed_save),
      guard_(guard) {
  add_log(std::make_unique<JsonLinesLog>(folder.history()));
}

bool Watcher::stop_requested() {
  const bool ends = limit_.callback != nullptr && limit_.callback->stop_requested();
  return ends || InterruptGuard::requested();
}

void Watcher::on_progress(const Progress& reported) {
  Progress progress = reported;
  guard_.training();
  saved_ = false;
  if (limit_.callback != nullptr) limit_.callback->on_progress(progress);
  if (limit_.left) progress.seconds_left = limit_.left();
  for (const auto& log : logs_) log->on_progress(progress);
  tell(progress);
  if (!quiet_) display_.progress(progress);
}

void Watcher::on_epoch(const EpochReport& report) {
  if (!quiet_) display_.epoch(report, epochs_);
  const bool due =
      !rarely_ || std::chrono::steady_clock::now() - saved_at_ > std::chrono::seconds(1);
  if (saved_at_stop_ || (due && attempt([&] { save(); }))) saved_epoch_ = report.epoch;
  for (const auto& log : logs_) attempt([&] { log->on_epoch(report); });
  if (limit_.callback != nullptr) limit_.callback->on_epoch(report);
}

void Watcher::on_stop() {
  saved_at_stop_ = attempt([&] { save(); });
  if (!quiet_) display_.end_epochs();
  if (limit_.callback != nullptr) limit_.callback->on_stop();
  const bool ended = limit_.kind == TimeLimit::Kind::rehearsal ||
                     (limit_.kind == TimeLimit::Kind::run && !InterruptGuard::requested());
  if (!saved_at_stop_ || ended) return;
  trouble(
      fmt::format("linnet: interrupted; the model is saved in '{}'; evaluating it (a second "
                  "signal ends it at once)",
                  folder_.model().string()));
}

void Watcher::on_resume(const ResumeReport& report) {
  for (const std::string& note : report.notes) line("linnet: " + note);
  line(fmt::format("linnet: continuing from '{}', epoch {} after step {}", report.file.string(),
                   report.epoch, report.step));
  for (const auto& log : logs_) log->on_resume(report);
}

void Watcher::on_checkpoint(const CheckpointReport& report) {
  if (!report.error.empty()) {
    trouble(fmt::format("linnet: {}; the training continues", report.error));
  }
}

void Watcher::finish() {
  if (!quiet_) display_.end_epochs();
  if (!saved_ || replaces_) save();
}

void Watcher::save() {
  if (!words_.empty() && !is_file(folder_.vocabulary())) {
    write_vocabulary(folder_.vocabulary(), Vocabulary(words_));
  }
  model_.save(folder_.model());
  saved_ = true;
  saved_at_ = std::chrono::steady_clock::now();
}

void Watcher::tell(const Progress& progress) {
  const auto now = std::chrono::steady_clock::now();
  if (now - progress_written_ < std::chrono::seconds(1)) return;
  progress_written_ = now;
  write_progress(folder_.progress(), {{"epoch", progress.epoch},
                                      {"epochs", progress.epochs},
                                      {"samples_done", progress.samples_done},
                                      {"samples", progress.samples},
                                      {"loss", progress.loss},
                                      {"accuracy", progress.accuracy},
                                      {"samples_per_second", progress.samples_per_second},
                                      {"seconds_left", progress.seconds_left},
                                      {"peak_bytes", peak_bytes()}});
}

template <class Save>
bool Watcher::attempt(const Save& act) {
  if (on_failed_save_ == OnFailedSave::stop) {
    act();
    return true;
  }
  try {
    act();
    return true;
  } catch (const Error& error) {
    trouble(fmt::format("linnet: {}; the training continues", error.what()));
    return false;
  }
}

}  // namespace linnet::command
