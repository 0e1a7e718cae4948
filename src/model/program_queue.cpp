// SPDX-License-Identifier: Apache-2.0
#include "model/program_queue.h"

#include <utility>

#include "base/check.h"
#include "ops/batch_norm/batch_norm.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

constexpr std::size_t kMany = 256;  // what is waited for at their end costs nothing beside them

/// Returns whether a node needs the sums of all programs that run at the same time.
bool is_synchronised(const Node& node) {
  const auto* norm = op_as<BatchNormOp>(&node);
  const auto* gradient = op_as<BatchNormGradOp>(&node);
  return (norm != nullptr && norm->attrs().sync) || (gradient != nullptr && gradient->attrs().sync);
}

}  // namespace

void ProgramQueue::add(SideBySide group) {
  if (!group.empty()) groups_.push_back(std::move(group));
}

void ProgramQueue::run_some() {
  if (groups_.size() >= kMany) run();
}

void ProgramQueue::run() {
  const std::vector<SideBySide> groups = std::exchange(groups_, {});
  if (groups.empty()) return;
  if (const RunsSideBySide* first = groups[0][0].program->side_by_side()) {
    return first->run_in_turn(groups, is_synchronised);
  }
  for (const SideBySide& group : groups) {
    LINNET_ASSERT(group.size() == 1 && !group[0].apart);
    if (group[0].repack) group[0].program->weights_changed();
    group[0].program->run(group[0].step, 1, 0);
  }
}

}  // namespace linnet
