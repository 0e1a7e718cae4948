// SPDX-License-Identifier: Apache-2.0
// L-BFGS on a network: the loss of all samples as a function of the weights that train.
#include <algorithm>
#include <cstddef>
#include <span>
#include <vector>

#include "base/check.h"
#include "model/loss_shares.h"
#include "model/options.h"
#include "train/lbfgs.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

/// Puts a vector's elements, which it rounds to their type, into tensors of the names, types and
/// shapes of `like`.
State unflatten(const State& like, std::span<double> x) {
  State state;
  for (const auto& [name, value] : like) {
    const std::span<double> own = x.first(static_cast<std::size_t>(value.elements()));
    x = x.subspan(own.size());
    const Tensor exact = Tensor(std::vector<double>(own.begin(), own.end()), value.shape());
    state.set(name, exact.to(value.dtype()));
    if (value.dtype() == DType::f64) continue;
    const Tensor rounded = state[name].to(DType::f64);
    std::ranges::copy(rounded.as<double>(), own.begin());
  }
  return state;
}

/// Adds `share` times the tensors' elements.
void add(std::span<double> sum, const State& state, double share) {
  for (const auto& [name, value] : state) {
    const Tensor wide = value.to(DType::f64);
    const std::span<const double> from = wide.as<double>();
    for (std::size_t i = 0; i < from.size(); ++i) sum[i] += share * from[i];
    sum = sum.subspan(from.size());
  }
}

}  // namespace

Minimum Trainer::minimize(const Dataset& data, const LBFGS& options) {
  description_of<LBFGS>().check(&options, "");
  TrainerState& trainer = *state_;
  const Turn turn(trainer, "minimize()");
  ObjectiveState& objective = trainer.only("minimize() needs a trainer with one");
  for (const ParameterSpec& spec : trainer.network().parameters) {
    require(spec.trainable, "[lbfgs] expected a network without running statistics; it has '{}'",
            spec.name);
  }
  require(data.size() > 0, "the data set '{}' holds no samples", data.info().name);
  const BatchRange all =
      batches(data, {.size = options.batch == 0 ? data.size() : options.batch, .shuffle = false});
  const StepData read = objective.read(data);
  for (std::size_t i = 0; options.batch > 0 && i < read.targets.size(); ++i) {
    require(share_of(read, i) == 0,
            "[lbfgs] expected LBFGS::batch = 0 (all samples) for a loss that weights samples or "
            "labels");
  }
  const State like = gradients(*all.begin());
  const Differentiable loss = [&](std::span<double> x, std::span<double> gradient) {
    trainer.model.set_weights(unflatten(like, x));
    std::ranges::fill(gradient, 0);
    double sum = 0;
    for (const Batch& batch : all) {
      const double share = static_cast<double>(batch.size()) / static_cast<double>(data.size());
      add(gradient, gradients(batch), share);
      sum += share * objective.differentiator->loss();
    }
    return sum;
  };
  std::vector<double> x;
  for (const auto& [name, value] : like) {
    const Tensor weight = trainer.model.parameter(name).to(DType::f64);
    x.insert(x.end(), weight.as<double>().begin(), weight.as<double>().end());
  }
  LbfgsMemory& curvature = objective.curvature;
  if (!same_bits(objective.minimum, objective.trained_weights())) curvature.clear();
  const Minimum minimum = linnet::minimize(loss, x, options, curvature);
  objective.minimum = objective.trained_weights();
  record_training(trainer.model, data, read);
  return minimum;
}

}  // namespace linnet
