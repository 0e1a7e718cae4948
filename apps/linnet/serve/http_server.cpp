// SPDX-License-Identifier: Apache-2.0
#include "serve/http_server.h"

#include <fmt/format.h>
#include <httplib.h>
#include <pthread.h>
#include <sys/socket.h>

#include <chrono>
#include <csignal>
#include <thread>
#include <utility>

#include "base/check.h"
#include "report/json.h"

namespace linnet::command {
namespace {

void put(const HttpAnswer& answer, httplib::Response& response) {
  response.status = answer.status;
  if (answer.status == 503) response.set_header("Retry-After", "1");
  response.set_content(answer.body, answer.type);
}

/// While it lives, signals that ask to end wait for wait(); threads that begin meanwhile hold them
/// too.
class HeldSignals {
 public:
  HeldSignals() {
    sigemptyset(&signals_);
    for (const int signal : {SIGINT, SIGTERM, SIGHUP}) sigaddset(&signals_, signal);
    pthread_sigmask(SIG_BLOCK, &signals_, &before_);
  }
  HeldSignals(const HeldSignals&) = delete;
  HeldSignals& operator=(const HeldSignals&) = delete;
  ~HeldSignals() { pthread_sigmask(SIG_SETMASK, &before_, nullptr); }

  void wait() const {
    int signal = 0;
    sigwait(&signals_, &signal);
  }

 private:
  sigset_t signals_{};
  sigset_t before_{};
};

}  // namespace

HttpAnswer http_error(int status, const std::string& sentence) {
  const Json json{{"error", sentence}};
  return {.status = status,
          .body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

struct HttpServer::Parts {
  HttpOptions options;
  httplib::Server http;
  socket_t listening = INVALID_SOCKET;
};

HttpServer::HttpServer(const HttpOptions& options) : parts_(new Parts{options, {}}) {
  httplib::Server& http = parts_->http;
  http.new_task_queue = [count = options.connections] {
    return new httplib::ThreadPool(static_cast<std::size_t>(count));  // which the server deletes
  };
  http.set_payload_max_length(options.most_bytes);
  http.set_read_timeout(std::chrono::seconds(10));
  http.set_write_timeout(std::chrono::seconds(10));
  http.set_tcp_nodelay(true);
  // The library's 5 makes busy clients connect again and again.
  http.set_keep_alive_max_count(1000);
  // The library's SO_REUSEPORT would let two servers share a port.
  http.set_socket_options([this](socket_t socket) {
    const int yes = 1;
    ::setsockopt(socket, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
    parts_->listening = socket;
  });
  http.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
    if (!response.body.empty()) return;  // a sentence of ours
    const int status = response.status;
    put(http_error(status, status == 413 ? "the request's body is too large"
                           : status == 404
                               ? fmt::format("unknown path: {} {}", request.method, request.path)
                               : fmt::format("HTTP status {}", status)),
        response);
  });
  http.set_exception_handler([](const httplib::Request&, httplib::Response& response, auto&&...) {
    put(http_error(500, "the server failed"), response);
  });
}

HttpServer::~HttpServer() = default;

void HttpServer::get(const std::string& path, std::function<HttpAnswer()> answer) {
  parts_->http.Get(path, [answer = std::move(answer)](const httplib::Request&,
                                                      httplib::Response& response) {
    put(answer(), response);
  });
}

void HttpServer::post(
    const std::string& path,
    std::function<HttpAnswer(const std::string& type, const std::string& body)> answer) {
  parts_->http.Post(path, [answer = std::move(answer)](const httplib::Request& request,
                                                       httplib::Response& response) {
    put(answer(request.get_header_value("Content-Type"), request.body), response);
  });
}

void HttpServer::run_until_signal() {
  const HttpOptions& options = parts_->options;
  httplib::Server& http = parts_->http;
  const HeldSignals signals;
  const int port = options.port == 0 ? http.bind_to_any_port(options.host)
                   : http.bind_to_port(options.host, options.port) ? options.port
                                                                   : -1;
  require(port > 0, "cannot listen on {}:{}: the port is in use, or needs other rights",
          options.host, options.port);
  // The library queues 5 connections; a client whose connection is dropped tries again after 1 s.
  ::listen(parts_->listening, SOMAXCONN);
  std::thread answering([&] { http.listen_after_bind(); });
  print_out(fmt::format("http://{}:{}/\n", options.host, port));
  signals.wait();
  http.stop();
  answering.join();
}

}  // namespace linnet::command
