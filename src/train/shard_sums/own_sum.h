// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>

#include "model/program_queue.h"
#include "model/session.h"
#include "plan/step_time.h"

namespace linnet {

/// Added to a number, it changes no bit of it: what a shard without rows leaves.
inline constexpr float kNeutral = -0.0F;

/// Adds the programs of shards of this process to a queue; called in their order, with the first
/// one's place among these. Several: at the same time, in lanes.
using AddShards =
    std::function<void(ProgramQueue& queue, std::size_t shard, std::span<const ShardRows> shards)>;

/// What the programs of sums are made for. The session and the model must outlive them.
struct SumPlace {
  Session& session;
  ModelState& model;
  std::string key;  ///< of the training's programs
  std::shared_ptr<TrainingMemory> memory;
};

/// Sums what the shards of this process leave, in a fixed binary tree over their places (node =
/// left + right, and a shard without rows counts for nothing), where a shard leaves its results.
class OwnSum {
 public:
  virtual ~OwnSum() = default;
  /// Adds the shards' programs and their sum to the queue. Returns whether any shard has rows.
  virtual bool enqueue(ProgramQueue& queue, std::span<const ShardRows> own,
                       const AddShards& add) = 0;
  /// Returns how long that takes beside the shards' programs.
  virtual double predicted_seconds(const DeviceRates& rates) const = 0;
};

/// Of at most `shards` shards that run one after the other.
std::unique_ptr<OwnSum> sum_in_order(const SumPlace& place, std::size_t shards);
/// Of so many shards that run at the same time, each in a lane.
std::unique_ptr<OwnSum> sum_lanes(const SumPlace& place, std::size_t lanes);

/// Returns the levels of the tree over so many shards.
std::size_t levels_of(std::size_t shards);

}  // namespace linnet
