// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include "base/thread_team.h"
#include "model/step_graph.h"
#include "runtime/batch_stream.h"

namespace linnet {

/// Puts batches of a data set together: records in memory are copied, those of a source are read by
/// a team of threads. The data set must outlive it; copies share the team.
class RecordReader {
 public:
  /// team: null where no part has a source.
  RecordReader(std::vector<StepData::Part> parts, std::shared_ptr<ThreadTeam> team)
      : parts_(std::move(parts)), team_(std::move(team)) {}

  /// Writes samples [position, position + count) of the pass that begins with `first` to to[part],
  /// in the order of gather_batch. Throws what reading a record throws, of the earliest sample.
  void read(const StepInfo& first, bool shuffle, std::uint64_t position, std::uint64_t count,
            std::span<std::byte* const> to) const;

 private:
  std::vector<StepData::Part> parts_;
  std::shared_ptr<ThreadTeam> team_;
};

}  // namespace linnet
