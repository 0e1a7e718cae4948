// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/ranks.h>

#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>

#include "graph/op.h"
#include "ops/batch_norm/batch_norm.h"

namespace linnet {

/// Sums the statistics of batch norms over all leaves of a step, in the leaves' tree: those of
/// this process run at the same time, in lanes, and each waits for the sum.
class NormSums {
 public:
  NormSums(std::shared_ptr<NormSync> sync, std::size_t lanes, const Ranks& ranks);

  struct End {
    void operator()(NormSync* sync) const { sync->sum = nullptr; }
  };
  /// As long as it lives, the norms of that step's leaves sum.
  using Step = std::unique_ptr<NormSync, End>;
  Step begin(const StepInfo& step);

 private:
  void sum(std::span<double> sums, std::uint64_t first_row, const std::string& name);

  std::shared_ptr<NormSync> sync_;
  std::size_t lanes_;
  Ranks ranks_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::span<double>> given_;  ///< of a norm's leaves, by their first rows
};

}  // namespace linnet
