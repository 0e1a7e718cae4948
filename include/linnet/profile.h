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

/// One operator of a compiled step.
struct OperatorProfile {
  std::string name;   ///< e.g. "conv2d"
  std::string layer;  ///< the layer it comes from, e.g. "conv2d_1"
  std::string
      engine;  ///< what the device chose for it, e.g. "cudnn engine 12"; empty: its one kernel
  double start = 0;             ///< seconds since the step began; median over the steps
  double seconds = 0;           ///< median over the steps
  double share = 0;             ///< of the seconds of all operators; the shares add up to 1
  double flops = 0;             ///< in a step, counted from the shapes
  double bytes = 0;             ///< read and written at least, in a step
  double flops_per_second = 0;  ///< 0 where the time is too short for the clock
  double bytes_per_second = 0;
  /// Of Profile's ceilings, the larger of both fractions; above 1 where bytes come from a cache. 0
  /// where they are not known.
  double of_ceiling = 0;
};

struct Profile {
  std::vector<OperatorProfile> operators;  ///< in the order in which they run; views don't
  std::string device;                      ///< as Model::device()
  std::int64_t batch = 0;
  std::int64_t steps = 0;       ///< that were watched
  double operator_seconds = 0;  ///< of all operators, from the step in which they were watched
  double step_seconds = 0;      ///< of a step as it runs unwatched; mean over the steps
  double flops_ceiling = 0;     ///< f32 FLOP/s that the device reaches, measured now; 0: not known
  double bytes_ceiling = 0;     ///< bytes/s to and from memory, likewise
  std::vector<std::string> notes;  ///< sentences on what the device could not do
};

/// Runs `steps` training steps of `model` on one batch of `data` and times every operator; before
/// and after them about as many unwatched. The model is trained by all of them. On the CPU the
/// whole team goes through operators one by one; on CUDA events stand between them, in a captured
/// step unless graphs are off. Of `options`, batch and streamed are not looked at. Throws Error for
/// data that do not fit the network, and for a batch larger than the data set.
Profile profile_training(Model& model, const Dataset& data, std::int64_t batch, std::int64_t steps,
                         const TrainingOptions& options = {});

/// The same for predictions of `batch` samples, all of them zeros, as a Predictor runs them: batch
/// norms folded, nothing kept for a gradient. Throws Error for a batch or steps below 1.
Profile profile_prediction(Model& model, std::int64_t batch, std::int64_t steps);

}  // namespace linnet
LINNET_API_END
