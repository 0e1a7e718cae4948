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

/// Describes a number of threads and the step that is computed for it.
struct ScalingPoint {
  int threads = 1;        ///< of the team, the caller among them
  double seconds = 0;     ///< a step
  double speedup = 1;     ///< seconds of one thread / seconds
  double efficiency = 1;  ///< speedup / threads
};

/// Describes what an operator costs on one thread and what it leaves unused of many.
struct OperatorScaling {
  std::string name;    ///< kind of the operator, e.g. "conv2d_grad_weight"; "chain of 8 from
                       ///< gather_batch" of operators that compute a part of the batch together
  std::string layer;   ///< name of the layer that it comes from
  std::string shapes;  ///< as OperatorProfile::shapes
  int stages = 0;      ///< stages, which follow each other
  int fewest = 0;      ///< tasks of the stage that leaves the most unused
  double seconds = 0;  ///< all its tasks, one after the other
  double longest = 0;  ///< its longest task, in seconds
  double unused =
      0;  ///< at ThreadScaling::judged threads: idle and handing out, in seconds of a thread
  double lost = 0;  ///< `unused` as a share of all threads' time in the step, in [0, 1]
};

/// Holds the speed that more threads can reach: tasks are timed on one thread and scheduled on
/// many.
struct ThreadScaling {
  std::vector<ScalingPoint> points;        ///< one for each number of threads, in the given order
  std::vector<OperatorScaling> operators;  ///< in the order in which they run
  std::int64_t batch = 0;                  ///< samples of a step
  std::int64_t steps = 0;                  ///< steps that were timed
  int judged = 0;  ///< threads at which operators are judged, the one of `points` next to 32
  double stage_seconds = 0;  ///< measured: from the end of a stage to the start of the next one
  double task_seconds = 0;   ///< measured: to hand out a task
  int measured_threads = 0;  ///< threads at which these two were measured, Model::threads()
};

/// Times every task of a training step of `model` on one thread (median of `steps` steps, on one
/// batch of `data`) and computes how long the step takes on each of `threads`: a stage's tasks go,
/// in their order, to the thread that is free first; a stage begins when the one before has ended.
/// Handing out is measured too; that of a stage is taken to grow with the logarithm of the threads,
/// and a task's to go through one counter. It is assumed that memory and caches serve every thread
/// as they serve one, so this is an upper bound. Trains the model. Waits. Throws Error for a batch
/// beyond the data set, or steps or a number of threads below 1, and DeviceError on other devices
/// than the CPU.
ThreadScaling scaling_of_training(Model& model, const Dataset& data, std::int64_t batch,
                                  std::int64_t steps, const std::vector<int>& threads,
                                  const TrainingOptions& options = {});

/// Does the same for predictions of `batch` samples, all zeros.
ThreadScaling scaling_of_prediction(Model& model, std::int64_t batch, std::int64_t steps,
                                    const std::vector<int>& threads);

}  // namespace linnet
LINNET_API_END
