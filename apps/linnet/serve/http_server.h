// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <string>

namespace linnet::command {

/// Says where and within which limits a server answers.
struct HttpOptions {
  std::string host = "127.0.0.1";
  int port = 8080;                                ///< 0: any that is free
  std::size_t most_bytes = std::size_t{8} << 20;  ///< of a body
  int connections = 64;                           ///< that are answered at the same time
};

struct HttpAnswer {
  int status = 200;
  std::string body = {};
  std::string type = "application/json";
};

/// {"error": sentence}; with 503 the client is told to come again.
HttpAnswer http_error(int status, const std::string& sentence);

/// Answers HTTP/1.1. Functions are called from several threads at once; an exception that one
/// throws becomes status 500. Unknown paths get 404, larger bodies 413, both as http_error().
class HttpServer {
 public:
  explicit HttpServer(const HttpOptions& options);
  HttpServer(const HttpServer&) = delete;
  HttpServer& operator=(const HttpServer&) = delete;
  ~HttpServer();

  /// Answers GET requests for `path`.
  void get(const std::string& path, std::function<HttpAnswer()> answer);
  /// Answers POST requests for `path`, of their content type and body.
  void post(const std::string& path,
            std::function<HttpAnswer(const std::string& type, const std::string& body)> answer);

  /// Binds the port and prints the address as a line on standard output, then answers until the
  /// process gets SIGINT, SIGTERM or SIGHUP. Throws Error where the port is taken or forbidden.
  void run_until_signal();

 private:
  struct Parts;
  std::unique_ptr<Parts> parts_;
};

}  // namespace linnet::command
