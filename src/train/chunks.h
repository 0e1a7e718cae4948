// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace linnet {

using Clock = std::chrono::steady_clock;

/// Cuts an epoch's steps into runs of about a tenth of a second, so that progress is seen and a
/// stop is heard; or into one run, for a device that goes through an epoch by itself. What is
/// computed does not depend on where the cuts fall.
class Chunks {
 public:
  explicit Chunks(std::uint64_t steps, bool whole = false)
      : steps_(steps), size_(whole ? steps : 1) {}

  /// Returns the end of the run that begins at `step`.
  std::uint64_t next(std::uint64_t step) {
    const Clock::time_point now = Clock::now();
    if (step > 0) {
      const auto elapsed = std::chrono::duration<double>(now - last_).count();
      const double wanted = static_cast<double>(size_) * 0.1 / std::max(elapsed, 1e-6);
      size_ = static_cast<std::uint64_t>(std::clamp(wanted, 1.0, 4.0 * static_cast<double>(size_)));
    }
    last_ = now;
    return std::min(steps_, step + size_);
  }

 private:
  std::uint64_t steps_;
  std::uint64_t size_;
  Clock::time_point last_;
};

}  // namespace linnet
