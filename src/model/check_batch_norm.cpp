// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

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

/// Returns whether a batch of so many samples has a shard of one.
bool leaves_one(std::int64_t samples, std::int64_t shards) {
  const std::int64_t smaller = samples / shards;
  return samples > 0 && smaller <= 1 && (smaller == 1 || samples % shards > 0);
}

}  // namespace

const Node* norm_of_one_value(const NetworkDefinition& network, std::int64_t samples,
                              std::int64_t batch, std::int64_t shards,
                              const std::vector<bool>& trains) {
  if (!leaves_one(std::min(batch, samples), shards) && !leaves_one(samples % batch, shards)) {
    return nullptr;
  }
  for (const Node& node : network.graph.nodes()) {
    if (op_as<BatchNormOp>(&node) == nullptr || is_frozen(network, node, trains)) continue;
    const Shape& x = network.graph.shape(node.inputs[BatchNormOp::In::x]);
    if (x.elements() == kTemplateBatch * x[-1]) return &node;
  }
  return nullptr;
}

void check_batch_norms(const NetworkDefinition& network, std::int64_t samples, std::int64_t batch,
                       std::int64_t shards, const std::vector<bool>& trains) {
  const Node* node = norm_of_one_value(network, samples, batch, shards, trains);
  if (node == nullptr) return;
  const std::string x =
      to_string(network.graph.shape(node->inputs[BatchNormOp::In::x]).sample().batched(1));
  constexpr std::string_view kExpected = "expected more than 1 value per channel when training";
  require(samples > 1, "[batch_norm '{}'] {}; there is 1 training sample", node->name, kExpected);
  require(batch > 1, "[batch_norm '{}'] {}; a batch of 1 sample gives it {}: choose a larger batch",
          node->name, kExpected, x);
  require(samples % batch == 1 || samples == 1,
          "[batch_norm '{}'] {}; {} shards of batches of {} samples, the last of which has {}, "
          "give it {}: choose fewer shards or another batch",
          node->name, kExpected, shards, batch, samples % batch == 0 ? batch : samples % batch, x);
  fail(
      "[batch_norm '{}'] {}; the last batch of {} samples in batches of {} has 1: choose another "
      "batch size, such as {}, or drop_last (--drop-last), which leaves that sample out",
      node->name, kExpected, samples, batch, other_batch(samples, batch));
}

}  // namespace linnet
