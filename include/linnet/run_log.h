// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/callback.h>
#include <linnet/export.h>
#include <linnet/model.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Passes everything that it hears to several callbacks, in their order.
/// @code
/// CsvLog csv("run/history.csv");
/// TensorBoardLog board("run", {.model = model});
/// CallbackList both({&csv, &board});
/// trainer.fit(data, {.epochs = 10, .callback = &both});
/// @endcode
class CallbackList : public Callback {
 public:
  /// Makes a list of callbacks, which must outlive it. Throws Error for a null pointer.
  explicit CallbackList(std::vector<Callback*> callbacks);

  void on_batch(const StepResult& step) override;                   ///< calls each that wants it
  void on_progress(const Progress& progress) override;              ///< calls each
  void on_evaluation(const EvaluationProgress& progress) override;  ///< calls each
  void on_epoch(const EpochReport& report) override;                ///< calls each
  bool stop_requested() override;                       ///< asks each; true where one says so
  void on_stop() override;                              ///< calls each
  void on_resume(const ResumeReport& report) override;  ///< calls each
  void on_checkpoint(const CheckpointReport& report) override;  ///< calls each
  void on_end(const History& history) override;                 ///< calls each

 private:
  std::vector<Callback*> callbacks_;
};

/// Writes one line of JSON an epoch: the keys epoch, train_loss, train_accuracy, validation_…,
/// test_…, learning_rate, seconds, samples, samples_per_second and complete, then own metrics as
/// "validation_<name>" and "test_<name>". What was not measured is null. A reader sees each line
/// whole, as soon as the epoch ends.
class JsonLinesLog : public Callback {
 public:
  /// Opens the file at the first epoch and appends to it, so that a continued run goes on in it.
  explicit JsonLinesLog(std::filesystem::path file);
  ~JsonLinesLog() override;

  /// Makes the file one of the epochs that were done, so that it ends as one of a training that
  /// was never stopped.
  void on_resume(const ResumeReport& report) override;
  void on_epoch(const EpochReport& report) override;  ///< appends a line. Throws Error

 private:
  struct Out;
  std::filesystem::path path_;
  std::unique_ptr<Out> out_;
};

/// Writes one row of comma-separated values an epoch, after a header, with the keys of
/// JsonLinesLog; what was not measured is empty. Names with a comma or a quote are quoted as
/// RFC 4180 says.
class CsvLog : public Callback {
 public:
  /// Opens the file at the first epoch. A file that has rows already is continued; on_epoch()
  /// throws Error where its header names other columns.
  explicit CsvLog(std::filesystem::path file);
  ~CsvLog() override;

  /// Makes the file one of the epochs that were done, so that it ends as one of a training that
  /// was never stopped.
  void on_resume(const ResumeReport& report) override;
  void on_epoch(const EpochReport& report) override;  ///< appends a row. Throws Error

 private:
  struct Out;
  std::filesystem::path path_;
  std::unique_ptr<Out> out_;
};

/// Says what a TensorBoardLog writes beside the numbers of each epoch.
struct TensorBoardOptions {
  /// The model whose graph and weights are shown; none: numbers alone.
  std::optional<Model> model = {};
  bool histograms = true;  ///< of each weight, after each epoch
  bool graph = true;       ///< of the network's operators, once
};

/// Writes an event file that TensorBoard shows: scalars for losses (also of each step), accuracies,
/// own metrics, learning rate and speed; with a model also histograms of its weights and its graph.
/// Steps are counted from the first batch; tags are "loss/train", "accuracy/validation",
/// "weight/…". Show it by `tensorboard --logdir FOLDER`.
class TensorBoardLog : public Callback {
 public:
  /// Makes "events.out.tfevents.…" in the folder, which is made too. Each log has a file of its
  /// own. Throws Error where that fails.
  explicit TensorBoardLog(const std::filesystem::path& folder, TensorBoardOptions options = {});
  ~TensorBoardLog() override;

  /// Counts on from the step at which the training continues; TensorBoard drops what an older file
  /// of the folder has from there on.
  void on_resume(const ResumeReport& report) override;
  void on_epoch(const EpochReport& report) override;  ///< writes the epoch's events. Throws Error

  /// Writes a number under `tag`, e.g. "gan/distance".
  void scalar(std::string_view tag, double value, std::int64_t step);
  /// Writes how the elements of a Tensor are distributed; those that are not finite are left out.
  void histogram(std::string_view tag, const Tensor& values, std::int64_t step);
  /// Writes an image, u8 (height, width, channels) of 1 or 3 channels. Throws Error for others.
  void image(std::string_view tag, const Tensor& pixels, std::int64_t step);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace linnet
LINNET_API_END
