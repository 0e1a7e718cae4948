// SPDX-License-Identifier: Apache-2.0
#include "model/loss_graph.h"

#include "base/check.h"
#include "ops/binary_cross_entropy/binary_cross_entropy.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/regression_loss/regression_loss.h"
#include "ops/softmax/softmax.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

/// Networks may end in probabilities, log-probabilities or (best) logits; passes fuse all three.
Value add_cross_entropy(Graph& graph, Value y, Value labels) {
  const Node* last = graph.producer(y);
  if (op_as<SoftmaxOp>(last) != nullptr) {
    return graph.emit(CrossEntropyOp({CrossEntropyInput::probabilities}), {y, labels}, "loss");
  }
  const bool log_probabilities = op_as<LogSoftmaxOp>(last) != nullptr;
  const Value log_p = log_probabilities ? y : graph.emit(LogSoftmaxOp(), {y}, "loss");
  return graph.emit(CrossEntropyOp({CrossEntropyInput::log_probabilities}), {log_p, labels},
                    "loss");
}

}  // namespace

Value add_loss(Graph& graph, Loss loss, Value y, Value target) {
  switch (loss) {
    case Loss::cross_entropy: return add_cross_entropy(graph, y, target);
    case Loss::mse: return graph.emit(RegressionLossOp({RegressionLoss::mse}), {y, target}, "loss");
    case Loss::mae: return graph.emit(RegressionLossOp({RegressionLoss::mae}), {y, target}, "loss");
    case Loss::binary_cross_entropy: return graph.emit(BceWithLogitsOp(), {y, target}, "loss");
    case Loss::automatic: break;
  }
  throw InternalError("a loss that was not resolved");
}

}  // namespace linnet
