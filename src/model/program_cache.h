// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "runtime/backend.h"
#include "runtime/device_ranks.h"
#include "runtime/step_exchange.h"

namespace linnet {

/// State that the objectives of one training share: its counters, and the moments of all
/// (finish.h).
struct OptimizerMemory {
  std::size_t bytes = 0;  ///< at least, so that it never grows
  std::shared_ptr<Buffer> buffer = nullptr;
  /// Where the scales of objectives' losses are; empty: of one, in its usual place.
  std::vector<std::size_t> scales = {};
  /// Sets the buffer: all zeros but the scales.
  void allocate(const Backend& backend, std::size_t size);
};

/// Memory of one objective of a training: the sums of its shards (ShardLayout), which are lost
/// where it grows, and what it shares. Made when its first program is attached.
struct TrainingMemory {
  std::shared_ptr<Buffer> gradients = nullptr;
  std::shared_ptr<OptimizerMemory> optimizer = std::make_shared<OptimizerMemory>();
  std::shared_ptr<StepExchange> exchange = std::make_shared<StepExchange>();
  /// Between the devices of ranks, once they were looked for; null: there are none.
  std::optional<std::shared_ptr<DeviceLinks>> links = {};
};

/// Recipe of a program.
struct ProgramRecipe {
  /// Equal keys have equal graphs at equal batches.
  std::string key;
  /// Makes the graph at a batch; owns all that it needs.
  std::function<Graph(std::int64_t batch)> graph_of;
  /// Memory of programs that compute gradients.
  std::shared_ptr<TrainingMemory> training = nullptr;
  /// The program writes no weights: what it derives from them is kept until they change.
  bool fixed_weights = false;
  /// PlanOptions::chains
  bool chains = true;
  /// PlanOptions::shared_stages
  bool shared_stages = true;
  /// Weights that it reads, in the layout of the model's; null: the model's.
  std::shared_ptr<Buffer> parameters = nullptr;
  /// Programs of different lanes can run at the same time: each lane has an arena of its own, and
  /// what it leaves in Storage::gradient begins at byte lane * lane_gradients.
  std::size_t lane = 0;
  std::size_t lane_gradients = 0;
  /// Runs that are asked to (ProgramRun::apart) leave it at byte lane_gradients instead.
  bool apart = false;
};

/// A program of a ProgramCache, which lives as long as somebody holds it.
struct CachedProgram {
  ProgramRecipe recipe;
  std::int64_t batch = 0;
  std::unique_ptr<Program> program = nullptr;
  bool attached = false;
  std::uint64_t weights_version = 0;  ///< the model's, at the last run
};

/// Returns how many lanes programs have, the arena that those of a lane share, and all arenas.
std::size_t lanes_of(std::span<const std::shared_ptr<CachedProgram>> programs);
std::size_t arena_of(std::span<const std::shared_ptr<CachedProgram>> programs, std::size_t lane);
std::size_t arenas_of(std::span<const std::shared_ptr<CachedProgram>> programs);
/// Returns the memory of gradients that a program needs, from lane 0's on.
std::size_t gradient_bytes(const CachedProgram& cached);

/// About what a program holds itself: its memory, its plan and its kernels.
std::size_t held_bytes(const Program& program);

/// The compiled programs of one model, by what they compute: nothing is compiled twice. All share
/// the model's weights and one arena, so their runs take turns. The arena grows with what is asked
/// for. Programs that nobody holds stay for their next use: all together hold at most `limit` bytes
/// (held_bytes()), and the least recently used go.
class ProgramCache {
 public:
  ProgramCache(Backend& backend, std::shared_ptr<Buffer> parameters,
               std::shared_ptr<Buffer> statistics, std::size_t limit)
      : backend_(backend),
        parameters_(std::move(parameters)),
        statistics_(std::move(statistics)),
        limit_(limit) {}

  /// Returns the program of such a recipe at a batch; prepared now, unless it is there.
  std::shared_ptr<CachedProgram> get(const ProgramRecipe& recipe, std::int64_t batch);
  /// Gives these programs their memory, and others too where the arena has to grow. Throws
  /// OutOfMemory with the largest values and the batch that would fit.
  void attach(const std::vector<std::shared_ptr<CachedProgram>>& programs);
  /// Forgets programs whose key begins so: nobody will ask for them again.
  void forget(std::string_view prefix);

  /// Programs prepared so far.
  std::uint64_t prepared() const { return prepared_; }
  std::size_t arena_bytes() const;

 private:
  void reserve(const std::vector<std::shared_ptr<CachedProgram>>& programs);
  void attach(CachedProgram& cached);
  [[noreturn]] void report(const std::vector<std::shared_ptr<CachedProgram>>& programs,
                           const OutOfMemory& error) const;
  void evict();

  Backend& backend_;
  std::shared_ptr<Buffer> parameters_;
  std::shared_ptr<Buffer> statistics_;
  std::size_t limit_;
  std::vector<std::shared_ptr<Buffer>> arenas_;       ///< by lane
  std::list<std::shared_ptr<CachedProgram>> kept_;    ///< the most recently used first
  std::vector<std::weak_ptr<CachedProgram>> living_;  ///< kept or held by somebody
  std::uint64_t prepared_ = 0;
};

}  // namespace linnet
