// SPDX-License-Identifier: Apache-2.0
#include "serve/server_metrics.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace linnet::command {

void ServerMetrics::count_request(const std::string& path, int status, double seconds) {
  const std::lock_guard lock(mutex_);
  ++requests_[{path, status}];
  if (!path.ends_with("/predict")) return;
  const auto bucket = std::ranges::lower_bound(kSeconds, seconds) - kSeconds.begin();
  ++took_[static_cast<std::size_t>(bucket)];
  seconds_ += seconds;
}

void ServerMetrics::count_batch(std::int64_t samples) {
  const std::lock_guard lock(mutex_);
  ++batches_;
  samples_ += samples;
}

std::string ServerMetrics::text() const {
  const std::lock_guard lock(mutex_);
  std::string text;
  const auto put = [&](const std::string& line) { text += line + "\n"; };
  const auto type = [&](const char* name, const char* kind, const char* help) {
    put(fmt::format("# HELP {} {}\n# TYPE {} {}", name, help, name, kind));
  };
  type("linnet_requests_total", "counter", "Requests by path and status.");
  for (const auto& [key, count] : requests_) {
    put(fmt::format("linnet_requests_total{{path=\"{}\",status=\"{}\"}} {}", key.first, key.second,
                    count));
  }
  type("linnet_predict_seconds", "histogram",
       "Time from a request for a prediction to its answer.");
  std::int64_t so_far = 0;
  for (std::size_t i = 0; i < took_.size(); ++i) {
    so_far += took_[i];
    const std::string limit = i < kSeconds.size() ? fmt::format("{}", kSeconds[i]) : "+Inf";
    put(fmt::format("linnet_predict_seconds_bucket{{le=\"{}\"}} {}", limit, so_far));
  }
  put(fmt::format("linnet_predict_seconds_sum {}\nlinnet_predict_seconds_count {}", seconds_,
                  so_far));
  type("linnet_samples_total", "counter", "Samples predicted.");
  put(fmt::format("linnet_samples_total {}", samples_));
  type("linnet_batches_total", "counter", "Batches predicted.");
  put(fmt::format("linnet_batches_total {}", batches_));
  type("linnet_waiting_samples", "gauge", "Samples waiting for the next batch.");
  put(fmt::format("linnet_waiting_samples {}", waiting.load()));
  return text;
}

}  // namespace linnet::command
