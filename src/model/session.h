// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "model/model_state.h"
#include "model/program_cache.h"
#include "model/program_queue.h"
#include "model/record_reader.h"
#include "model/shards.h"
#include "model/step_graph.h"

namespace linnet {

/// One shard of a step: rows of the data, or none.
struct ShardRows {
  StepInfo step;  ///< its position and epoch; what the shards share is set by ShardedSteps
  std::uint64_t rows = 0;
  bool apart = false;  ///< leaves its results at ShardLayout::level(0); of ProgramRecipe::apart
};

/// A data set that stays in host memory, or in files: a pass gets its batches through a stream, in
/// the order in which gather_batch would read them.
struct Feed {
  BatchStream* stream = nullptr;
  std::shared_ptr<const RecordReader> reader = nullptr;
  bool shuffle = false;
};

/// A pass over `samples` samples in batches, or in the shards of these: programs that share
/// everything but their shapes.
struct DataPass {
  std::map<std::uint64_t, CachedProgram*> programs = {};  ///< by the samples of a run
  /// Programs of shards that run beside the first one, by lane and samples.
  std::map<std::pair<std::size_t, std::uint64_t>, CachedProgram*> lanes = {};
  std::uint64_t batch = 0;
  std::uint64_t samples = 0;
  Shards shards = {};
  ModelState* model = nullptr;
  /// The samples are the rows of one batch, whose noise does not depend on the pass's batches.
  bool one_batch = false;
  Feed feed = {};                       ///< no stream: the programs gather from a whole data set
  std::vector<const void*> slots = {};  ///< their addresses

  std::uint64_t full_steps() const { return samples / batch; }
  std::uint64_t steps() const { return samples == 0 ? 0 : (samples - 1) / batch + 1; }
  /// Returns the samples of a step's batch.
  std::uint64_t rows_of(std::uint64_t step) const {
    return step < full_steps() ? batch : samples % batch;
  }
  /// Runs steps [begin, end) of the pass; `first` describes the pass's step 0. With a feed a pass
  /// goes from step 0 on in order, or from where start_at() says.
  void run(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const;
  /// Begins a pass with a feed at a step that is not its first.
  void start_at(const StepInfo& first, std::uint64_t step) const;
  /// Brings the first batch of a pass with a feed into the ring, where it stays; for profiles.
  void hold_first(const StepInfo& first) const;
  /// Lets runs of this pass find a slot's memory there. Other passes may run the same programs.
  void bind(std::size_t slot, const void* address);
  /// Adds own shards of a step's batch, from the one at `own` on, counted from 0, to what will run;
  /// those without rows do not. Several run at the same time, each in the lane of its place.
  /// `first` describes step 0. With a feed a pass goes through all own shards in order, and they
  /// have run.
  void add_shards(ProgramQueue& queue, const StepInfo& first, std::uint64_t step, std::uint64_t own,
                  std::span<const ShardRows> shards) const;
  /// Adds shards on samples from their positions on: as many as a program's, or none. Several run
  /// at the same time, each in the lane of its place. With a feed they have run.
  void add_shards(ProgramQueue& queue, std::span<const ShardRows> shards) const;
  /// Returns the operator and layer that first gives something not finite in the program of a step
  /// on `count` samples, as "[conv2d 'stem']"; empty: none does. What changes a state must be
  /// stopped by then (FiniteCheckOp).
  std::string first_not_finite(const StepInfo& step, std::uint64_t count) const;
  /// Returns the program of a run over `rows` samples: bound, and told whether weights have
  /// changed.
  Program& ready(std::uint64_t rows) const;

 private:
  StepInfo at(const StepInfo& first, std::uint64_t step) const;
  void run_fed(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const;
  /// Begins to bring the pass's own shards, from one of them on.
  void start_feed(const StepInfo& first, std::uint64_t shard) const;
  /// Brings these into the ring, if there is a feed; returns the steps that find them.
  std::vector<ShardRows> bring(std::span<const ShardRows> shards) const;
  void add_lanes(ProgramQueue& queue, std::span<const ShardRows> shards) const;
  /// Returns a step of the program of so many samples, which is bound.
  ProgramRun run_of(const ShardRows& shard, std::size_t lane) const;
  /// Returns the step on the feed's next batch, for which it waits.
  StepInfo in_ring(StepInfo step) const;
};

/// The counters that metrics add up on the device.
struct Counters {
  static Counters of(std::span<const double, kCounters> values);
  double loss = 0;
  double correct = 0;
  double samples = 0;
  double not_finite = 0;
  double weight = 0;
  /// Weighted means; the accuracy is NaN unless `classification`.
  Evaluation evaluation(bool classification) const;
};

/// Passes over data sets by programs of one model's cache, with the ways on which the data come.
class Session {
 public:
  /// decoders: threads that read records of a source; 0: all processors.
  explicit Session(ModelState& model, int decoders = 0) : model_(model), decoders_(decoders) {}

  /// Returns the programs of a pass, for the full and the last batch, or for their own shards;
  /// side_by_side: shards can run at the same time, each in a lane.
  DataPass add_pass(std::int64_t samples, std::int64_t batch, const ProgramRecipe& recipe,
                    const Shards& shards = {}, bool side_by_side = false);
  /// Returns a program that needs no data.
  CachedProgram* add_program(const ProgramRecipe& recipe);
  /// Gives all programs their memory: after the last add_sweep, and before a run when another
  /// session of the model has run. Throws OutOfMemory as ProgramCache::attach().
  void attach();

  /// Makes a device's copy of a data set, which must outlive the session: before attach(), so that
  /// its memory is counted there. Throws OutOfMemory.
  void keep(const StepData& data);
  /// Gives a pass's programs the parts of a data set; keeps it if that is not done.
  void bind_data(DataPass& pass, const StepData& data);

  /// Returns a ring of `pool` batches of such records; null where the device reads host memory and
  /// all data lie there. Passes of equal records share one: their passes take turns.
  BatchStream* stream(const StepData& data, std::int64_t batch, std::int64_t pool);
  /// The same as bind_data, but batch by batch through `stream`: the pass's graphs must gather
  /// without shuffling.
  void feed(DataPass& pass, const StepData& data, BatchStream& stream, bool shuffle);

  /// Returns what the programs need by their plans, attached or not, besides data.
  std::size_t needed_bytes() const;
  /// Returns memory of weights, arena, gradients, moments, statistics, what programs hold
  /// themselves, and copies of data sets, or rings of batches, on a device.
  std::size_t planned_bytes() const;
  Supports supports() const;

  /// Returns what an evaluation counted so far; a training counts in training_counters.h.
  Counters counters() const;
  /// Returns what the programs say of themselves, each sentence once.
  std::vector<std::string> notes() const;

 private:
  ModelState& model_;
  std::vector<std::shared_ptr<CachedProgram>> programs_;
  std::map<const std::byte*, std::shared_ptr<Buffer>> views_;  ///< by host address
  int decoders_ = 0;
  std::shared_ptr<ThreadTeam> team_;  ///< of decoders, once one is needed
  std::vector<std::unique_ptr<BatchStream>> streams_;
};

}  // namespace linnet
