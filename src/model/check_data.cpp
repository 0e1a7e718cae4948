// SPDX-License-Identifier: Apache-2.0
#include <cmath>
#include <initializer_list>
#include <utility>

#include "base/check.h"
#include "model/step_graph.h"

namespace linnet {

Records records_of(const Dataset& data) {
  Records records{{data.sample_dtype, data.sample_shape.batched(1)}, {DType::i32, Shape{1}}};
  if (data.labels.empty()) records.targets = {DType::f32, data.value_shape.batched(1)};
  return records;
}

std::span<const std::byte> sample_bytes(const Dataset& data) {
  return data.sample_dtype == DType::u8 ? std::as_bytes(std::span(data.bytes))
                                        : std::as_bytes(std::span(data.floats));
}

std::span<const std::byte> target_bytes(const Dataset& data) {
  return data.labels.empty() ? std::as_bytes(std::span(data.values))
                             : std::as_bytes(std::span(data.labels));
}

Loss check_data(const NetworkDefinition& network, const Dataset& data, Loss loss) {
  data.validate();
  require(data.size() > 0, "the data set '{}' holds no samples", data.name);
  require(data.sample_shape == network.input_sample,
          "the network takes samples of {} but the data set '{}' holds {}",
          to_string(network.input_sample), data.name, to_string(data.sample_shape));
  const Shape outputs = network.output_sample();
  if (loss == Loss::automatic) loss = data.labels.empty() ? Loss::mse : Loss::cross_entropy;
  if (loss == Loss::cross_entropy) {
    require(!data.labels.empty(), "cross-entropy wants labels, but the data set '{}' has values",
            data.name);
    require(outputs.rank() == 1, "cross-entropy wants outputs (N, classes); the network gives {}",
            to_string(outputs.batched(data.size())));
    require(data.classes() <= outputs[0],
            "the network ends in {} outputs but the data set '{}' has {} classes", outputs[0],
            data.name, data.classes());
  } else {
    require(data.labels.empty(), "this loss wants values, but the data set '{}' has labels",
            data.name);
    require(data.value_shape == outputs,
            "the network gives {} a sample but the data set '{}' has values of {}",
            to_string(outputs), data.name, to_string(data.value_shape));
  }
  return loss;
}

namespace {

constexpr double kMostEpochs = 1e9;  // in steps they still fit into 64 bits

void require_range(bool holds, std::string_view what, double got) {
  require(holds, "the optimizer's {}; got {}", what, got);
}

}  // namespace

OptimizerAttrs resolve(const Optimizer& o, std::int64_t epochs, std::int64_t steps_per_epoch) {
  require_range(o.learning_rate >= 0, "learning rate must not be negative", o.learning_rate);
  require_range(o.momentum >= 0 && o.momentum < 1, "momentum must lie in [0, 1)", o.momentum);
  require_range(!o.nesterov || o.momentum > 0, "Nesterov form wants a momentum", o.momentum);
  require_range(o.beta1 >= 0 && o.beta1 < 1, "beta1 must lie in [0, 1)", o.beta1);
  require_range(o.beta2 >= 0 && o.beta2 < 1, "beta2 must lie in [0, 1)", o.beta2);
  require_range(o.alpha >= 0 && o.alpha < 1, "alpha must lie in [0, 1)", o.alpha);
  require_range(o.epsilon > 0, "epsilon must be above 0", o.epsilon);
  require_range(o.weight_decay >= 0, "weight decay must not be negative", o.weight_decay);
  require_range(o.clip_norm >= 0, "clipping norm must not be negative", o.clip_norm);
  const Schedule& s = o.schedule;
  for (const auto& [name, value] : std::initializer_list<std::pair<std::string_view, double>>{
           {"learning rate must be finite", o.learning_rate},
           {"epsilon must be finite", o.epsilon},
           {"weight decay must be finite", o.weight_decay},
           {"clipping norm must be finite", o.clip_norm},
           {"schedule's factor gamma must be finite", s.gamma},
           {"schedule's floor must be finite", s.floor}}) {
    require_range(std::isfinite(value), name, value);
  }
  require_range(s.gamma >= 0, "schedule's factor gamma must not be negative", s.gamma);
  require_range(s.floor >= 0, "schedule's floor must not be negative", s.floor);
  require_range(s.warmup_epochs <= kMostEpochs, "warm-up must be at most 1e9 epochs",
                s.warmup_epochs);
  require_range(s.every_epochs <= kMostEpochs, "schedule step must be at most 1e9 epochs",
                s.every_epochs);
  require_range(s.warmup_epochs >= 0, "warm-up must not be negative", s.warmup_epochs);
  require_range(s.every_epochs > 0, "schedule step must be above 0 epochs", s.every_epochs);
  const auto steps = [&](double e) {
    return static_cast<std::int64_t>(e * static_cast<double>(steps_per_epoch) + 0.5);
  };
  return {.kind = o.kind,
          .learning_rate = o.learning_rate,
          .momentum =
              o.kind == Optimizer::Kind::sgd || o.kind == Optimizer::Kind::rmsprop ? o.momentum : 0,
          .nesterov = o.nesterov,
          .beta1 = o.beta1,
          .beta2 = o.beta2,
          .epsilon = o.epsilon,
          .alpha = o.alpha,
          .weight_decay = o.weight_decay,
          .clip_norm = o.clip_norm,
          .schedule = s.kind,
          .warmup_steps = steps(s.warmup_epochs),
          .every_steps = std::max<std::int64_t>(steps(s.every_epochs), 1),
          .total_steps = epochs * steps_per_epoch,
          .gamma = s.gamma,
          .floor = s.floor};
}

}  // namespace linnet
