// SPDX-License-Identifier: Apache-2.0
#include "base/check.h"
#include "model/check_values.h"
#include "ops/batch_norm/batch_norm.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

/// Returns the nearest larger batch size whose last batch has not one sample; of at least 2
/// samples.
std::int64_t other_batch(std::int64_t samples, std::int64_t batch) {
  do ++batch;
  while (samples % batch == 1);
  return batch;
}

}  // namespace

void check_batch_norms(const NetworkDefinition& network, std::int64_t samples, std::int64_t batch,
                       const std::vector<bool>& trains) {
  for (const Node& node : network.graph.nodes()) {
    if (op_as<BatchNormOp>(&node) == nullptr || is_frozen(network, node, trains)) continue;
    const Shape x = network.graph.shape(node.inputs[BatchNormOp::In::x]).sample().batched(1);
    if (network.graph.shape(node.inputs[BatchNormOp::In::x]).elements() != kTemplateBatch * x[-1])
      continue;
    constexpr std::string_view kExpected = "expected more than 1 value per channel when training";
    require(samples > 1, "[batch_norm '{}'] {}; there is 1 training sample", node.name, kExpected);
    require(batch > 1,
            "[batch_norm '{}'] {}; a batch of 1 sample gives it {}: choose a larger batch",
            node.name, kExpected, to_string(x));
    fail(
        "[batch_norm '{}'] {}; the last batch of {} samples in batches of {} has 1: choose another "
        "batch size, such as {}, or drop_last (--drop-last), which leaves that sample out",
        node.name, kExpected, samples, batch, other_batch(samples, batch));
  }
}

}  // namespace linnet
