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
#include "runtime/step_exchange.h"

namespace linnet {

/// Sums the statistics of batch norms over all shards of a step, in the shards' tree: those of
/// this process run at the same time, in lanes, and each waits for the sum.
class NormSums {
 public:
  NormSums(std::shared_ptr<StepExchange> exchange, std::size_t lanes, const Ranks& ranks);

  struct End {
    void operator()(StepExchange* exchange) const { exchange->sum_statistics = nullptr; }
  };
  /// As long as it lives, the norms of that step's shards sum.
  using Step = std::unique_ptr<StepExchange, End>;
  Step begin(const StepInfo& step);

 private:
  void sum(std::span<double> sums, std::uint64_t first_row, const std::string& name);

  std::shared_ptr<StepExchange> exchange_;
  std::size_t lanes_;
  Ranks ranks_;
  std::mutex mutex_;
  std::map<std::uint64_t, std::span<double>> given_;  ///< of a norm's shards, by their first rows
};

}  // namespace linnet
