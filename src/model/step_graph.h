// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/trainer.h>

#include <algorithm>
#include <cstdint>
#include <memory>
#include <optional>

#include "model/finish.h"
#include "model/update_options.h"
#include "nn/definition.h"
#include "ops/augment/augment.h"
#include "ops/mix_batch/mix_batch.h"
#include "ops/optimizer_update/optimizer_update.h"
#include "plan/passes/passes.h"
#include "runtime/backend.h"

namespace linnet {

/// The loss of one output of a network, no longer Loss::automatic; the total is the weighted sum.
struct TargetLoss {
  std::size_t output = 0;
  OutputLoss how = {.output = {}, .loss = Loss::cross_entropy};
  std::size_t part = 0;  ///< of the data; none where OutputLoss::target is the target
  std::optional<std::size_t> lengths = {};  ///< the part with those of the target's sequences
};

/// Says which outputs have a loss: all that have targets, or those alone that are named.
enum class LossesOf : std::uint8_t { targets, names };

/// Augmentation of the batch of the first input; see Augment.
struct StepAugment {
  std::optional<AugmentRule> crop = {};  ///< also where images and network differ in size
  std::optional<MixRule> mix = {};       ///< in training
};

/// A data set as a network's steps read it: a part for each input that the losses need, then one
/// for each target, then those of what weighs them. Their places are the external slots of the step
/// graphs; a prediction's outputs stand in those after its inputs.
struct StepData {
  struct Part {
    std::string name;
    ValueType record;                      ///< as (1, ...)
    std::span<const std::byte> bytes;      ///< all records, as a gather takes them; the data set's
    const RecordSource* source = nullptr;  ///< where they come from instead
  };
  std::vector<Part> parts;
  std::size_t inputs = 1;           ///< how many of the parts are inputs
  std::vector<TargetLoss> targets;  ///< in the order of the outputs
  /// The network without what no loss needs; null where all of it is needed.
  std::shared_ptr<const NetworkDefinition> needed = nullptr;
  std::optional<std::size_t> weights = {};  ///< the part with the samples' weights
  std::optional<std::size_t> fold = {};     ///< the part with the samples' folds
  std::int64_t samples = 0;
  StepAugment augment = {};
  double l1 = 0;  ///< LossOptions', for training steps
  double l2 = 0;
  std::vector<CustomMetric> metrics = {};  ///< for evaluation steps

  /// Returns whether it must be streamed.
  bool has_source() const {
    return std::any_of(parts.begin(), parts.end(),
                       [](const Part& p) { return p.source != nullptr; });
  }
  /// Returns whether the first output that is trained learns labels: then it has an accuracy.
  bool classification() const {
    const TargetLoss& first = targets.front();
    return !first.how.target && parts[first.part].record.dtype == DType::i32 &&
           first.how.loss != Loss::binary_cross_entropy;
  }
  /// Returns what of the network is run.
  const NetworkDefinition& run_of(const NetworkDefinition& network) const {
    return needed != nullptr ? *needed : network;
  }
};

/// Returns the inputs alone, e.g. for a prediction: of the memory of `data`. crops: images may have
/// another size than the first input.
std::vector<StepData::Part> step_inputs(const NetworkDefinition& network, const Dataset& data,
                                        bool crops = false);

/// Returns what such a network would be trained on, without the data: pixels, ids or features, and
/// labels or values for the first output.
StepData assumed_data(const NetworkDefinition& network, Loss loss);

/// With the losses that the options say; of the memory of `data`. Throws Error where data, losses
/// and network don't go together: other sample shapes, more classes than outputs, values for
/// cross-entropy, an input without data, ...
StepData step_data(const NetworkDefinition& network, const Dataset& data,
                   const TrainingOptions& options, LossesOf losses = LossesOf::targets);

/// Returns what the backend answers, which must outlive it.
Supports supports_of(const Backend& backend);

/// Returns a shard and a finish (shard_layout.h) as one graph: gather, forward, losses, metrics,
/// backward and update, all passes run. Parameters outside the optimizer's ranges have no gradient;
/// a batch norm whose parameters are all outside computes as at inference.
Graph training_step(const NetworkDefinition& network, const StepData& data,
                    const TrainingStep& step, const Supports& supports);

/// Returns the shard alone, over rows of a batch: what it finds lies in Storage::gradient as
/// ShardLayout says, times the shard's shares of the batch. It changes no weights, running
/// statistics or counters.
Graph shard_step(const NetworkDefinition& network, const StepData& data, const TrainingStep& step,
                 const Supports& supports);

/// Returns the finish alone, of shards of any number of rows.
Graph finish_step(const NetworkDefinition& network, const StepData& data, const TrainingStep& step,
                  const Supports& supports);

/// Gather in stored order, forward in inference mode, losses, metrics.
Graph evaluation_step(const NetworkDefinition& network, const StepData& data, std::int64_t batch,
                      const Supports& supports);

/// Says how the first output of a prediction is given.
enum class OutputForm : std::uint8_t {
  plain,    ///< as the network gives it
  softmax,  ///< probabilities of classes; what a last Softmax or Sigmoid gives stays as it is
  sigmoid,  ///< probabilities of independent labels; likewise
  logits,   ///< what goes into a last Softmax, LogSoftmax or Sigmoid
};

/// The last layer of a network, as far as it decides what its outputs are.
enum class LastLayer : std::uint8_t { other, softmax, log_softmax, sigmoid };
LastLayer last_layer(const Graph& graph, Value output);

/// Returns the sum of output 0's elements, each times its weight, differentiated by an input in
/// inference mode. Slots: inputs as NetworkDefinition::held() says, weights as output 0, the
/// gradient. `by`: an input of f32, on which output 0 depends.
Graph input_gradient_step(const NetworkDefinition& network, std::size_t by, std::int64_t batch,
                          const Supports& supports);

/// Gather in stored order and forward in inference mode into the slots after the inputs.
/// `first`: of the first input; the others are as NetworkDefinition::held() says.
Graph prediction_step(const NetworkDefinition& network, DType first, std::int64_t batch,
                      OutputForm form, const Supports& supports);

}  // namespace linnet
