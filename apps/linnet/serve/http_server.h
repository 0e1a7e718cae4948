// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "serve/http_loop.h"
#include "serve/worker_pool.h"

namespace linnet::command {

/// Says where and within which limits a server answers.
struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8080;                      ///< 0: any that is free
  std::vector<std::string> hosts = {};  ///< names that clients may ask for, beside `host`,
                                        ///< localhost and addresses
  HttpLimits limits = {};
  HttpLog log = {};
};

/// Answers HTTP/1.1. Functions are called from several threads at once; an exception that one
/// throws becomes status 500. Unknown paths get 404, other methods 405, as http_error().
class HttpServer {
 public:
  static constexpr int kThreads = 64;  ///< for POST requests: most wait for a batch

  explicit HttpServer(HttpOptions options);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  /// Answers GET and HEAD requests for `path`. These have threads of their own, so that they are
  /// answered while all others wait.
  void get(const std::string& path, std::function<HttpAnswer()> answer);
  /// Answers POST requests for `path`.
  void post(const std::string& path, std::function<HttpAnswer(const HttpRequest&)> answer);

  /// Listens and prints the address as a line on standard output, then answers until the process
  /// gets SIGINT or SIGTERM; what is under way then is finished within a limit. A second signal
  /// ends the process. Throws Error as listen_on() does.
  void run_until_signal();
  /// Returns how often the process got SIGHUP while it answered. Thread-safe.
  static int hangups();

 private:
  using Answer = std::function<HttpAnswer(const HttpRequest&)>;

  void begin(std::uint64_t connection, HttpRequest request);
  /// Returns why the request is not answered, which a page of somebody else may have led a browser
  /// to send; "" where it is.
  std::string objection(const HttpRequest& request) const;

  HttpOptions options_;
  std::map<std::string, std::function<HttpAnswer()>> gets_;
  std::map<std::string, Answer> posts_;
  std::unique_ptr<HttpLoop> loop_;
  std::unique_ptr<WorkerPool> get_workers_;  ///< after what they use
  std::unique_ptr<WorkerPool> post_workers_;
};

}  // namespace linnet::command
