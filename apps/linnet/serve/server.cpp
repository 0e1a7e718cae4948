// SPDX-License-Identifier: Apache-2.0
#include "serve/server.h"

#include <fmt/format.h>
#include <httplib.h>

#include <chrono>
#include <exception>
#include <utility>

#include "base/check.h"
#include "serve/page.h"

namespace linnet::command {
namespace {

/// What is not UTF-8 in it is replaced.
std::string body_of(const Json& json) {
  return json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n";
}

void put_error(httplib::Response& response, int status, const std::string& sentence) {
  response.status = status;
  response.set_content(body_of({{"error", sentence}}), "application/json");
}

}  // namespace

struct Server::Parts {
  Parts(Model given, std::vector<std::string> words, const ServerOptions& options)
      : model(std::move(given)),
        reader(model, std::move(words)),
        shown(shown_of(model)),
        batcher(model, options.batches, shown.probabilities(), reader.type(), metrics) {}

  void predict(const httplib::Request& request, httplib::Response& response) {
    std::vector<Sample> samples;
    try {
      samples = reader.read(request.get_header_value("Content-Type"), request.body);
    } catch (const Error& error) {
      return put_error(response, 400, error.what());
    }
    try {
      Json answers = Json::array();
      for (const std::vector<float>& row : batcher.predict(std::move(samples))) {
        answers.push_back(answer_json(shown, row));
      }
      response.set_content(body_of({{"predictions", std::move(answers)}}), "application/json");
    } catch (const Overloaded& error) {
      response.set_header("Retry-After", "1");
      put_error(response, 503, error.what());
    } catch (const Error& error) {
      put_error(response, 400, error.what());
    }
  }

  Model model;
  RequestReader reader;
  Shown shown;
  ServerMetrics metrics;
  Batcher batcher;
  httplib::Server http;
  int port = 0;
};

Server::Server(Model model, std::vector<std::string> words, const ServerOptions& options)
    : parts_(std::make_unique<Parts>(std::move(model), std::move(words), options)) {
  httplib::Server& http = parts_->http;
  Parts* parts = parts_.get();
  http.new_task_queue = [count = options.connections] {
    return new httplib::ThreadPool(static_cast<std::size_t>(count));  // which the server deletes
  };
  http.set_payload_max_length(options.most_bytes);
  http.set_read_timeout(std::chrono::seconds(10));
  http.set_write_timeout(std::chrono::seconds(10));
  http.set_keep_alive_timeout(30);
  http.set_tcp_nodelay(true);

  const auto get = [&](const char* path, const char* type, std::function<std::string()> content) {
    http.Get(path, [type, content = std::move(content)](const httplib::Request&,
                                                        httplib::Response& response) {
      response.set_content(content(), type);
    });
  };
  get("/", "text/html; charset=utf-8", [] { return std::string(kServePage); });
  get("/healthz", "text/plain", [] { return std::string("ok\n"); });
  get("/metrics", "text/plain; version=0.0.4", [parts] { return parts->metrics.text(); });
  get("/model", "application/json", [parts] { return body_of(parts->reader.description()); });
  http.Post("/predict", [parts](const httplib::Request& request, httplib::Response& response) {
    const auto begin = std::chrono::steady_clock::now();
    parts->predict(request, response);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    const int status = response.status > 0 ? response.status : 200;
    parts->metrics.count_request("/predict", status, took.count());
  });
  http.set_error_handler([](const httplib::Request& request, httplib::Response& response) {
    if (!response.body.empty()) return;  // a sentence of ours
    put_error(response, response.status,
              response.status == 413 ? std::string("the body is too large")
              : response.status == 404
                  ? fmt::format("there is no {} {}", request.method, request.path)
                  : fmt::format("HTTP status {}", response.status));
  });
  http.set_exception_handler([](const httplib::Request&, httplib::Response& response, auto&&...) {
    put_error(response, 500, "the server has failed");
  });

  parts_->port = options.port == 0 ? http.bind_to_any_port(options.host)
                 : http.bind_to_port(options.host, options.port) ? options.port
                                                                 : -1;
  require(parts_->port > 0, "cannot listen on {}:{}: the port is taken, or not ours to take",
          options.host, options.port);
}

Server::~Server() = default;

int Server::port() const { return parts_->port; }

void Server::run() { parts_->http.listen_after_bind(); }

void Server::stop() { parts_->http.stop(); }

}  // namespace linnet::command
