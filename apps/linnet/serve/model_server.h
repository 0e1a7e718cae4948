// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "report/predictions.h"
#include "serve/batcher.h"
#include "serve/http_server.h"
#include "serve/request.h"
#include "serve/turns.h"

namespace linnet::command {

/// Answers HTTP for a model:
///   GET  /          a page to try it
///   POST /predict   what RequestReader reads; {"predictions": [...]}, of series {"forecast":
///   [...]} GET  /model     RequestReader::description() GET  /healthz   "ok" GET  /metrics   in
///   Prometheus's text format
/// A body that is wrong gets status 400, of another media type 415, of more than the limits allow
/// 413; where the queue is full or an answer takes too long, 503.
class ModelServer {
 public:
  /// Compiles what it runs. `words`: of a text model's training, else empty.
  ModelServer(Model model, std::vector<std::string> words, const HttpOptions& http,
              const BatcherOptions& batches);

  void run_until_signal();

 private:
  HttpAnswer predict(const HttpRequest& request);
  Json forecasts(const HttpRequest& request);

  Model model_;
  RequestReader reader_;
  Shown shown_;
  ServerMetrics metrics_;
  std::optional<Batcher> batcher_;  ///< none for series
  Turns reading_;                   ///< of large bodies, as many at a time as there are processors
  std::mutex forecasting_;          ///< of the model, in one thread at a time
  HttpServer http_;
};

}  // namespace linnet::command
