// SPDX-License-Identifier: Apache-2.0
#include "serve/model_server.h"

#include <linnet/series_task.h>

#include <algorithm>
#include <chrono>
#include <thread>
#include <utility>

#include "base/check.h"
#include "serve/pages.h"

namespace linnet::command {
namespace {

/// Returns what is not UTF-8 in it is replaced.
HttpAnswer answer_of(const Json& json) {
  return {.body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

constexpr std::size_t kSmall = 256 << 10;  // bytes of requests that are read at once

/// Returns how many of the turns a request needs: a small one is read without.
int turns_of(const HttpRequest& request) {
  return RequestReader::size_of(request.type, request.body) > kSmall ? 1 : 0;
}

}  // namespace

ModelServer::ModelServer(Model model, std::vector<std::string> words, const HttpOptions& http,
                         const BatcherOptions& batches)
    : model_(std::move(model)),
      reader_(model_, std::move(words),
              {.samples = batches.queue, .bytes = 8 * http.limits.most_bytes}),
      shown_(shown_of(model_)),
      reading_(static_cast<int>(std::max(1U, std::thread::hardware_concurrency()))),
      http_(http) {
  if (!reader_.takes_series()) {
    batcher_.emplace(model_, batches, shown_.probabilities(), reader_.type(), metrics_);
  }
  http_.get("/", [] {
    return HttpAnswer{.body = std::string(kServePage), .type = "text/html; charset=utf-8"};
  });
  http_.get("/healthz", [] { return HttpAnswer{.body = "ok\n", .type = "text/plain"}; });
  http_.get("/metrics", [this] {
    return HttpAnswer{.body = metrics_.text(), .type = "text/plain; version=0.0.4"};
  });
  http_.get("/model", [this] { return answer_of(reader_.description()); });
  http_.post("/predict", [this](const HttpRequest& request) {
    const auto begin = std::chrono::steady_clock::now();
    HttpAnswer answer = predict(request);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    metrics_.count_request("/predict", answer.status, took.count());
    return answer;
  });
}

void ModelServer::run_until_signal() {
  http_.run_until_signal();
  if (batcher_) batcher_->end();  // for those who still wait for an answer that nobody will get
}

Json ModelServer::forecasts(const HttpRequest& request) {
  const Table rows = [&] {
    const Turns::Held turn(reading_, turns_of(request));
    return reader_.read_series(request.type, request.body);
  }();
  const std::lock_guard lock(forecasting_);
  const std::vector<ForecastStep> steps = forecast(model_, rows);
  metrics_.count_batch(1);
  return forecast_json(model_, steps);
}

HttpAnswer ModelServer::predict(const HttpRequest& request) {
  try {
    if (!batcher_) return answer_of(forecasts(request));
    require<Overloaded>(!batcher_->full(), "the queue is full");  // before anything is read
    std::vector<Sample> samples = [&] {
      const Turns::Held turn(reading_, turns_of(request));
      return reader_.read(request.type, request.body);
    }();
    Json answers = Json::array();
    for (const std::vector<float>& row : batcher_->predict(std::move(samples))) {
      answers.push_back(answer_json(shown_, row));
    }
    return answer_of({{"predictions", std::move(answers)}});
  } catch (const Overloaded& error) {
    return http_error(503, error.what());
  } catch (const TooLarge& error) {
    return http_error(413, error.what());
  } catch (const WrongType& error) {
    return http_error(415, error.what());
  } catch (const Error& error) {
    return http_error(400, error.what());
  }
}

}  // namespace linnet::command
