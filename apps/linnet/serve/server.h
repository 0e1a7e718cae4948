// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <cstddef>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "report/predictions.h"
#include "serve/batcher.h"
#include "serve/request.h"

namespace linnet::command {

/// Says where and within which limits a server answers.
struct ServerOptions {
  std::string host = "127.0.0.1";
  int port = 8080;                                ///< 0: any that is free
  std::size_t most_bytes = std::size_t{8} << 20;  ///< of a body
  int connections = 64;                           ///< that are answered at the same time
  BatcherOptions batches = {};
};

/// Answers HTTP for a model:
///   GET  /          a page to try it
///   POST /predict   what RequestReader reads; {"predictions": [...]}
///   GET  /model     RequestReader::description()
///   GET  /healthz   "ok"
///   GET  /metrics   in Prometheus's text format
/// Errors are {"error": sentence}: 400 for a body that is wrong, 413 for one that is too large, 503
/// where the queue is full or an answer takes too long.
class Server {
 public:
  /// Compiles what it runs and binds the port. Throws Error where that fails.
  Server(Model model, std::vector<std::string> words, const ServerOptions& options);
  ~Server();

  /// The port that it is bound to.
  int port() const;
  /// Answers until stop() is called, from another thread.
  void run();
  void stop();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace linnet::command
