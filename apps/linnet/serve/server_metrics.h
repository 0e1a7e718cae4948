// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <map>
#include <mutex>
#include <string>
#include <utility>

namespace linnet::command {

/// Counts a server's requests, for /metrics. Thread-safe.
class ServerMetrics {
 public:
  /// A request to a path, its status and how long it took.
  void count_request(const std::string& path, int status, double seconds);
  /// Samples that were predicted together.
  void count_batch(std::int64_t samples);
  std::atomic<std::int64_t> waiting{0};  ///< samples in the queue

  /// In Prometheus's text format (version 0.0.4).
  std::string text() const;

 private:
  static constexpr std::array<double, 9> kSeconds{0.001, 0.0025, 0.005, 0.01, 0.025,
                                                  0.05,  0.1,    0.5,   2.5};
  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, std::int64_t> requests_;  ///< by path and status
  std::array<std::int64_t, kSeconds.size() + 1> took_{};          ///< predictions by seconds
  double seconds_ = 0;
  std::int64_t batches_ = 0;
  std::int64_t samples_ = 0;
};

}  // namespace linnet::command
