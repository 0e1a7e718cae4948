// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <functional>
#include <span>

namespace linnet {

/// What the programs of a step hand to each other while they run, on the host. Who runs the step
/// sets it before; what is empty is not called, and each program's own numbers count then.
struct StepExchange {
  /// Takes arrays that a step has finished, in the order of its all_reduce operators.
  std::function<void(std::span<float>)> take_gradients = {};
  /// Takes sums over the rows of the shard that begins with this row. They are those of the whole
  /// batch once this was called for all shards of this process, which go through the stages of a
  /// norm together; the array must live until then.
  std::function<void(std::span<double> sums, std::uint64_t first_row)> sum_statistics = {};
};

}  // namespace linnet
