// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/model.h>
#include <linnet/network.h>
#include <linnet/trainer.h>

#include <cstdint>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Describes one layer of a network, or one operator of an expression, before any fusion.
struct LayerSummary {
  std::string name;      ///< name of the layer, e.g. "conv2d_1"
  std::string kind;      ///< kind of the layer, or of an operator outside of layers
  std::string settings;  ///< settings that differ from the layer's defaults, e.g. "filters = 16"
  Shape output;          ///< shape of its output for one sample
  std::int64_t parameters = 0;  ///< trained numbers
  double flops_per_sample = 0;  ///< floating-point operations, forward
};

/// Describes the memory of a training or of predictions, in bytes, as it is planned before anything
/// is allocated.
struct MemoryPlan {
  std::size_t parameters = 0;   ///< weights
  std::size_t gradients = 0;    ///< their gradients, and sums of shards
  std::size_t optimizer = 0;    ///< moments, moving averages and counters
  std::size_t statistics = 0;   ///< running statistics and sums of metrics
  std::size_t activations = 0;  ///< values between operators, and their gradients
  std::size_t workspace = 0;    ///< memory of kernels
  /// One batch as the data hold it, and the outputs of predictions; on a CPU the caller's.
  std::size_t data = 0;
  std::int64_t shards = 1;  ///< parts in which a batch is computed
  bool recompute = false;   ///< whether some values are computed twice: TrainerOptions::recompute

  /// Returns the sum of all bytes.
  std::size_t total() const {
    return parameters + gradients + optimizer + statistics + activations + workspace + data;
  }
};

/// Describes a network and the memory that it needs.
struct NetworkSummary {
  std::vector<LayerSummary> layers;  ///< operators, in the order in which they run
  std::int64_t parameters = 0;       ///< trained numbers of the whole network
  double flops_per_sample = 0;       ///< floating-point operations, forward
  std::int64_t batch = 0;            ///< batch size that the bytes are for
  MemoryPlan training = {};          ///< memory of training
  MemoryPlan prediction = {};        ///< memory of predictions
};

/// Plans training and inference at this batch size for the device that `on` names, and returns what
/// they need. The training is of TrainingOptions::shards, or of the fewest that
/// TrainingOptions::memory_limit asks for. Runs nothing and allocates no weights. Throws Error for
/// options that do not fit the network, and where nothing stays within the limit, and DeviceError
/// where the device is missing.
NetworkSummary summarize(const Network& network, std::int64_t batch,
                         const TrainingOptions& options = {},
                         const ModelOptions& on = {.device = "cpu"});

/// Says what max_batch() may do to stay within its limit.
struct MaxBatchOptions {
  std::size_t memory_limit = std::size_t{1} << 30;  ///< bytes of MemoryPlan::total()
  bool training = true;                             ///< of a training; else of predictions
  bool recompute = false;  ///< may compute some values twice: TrainerOptions::recompute
  bool shards = false;     ///< may compute a training's batch in parts
  bool stream = false;     ///< need not hold the batch's samples at once
};

/// Describes the largest batch within a limit.
struct MaxBatch {
  std::int64_t batch = 0;  ///< samples; 0: not even one fits
  bool unbounded = false;  ///< whether only the search's end, 2^30 samples, bounds it
  MemoryPlan memory = {};  ///< memory at that batch; at one sample where none fits
};

/// Returns the largest batch that stays within a memory limit, by planning alone: runs nothing and
/// allocates no weights. Throws as summarize() does.
MaxBatch max_batch(const Network& network, const MaxBatchOptions& limit,
                   const TrainingOptions& options = {}, const ModelOptions& on = {.device = "cpu"});

/// Says what dump_training_step() writes.
enum class Dump : std::uint8_t {
  graph,  ///< the operators after fusion, in order, with shapes and types
  plan,   ///< also the arena offset of every operand, costs, the chosen engines, and the peak
};
/// Returns the compiled training step as text. Throws as summarize() does.
std::string dump_training_step(const Network& network, std::int64_t batch, Dump what,
                               const TrainingOptions& options = {},
                               const ModelOptions& on = {.device = "cpu", .threads = 1});

}  // namespace linnet
LINNET_API_END
