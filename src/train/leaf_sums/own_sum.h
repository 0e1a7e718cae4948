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

/// Added to a number, it changes no bit of it: what a leaf without rows leaves.
inline constexpr float kNeutral = -0.0F;

/// Adds the programs of leaves of this process to a queue; called in their order, with the first
/// one's place among these. Several: at the same time, in lanes.
using AddLeaves =
    std::function<void(ProgramQueue& queue, std::size_t leaf, std::span<const LeafRows> leaves)>;

/// What the programs of sums are made for. The session and the model must outlive them.
struct SumPlace {
  Session& session;
  ModelState& model;
  std::string key;  ///< of the training's programs
  std::shared_ptr<TrainingMemory> memory;
};

/// Sums what the leaves of this process leave, in a fixed binary tree over their places (node =
/// left + right, and a leaf without rows counts for nothing), where a leaf leaves its results.
class OwnSum {
 public:
  virtual ~OwnSum() = default;
  /// Adds the leaves' programs and their sum to the queue. Returns whether any leaf has rows.
  virtual bool enqueue(ProgramQueue& queue, std::span<const LeafRows> own,
                       const AddLeaves& add) = 0;
  /// Returns how long that takes beside the leaves' programs.
  virtual double predicted_seconds(const DeviceRates& rates) const = 0;
};

/// Of at most `leaves` leaves that run one after the other.
std::unique_ptr<OwnSum> sum_in_order(const SumPlace& place, std::size_t leaves);
/// Of so many leaves that run at the same time, each in a lane.
std::unique_ptr<OwnSum> sum_lanes(const SumPlace& place, std::size_t lanes);

/// Returns the levels of the tree over so many leaves.
std::size_t levels_of(std::size_t leaves);

}  // namespace linnet
