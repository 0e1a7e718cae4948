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

/// Describes a network and the memory that it needs.
struct NetworkSummary {
  std::vector<LayerSummary> layers;    ///< operators, in the order in which they run
  std::int64_t parameters = 0;         ///< trained numbers of the whole network
  double flops_per_sample = 0;         ///< floating-point operations, forward
  std::int64_t batch = 0;              ///< batch size that the bytes are for
  std::size_t train_peak_bytes = 0;    ///< all memory of a training step, as planned
  std::size_t predict_peak_bytes = 0;  ///< all memory of an inference step, as planned
};

/// Plans training and inference at this batch size for the device that `on` names, and returns what
/// they need. Runs nothing and allocates no weights. Throws Error for options that do not fit the
/// network, and DeviceError where the device is missing.
NetworkSummary summarize(const Network& network, std::int64_t batch,
                         const TrainingOptions& options = {},
                         const ModelOptions& on = {.device = "cpu"});

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
