// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "model/model_state.h"
#include "model/record_reader.h"
#include "model/step_graph.h"

namespace linnet {

/// A data set that stays in host memory, or in files: a pass gets its batches through a stream, in
/// the order in which gather_batch would read them.
struct Feed {
  BatchStream* stream = nullptr;
  std::shared_ptr<const RecordReader> reader = nullptr;
  bool shuffle = false;
};

/// A pass over `samples` samples in batches: a program for the full batches and one for the rest,
/// which share everything but their shapes.
struct Sweep {
  Program* full = nullptr;  ///< null if there is no full batch
  Program* rest = nullptr;  ///< null if the batch divides the samples
  std::uint64_t batch = 0;
  std::uint64_t samples = 0;
  std::uint64_t* weights_version = nullptr;  ///< the model's, counted up by each run
  Feed feed = {};  ///< no stream: the programs gather from a whole data set

  std::uint64_t full_steps() const { return samples / batch; }
  std::uint64_t steps() const { return full_steps() + (rest != nullptr ? 1 : 0); }
  /// Runs steps [begin, end) of the pass; `first` describes the pass's step 0. With a feed a pass
  /// goes from step 0 on in order.
  void run(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const;
  /// With a feed: brings the pass's first batch into the ring, where it stays; for profiles.
  void hold_first(const StepInfo& first) const;
  /// Binds a slot in both programs.
  void bind(std::size_t slot, const void* address) const;

 private:
  void run_fed(const StepInfo& first, std::uint64_t begin, std::uint64_t end) const;
};

/// The counters that metrics add up on the device.
struct Counters {
  double loss = 0;
  double correct = 0;
  double samples = 0;
  double not_finite = 0;
  double last_loss = 0;
  /// Means; the accuracy is NaN unless `classification`.
  Evaluation evaluation(bool classification) const;
};

/// Programs of one model that share its weights, one arena, and gradients and moments if they
/// train.
class Session {
 public:
  /// decoders: threads that read records of a source; 0: all processors.
  explicit Session(ModelState& model, int decoders = 0) : model_(model), decoders_(decoders) {}

  /// Builds the programs of a sweep: `graph_of(batch)` is asked for the full and the last batch.
  Sweep add_sweep(std::int64_t samples, std::int64_t batch,
                  const std::function<Graph(std::int64_t)>& graph_of);
  /// Allocates what all programs need and hands it out; call once, after the last add_sweep. Throws
  /// OutOfMemory with the largest values and the batch that would fit.
  void attach();

  /// Makes a device's copy of a data set, which must outlive the session: before attach(), so that
  /// its memory is counted there. Throws OutOfMemory.
  void keep(const StepData& data);
  /// Gives a sweep's programs the parts of a data set; keeps it if that is not done.
  void bind_data(const Sweep& sweep, const StepData& data);

  /// A ring of `pool` batches of such records; null where the device reads host memory and all data
  /// lie there. Sweeps of equal records share one: their passes take turns.
  BatchStream* stream(const StepData& data, std::int64_t batch, std::int64_t pool);
  /// The same as bind_data, but batch by batch through `stream`: the sweep's graphs must gather
  /// without shuffling.
  void feed(Sweep& sweep, const StepData& data, BatchStream& stream, bool shuffle);

  /// Memory of weights, arena, gradients, moments, statistics, what programs hold
  /// themselves, and copies of data sets, or rings of batches, on a device.
  std::size_t planned_bytes() const;
  Supports supports() const;

  void reset_counters();
  Counters counters() const;
  /// The losses of training steps [begin, end), counted as StepInfo::step; of the newest
  /// kLossHistory of them where they are more.
  std::vector<float> step_losses(std::uint64_t begin, std::uint64_t end) const;
  /// What the programs say of themselves, each sentence once.
  std::vector<std::string> notes() const;

 private:
  /// A program, and how to make its graph for another batch.
  struct Entry {
    std::unique_ptr<Program> program;
    std::int64_t batch = 0;
    std::function<Graph(std::int64_t)> graph_of;
  };
  Program* add(std::int64_t batch, const std::function<Graph(std::int64_t)>& graph_of);
  std::size_t needed(Storage storage) const;
  void allocate();

  ModelState& model_;
  std::vector<Entry> programs_;
  Memory memory_;
  std::map<const std::byte*, std::shared_ptr<Buffer>> views_;  ///< by host address
  int decoders_ = 0;
  std::shared_ptr<ThreadTeam> team_;  ///< of decoders, once one is needed
  std::vector<std::unique_ptr<BatchStream>> streams_;
};

}  // namespace linnet
