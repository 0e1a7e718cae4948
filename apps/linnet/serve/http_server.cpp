// SPDX-License-Identifier: Apache-2.0
#include "serve/http_server.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <exception>
#include <memory>
#include <utility>

#include "base/check.h"
#include "report/json.h"

namespace linnet::command {
namespace {

constexpr int kGetThreads = 2;

// A handler can reach nothing but what is static.
volatile std::sig_atomic_t end_descriptor = -1;

void end(int /*signal*/) {
  const int error = errno;
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(end_descriptor, &one, sizeof one);
  errno = error;
}

volatile std::sig_atomic_t hangups_seen = 0;

void count_hangup(int /*signal*/) { hangups_seen = hangups_seen + 1; }

/// While it lives, the first signal that asks to end writes to an event; the second one, of the
/// same kind, finds the system's own handler. SIGHUP is counted. Signals that the parent ignored
/// stay ignored. One at a time.
class ServerSignals {
 public:
  explicit ServerSignals(int descriptor) {
    end_descriptor = descriptor;
    for (std::size_t i = 0; i < kSignals.size(); ++i) {
      const bool ends = kSignals[i] != SIGHUP;
      struct sigaction action {};
      action.sa_handler = ends ? end : count_hangup;
      action.sa_flags = static_cast<int>((ends ? SA_RESETHAND : 0U) | SA_RESTART);
      sigemptyset(&action.sa_mask);
      sigaction(kSignals[i], &action, &before_[i]);
      if (before_[i].sa_handler == SIG_IGN) sigaction(kSignals[i], &before_[i], nullptr);
    }
  }
  ServerSignals(const ServerSignals&) = delete;
  ServerSignals& operator=(const ServerSignals&) = delete;
  ~ServerSignals() {
    for (std::size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], &before_[i], nullptr);
  }

 private:
  static constexpr std::array<int, 3> kSignals{SIGINT, SIGTERM, SIGHUP};
  std::array<struct sigaction, kSignals.size()> before_{};
};

HttpAnswer answer_of(const std::function<HttpAnswer(const HttpRequest&)>& answer,
                     const HttpRequest& request) {
  try {
    return answer(request);
  } catch (const std::bad_alloc&) {
    return http_error(503, "the server has no memory left for this request");
  } catch (const std::exception&) {
    return http_error(500, "the server failed");
  }
}

}  // namespace

HttpAnswer http_error(int status, const std::string& sentence) {
  const Json json{{"error", sentence}};
  return {.status = status,
          .body = json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n"};
}

HttpServer::HttpServer(HttpOptions options) : options_(std::move(options)) {
  for (std::string& host : options_.hosts) host = host_of(host);
  options_.hosts.push_back(host_of(options_.host));
  options_.hosts.emplace_back("localhost");
}

HttpServer::~HttpServer() = default;

int HttpServer::hangups() { return hangups_seen; }

void HttpServer::get(const std::string& path, std::function<HttpAnswer()> answer) {
  gets_[path] = std::move(answer);
}

void HttpServer::post(const std::string& path,
                      std::function<HttpAnswer(const HttpRequest&)> answer) {
  posts_[path] = std::move(answer);
}

std::string HttpServer::objection(const HttpRequest& request) const {
  const auto allowed = [&](const std::string& host) {
    return is_address(host) || std::ranges::count(options_.hosts, host) > 0;
  };
  if (!request.host.empty() && !allowed(request.host)) {
    return fmt::format("the server does not answer for the host '{}'; --allow-host {} lets it",
                       request.host, request.host);
  }
  const std::string origin = host_of(request.origin);
  if (request.origin.empty() || origin == request.host ||
      std::ranges::count(options_.hosts, origin) > 0) {
    return "";
  }
  return fmt::format("the server does not answer pages of '{}'; --allow-host HOST lets it",
                     request.origin);
}

void HttpServer::begin(std::uint64_t connection, HttpRequest request) {
  const std::string objection = this->objection(request);
  const auto get = gets_.find(request.path);
  const auto post = posts_.find(request.path);
  const bool gets = get != gets_.end();
  const bool reads = request.method == "GET" || request.method == "HEAD";
  if (!objection.empty()) {
    loop_->answer(connection, http_error(403, objection));
  } else if (!gets && post == posts_.end()) {
    loop_->answer(connection, http_error(404, fmt::format("unknown path: {} {}", request.method,
                                                          request.path)));
  } else if (gets ? !reads : request.method != "POST") {
    HttpAnswer answer = http_error(405, fmt::format("{} takes {}; got {}", request.path,
                                                    gets ? "GET" : "POST", request.method));
    answer.allow = gets ? "GET, HEAD" : "POST";
    loop_->answer(connection, std::move(answer));
  } else {
    const Answer answer =
        gets ? [of = get->second](const HttpRequest&) { return of(); } : post->second;
    // A function must be copyable, and the body of a request should not be.
    auto shared = std::make_shared<const HttpRequest>(std::move(request));
    (gets ? get_workers_ : post_workers_)->add([this, connection, answer, shared] {
      loop_->answer(connection, answer_of(answer, *shared));
    });
  }
}

void HttpServer::run_until_signal() {
  Listener listener = listen_on(options_.host, options_.port);
  const std::string line = listener.url + "\n";
  loop_ = std::make_unique<HttpLoop>(
      std::move(listener), options_.limits,
      [this](std::uint64_t connection, HttpRequest request) {
        begin(connection, std::move(request));
      },
      options_.log);
  get_workers_ = std::make_unique<WorkerPool>(kGetThreads);
  post_workers_ = std::make_unique<WorkerPool>(kThreads);
  const ServerSignals signals(loop_->end_descriptor());
  print_out(line);
  loop_->run();
}

}  // namespace linnet::command
