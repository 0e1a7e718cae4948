// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "report/predictions.h"
#include "report/saved_run.h"
#include "serve/batcher.h"
#include "serve/http_loop.h"
#include "serve/memory_budget.h"
#include "serve/request.h"
#include "serve/server_metrics.h"

namespace linnet::command {

/// What the models of a server share.
struct ServedBy {
  RequestLimits limits;
  BatcherOptions batches;
  ServerMetrics& metrics;
  MemoryBudget& memory;  ///< of requests that are not small
};

/// Answers requests for predictions of one model. Thread-safe.
class ServedModel {
 public:
  /// Loads the model of a run and compiles what it runs.
  ServedModel(const SavedRun& run, ModelOptions on, const ServedBy& by);

  /// Answers what RequestReader reads with {"predictions": [...]}, of series with {"forecast":
  /// [...]}; of tables with "targets", the columns that are predicted, and "notes" in the
  /// predictions of rows that are unlike the training's. A body that is wrong gets status 400, of
  /// another media type 415, of more than the limits allow 413; where the queue is full or an
  /// answer takes too long, 503.
  HttpAnswer predict(const HttpRequest& request);
  /// Answers RequestReader::description().
  HttpAnswer describe() const;
  /// Answers what waits, and all that comes, with 503.
  void end();

 private:
  /// The memory that a request holds; none for a small one.
  using Held = std::optional<MemoryBudget::Held>;

  /// Returns what takes a request's memory before it is read.
  Reserve reserve_for(Held& held);
  Json forecasts(const HttpRequest& request);
  Json predictions(const HttpRequest& request);

  Model model_;
  RequestReader reader_;
  Shown shown_;
  ServedBy by_;
  std::optional<Batcher> batcher_;  ///< none for series
  std::mutex forecasting_;          ///< of the model, in one thread at a time
};

/// A model under a name, which is loaded again where its file was replaced. Requests that have
/// begun are answered by the model that they began with.
class NamedModel {
 public:
  /// Throws Error where there is no model, or it cannot be loaded.
  NamedModel(std::string name, std::filesystem::path path, ModelOptions on, const ServedBy& by);

  const std::string& name() const { return name_; }
  std::shared_ptr<ServedModel> current() const;
  /// Loads the model again where its file is another one than before, or `asked`. One that cannot
  /// be read is reported on standard error, and the model before goes on.
  void refresh(bool asked);

 private:
  /// Returns what tells whether a file was replaced.
  static std::string stamp_of(const std::filesystem::path& file);

  std::string name_;
  std::filesystem::path path_;
  std::filesystem::path file_;  ///< of the model
  ModelOptions on_;
  ServedBy by_;
  std::string stamp_;
  mutable std::mutex mutex_;
  std::shared_ptr<ServedModel> current_;
};

}  // namespace linnet::command
