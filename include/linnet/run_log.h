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

/// Passes every call to several callbacks, in their order.
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

  void on_batch(const StepResult& step) override;       ///< calls each that overrides it
  void on_progress(const Progress& progress) override;  ///< calls each
  void on_evaluation(const EvaluationProgress& progress) override;  ///< calls each
  void on_epoch(const EpochReport& report) override;                ///< calls each
  bool stop_requested() override;                       ///< asks each; true if one returns true
  void on_stop() override;                              ///< calls each
  void on_resume(const ResumeReport& report) override;  ///< calls each
  void on_checkpoint(const CheckpointReport& report) override;  ///< calls each
  void on_end(const History& history) override;                 ///< calls each

 private:
  std::vector<Callback*> callbacks_;
};

/// Writes one line of JSON for each epoch: the keys epoch, train_loss, train_accuracy,
/// validation_…, test_…, learning_rate, seconds, samples, samples_per_second and complete, then own
/// metrics as "validation_<name>" and "test_<name>". A value that was not measured is null. A
/// reader sees only whole lines, each as soon as its epoch ends.
class JsonLinesLog : public Callback {
 public:
  /// Opens the file at the first epoch and appends to it, so that a continued run adds to it.
  explicit JsonLinesLog(std::filesystem::path file);
  ~JsonLinesLog() override;

  /// Rewrites the file with the finished epochs, so that it ends like the file of a training
  /// without a stop.
  void on_resume(const ResumeReport& report) override;
  void on_epoch(const EpochReport& report) override;  ///< appends a line. Throws Error

 private:
  struct Out;
  std::filesystem::path path_;
  std::unique_ptr<Out> out_;
};

/// Writes one row of comma-separated values for each epoch, after a header, with the keys of
/// JsonLinesLog. A value that was not measured is empty. Names with a comma or a quote are quoted
/// as in RFC 4180.
class CsvLog : public Callback {
 public:
  /// Opens the file at the first epoch. A file with rows is continued; on_epoch() throws Error if
  /// its header names other columns.
  explicit CsvLog(std::filesystem::path file);
  ~CsvLog() override;

  /// Rewrites the file with the finished epochs, so that it ends like the file of a training
  /// without a stop.
  void on_resume(const ResumeReport& report) override;
  void on_epoch(const EpochReport& report) override;  ///< appends a row. Throws Error

 private:
  struct Out;
  std::filesystem::path path_;
  std::unique_ptr<Out> out_;
};

/// Says what a TensorBoardLog writes in addition to the numbers of each epoch.
struct TensorBoardOptions {
  /// The model whose graph and weights are shown; none: only numbers.
  std::optional<Model> model = {};
  bool histograms = true;  ///< writes histograms of each weight, after each epoch
  bool graph = true;       ///< writes the graph of the network's operators, once
};

/// Writes an event file that TensorBoard shows: scalars for losses (also of each step), accuracies,
/// custom metrics, learning rate and speed; with a model also histograms of its weights and its
/// graph. Steps are counted from the first batch; tags are "loss/train", "accuracy/validation",
/// "weight/…". `tensorboard --logdir FOLDER` shows it.
class TensorBoardLog : public Callback {
 public:
  /// Makes "events.out.tfevents.…" in the folder, and the folder if needed. Each log has its own
  /// file. Throws Error if that fails.
  explicit TensorBoardLog(const std::filesystem::path& folder, TensorBoardOptions options = {});
  ~TensorBoardLog() override;

  /// Sets the step count to the step at which the training continues; TensorBoard drops later steps
  /// of older files in the folder.
  void on_resume(const ResumeReport& report) override;
  void on_epoch(const EpochReport& report) override;  ///< writes the epoch's events. Throws Error

  /// Writes a number under `tag`, e.g. "gan/distance".
  void scalar(std::string_view tag, double value, std::int64_t step);
  /// Writes a histogram of a Tensor's elements; elements that are not finite are left out.
  void histogram(std::string_view tag, const Tensor& values, std::int64_t step);
  /// Writes an image, u8 (height, width, channels) of 1 or 3 channels. Throws Error for others.
  void image(std::string_view tag, const Tensor& pixels, std::int64_t step);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace linnet
LINNET_API_END
