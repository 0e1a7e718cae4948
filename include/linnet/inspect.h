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

/// One operator of a network as it stands before any fusion.
struct LayerSummary {
  std::string name;
  std::string kind;  ///< the operator, e.g. "conv2d"
  Shape output;      ///< of a sample
  std::int64_t parameters = 0;
  double flops_per_sample = 0;
};

struct NetworkSummary {
  std::vector<LayerSummary> layers;
  std::int64_t parameters = 0;
  double flops_per_sample = 0;  ///< forward
  std::int64_t batch = 0;
  std::size_t train_peak_bytes = 0;    ///< everything a training step needs, as planned
  std::size_t predict_peak_bytes = 0;  ///< everything an inference step needs
};

/// Plans training and inference at this batch without running anything, for the device that `on`
/// names. Throws Error where it is missing.
NetworkSummary summarize(const Network& network, std::int64_t batch,
                         const TrainingOptions& options = {},
                         const ModelOptions& on = {.device = "cpu"});

enum class Dump : std::uint8_t { graph, plan };
/// The compiled training step as text: operators in order after fusion, and for `plan` the arena
/// offset of every operand, the engines that the device of `on` chose, and the peak.
std::string dump_training_step(const Network& network, std::int64_t batch, Dump what,
                               const TrainingOptions& options = {},
                               const ModelOptions& on = {.device = "cpu", .threads = 1});

}  // namespace linnet
LINNET_API_END
