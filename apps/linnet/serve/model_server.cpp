// SPDX-License-Identifier: Apache-2.0
#include "serve/model_server.h"

#include <algorithm>
#include <cctype>
#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

#include "base/check.h"
#include "report/json.h"
#include "serve/pages.h"

namespace linnet::command {
namespace {

constexpr std::size_t kThreadsForSmall = 16;  // however many requests wait for memory

bool is_name(const std::string& text) {
  return !text.empty() && std::ranges::all_of(text, [](unsigned char c) {
    return std::isalnum(c) != 0 || c == '.' || c == '-' || c == '_';
  });
}

/// Looks every second whether models were replaced, while it lives; after SIGHUP all are loaded
/// again.
class Watch {
 public:
  explicit Watch(std::vector<std::unique_ptr<NamedModel>>& models)
      : models_(models), thread_([this] { work(); }) {}
  Watch(const Watch&) = delete;
  Watch& operator=(const Watch&) = delete;
  ~Watch() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    ends_.notify_all();
    thread_.join();
  }

 private:
  void work() {
    std::unique_lock lock(mutex_);
    while (!ends_.wait_for(lock, std::chrono::seconds(1), [this] { return ending_; })) {
      lock.unlock();
      const int hangups = HttpServer::hangups();
      for (const auto& model : models_) model->refresh(hangups != hangups_);
      hangups_ = hangups;
      lock.lock();
    }
  }

  std::vector<std::unique_ptr<NamedModel>>& models_;
  std::mutex mutex_;
  std::condition_variable ends_;
  bool ending_ = false;
  int hangups_ = HttpServer::hangups();  ///< that were acted on
  std::thread thread_;                   ///< last: it uses all of the above
};

}  // namespace

ServedPath served_path_of(const std::string& text) {
  const std::size_t equals = text.find('=');
  std::error_code error;
  if (equals == std::string::npos || std::filesystem::exists(text, error)) {
    std::filesystem::path path = std::filesystem::path(text).lexically_normal();
    if (!path.has_filename()) path = path.parent_path();
    std::string name = path.stem().string();
    std::ranges::replace_if(
        name, [](char c) { return !is_name(std::string(1, c)); }, '-');
    return {.name = name.empty() ? "model" : name, .path = text};
  }
  ServedPath named{.name = text.substr(0, equals), .path = text.substr(equals + 1)};
  require(is_name(named.name),
          "'{}': the name of a model may have letters, digits, '.', '-' and '_'; got '{}'", text,
          named.name);
  return named;
}

ModelServer::ModelServer(const std::vector<ServedPath>& models, const ModelOptions& on,
                         const HttpOptions& http, const BatcherOptions& batches,
                         const RequestLimits& limits)
    : memory_(limits.bytes, HttpServer::kThreads - kThreadsForSmall), http_(http) {
  const ServedBy by{.limits = limits, .batches = batches, .metrics = metrics_, .memory = memory_};
  Json names = Json::array();
  for (const ServedPath& each : models) {
    require(std::ranges::none_of(models_, [&](const auto& m) { return m->name() == each.name; }),
            "two models are called '{}'; NAME=MODEL gives one another name", each.name);
    models_.push_back(std::make_unique<NamedModel>(each.name, each.path, on, by));
    if (models_.size() == 1) serve(*models_[0], "/");
    serve(*models_.back(), "/models/" + each.name + "/");
    names.push_back(each.name);
  }
  http_.get("/models",
            [body = Json{{"models", names}}.dump() + "\n"] { return HttpAnswer{.body = body}; });
  http_.get("/healthz", [] { return HttpAnswer{.body = "ok\n", .type = "text/plain"}; });
  http_.get("/metrics", [this] {
    return HttpAnswer{.body = metrics_.text(), .type = "text/plain; version=0.0.4"};
  });
}

void ModelServer::serve(NamedModel& model, const std::string& folder) {
  http_.get(folder, [] {
    return HttpAnswer{.body = std::string(kServePage), .type = "text/html; charset=utf-8"};
  });
  http_.get(folder + "model", [&model] { return model.current()->describe(); });
  http_.post(folder + "predict", [this, &model](const HttpRequest& request) {
    const auto begin = std::chrono::steady_clock::now();
    HttpAnswer answer = model.current()->predict(request);
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - begin;
    metrics_.count_request(request.path, answer.status, took.count());
    return answer;
  });
}

void ModelServer::run_until_signal() {
  const Watch watch(models_);
  http_.run_until_signal();
  // Those who still wait get no answer any more.
  memory_.end();
  for (const auto& model : models_) model->current()->end();
}

}  // namespace linnet::command
