// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/model.h>
#include <linnet/trainer.h>

#include <cstdint>
#include <string>
#include <vector>

LINNET_API_BEGIN
namespace linnet {

/// Holds the measured time of one operator of a compiled step.
struct OperatorProfile {
  std::string name;    ///< kind of the operator, e.g. "conv2d"
  std::string layer;   ///< name of the layer that it comes from, e.g. "conv2d_1"
  std::string engine;  ///< engine that the device chose, e.g. "cudnn engine 12"; empty: only one
  std::string
      shapes;        ///< of the first two operands and the first result, "(8, 4), (2, 4) -> (8, 2)"
  double start = 0;  ///< seconds since the step began; median over the steps
  double seconds = 0;           ///< time of the operator; median over the steps
  double share = 0;             ///< share of the seconds of all operators; the shares add up to 1
  double flops = 0;             ///< floating-point operations of a step, counted from the shapes
  double bytes = 0;             ///< bytes that a step reads and writes at least
  double flops_per_second = 0;  ///< flops / seconds; 0 where the time is too short for the clock
  double bytes_per_second = 0;  ///< bytes / seconds; 0 where the time is too short for the clock
  /// Share of the device's ceiling: the larger of flops_per_second / Profile::flops_ceiling and
  /// bytes_per_second / Profile::bytes_ceiling. Above 1 where bytes come from a cache; 0: unknown.
  double of_ceiling = 0;
};

/// Holds the measured times of a step's operators.
struct Profile {
  std::vector<OperatorProfile> operators;  ///< in the order in which they run; views do not run
  std::string device;                      ///< Model::device()
  std::int64_t batch = 0;                  ///< samples of a step
  std::int64_t steps = 0;                  ///< steps that were timed
  double operator_seconds = 0;     ///< time of all operators of a timed step; median over the steps
  double step_seconds = 0;         ///< time of a step that is not timed; mean over the steps
  double flops_ceiling = 0;        ///< measured f32 FLOP/s of the device; 0: unknown
  double bytes_ceiling = 0;        ///< measured bytes/s to and from memory; 0: unknown
  std::vector<std::string> notes;  ///< sentences that say what the device could not do
};

/// Runs `steps` training steps of `model` on one batch of `data` and times every operator; before
/// and after them it runs about as many untimed steps. All of these steps train the model. On the
/// CPU the whole team computes one operator after the other; on CUDA events separate the operators,
/// in a captured step unless graphs are off. `options`: batch and streamed have no effect. Waits.
/// Throws DataError for data that do not fit the network, and Error for a batch larger than the
/// data set.
Profile profile_training(Model& model, const Dataset& data, std::int64_t batch, std::int64_t steps,
                         const TrainingOptions& options = {});

/// Times every operator of predictions of `batch` samples, all zeros, as a Predictor runs them:
/// batch norms folded, nothing kept for a gradient. Waits. Throws Error for a batch or steps
/// below 1.
Profile profile_prediction(Model& model, std::int64_t batch, std::int64_t steps);

}  // namespace linnet
LINNET_API_END
