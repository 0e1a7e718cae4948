// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "serve/http_server.h"
#include "serve/served_model.h"

namespace linnet::command {

/// Names a model that is served.
struct ServedPath {
  std::string name;            ///< letters, digits, '.', '-' and '_'
  std::filesystem::path path;  ///< a run folder, or a model file
};

/// Returns what "NAME=PATH" says, or a path under the name of its last folder or file. Throws Error
/// for a name of other characters.
ServedPath served_path_of(const std::string& text);

/// Answers HTTP for models, the first one of which is also that of the short paths:
///   GET  /          a page to try it                GET /models/NAME/
///   POST /predict   ServedModel::predict()          POST /models/NAME/predict
///   GET  /model     ServedModel::describe()         GET /models/NAME/model
///   GET  /models    the names
///   GET  /healthz   "ok"
///   GET  /metrics   in Prometheus's text format
class ModelServer {
 public:
  /// Loads all models. Throws Error for two of one name.
  ModelServer(const std::vector<ServedPath>& models, const ModelOptions& on,
              const HttpOptions& http, const BatcherOptions& batches, const RequestLimits& limits);

  void run_until_signal();

 private:
  void serve(NamedModel& model, const std::string& folder);

  ServerMetrics metrics_;
  MemoryBudget memory_;  ///< of all requests
  std::vector<std::unique_ptr<NamedModel>> models_;
  HttpServer http_;
};

}  // namespace linnet::command
