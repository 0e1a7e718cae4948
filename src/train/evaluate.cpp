// SPDX-License-Identifier: Apache-2.0
#include <cstddef>
#include <memory>
#include <vector>

#include "base/check.h"
#include "model/evaluation_sums.h"
#include "train/recipes.h"
#include "train/trainer_state.h"

namespace linnet {
namespace {

/// The counters and sums of an evaluation that is going on: a callback of it may ask for another.
class KeptCounters {
 public:
  explicit KeptCounters(const ModelState& model)
      : model_(model), bytes_(evaluation_bytes(model.definition())) {
    model.backend->download(*model.statistics, model.counters_offset(), bytes_);
  }
  ~KeptCounters() { model_.backend->upload(*model_.statistics, model_.counters_offset(), bytes_); }
  KeptCounters(const KeptCounters&) = delete;
  KeptCounters& operator=(const KeptCounters&) = delete;

 private:
  const ModelState& model_;
  std::vector<std::byte> bytes_;
};

/// Loss and accuracy over a data set, as `options` say its losses. `key`: see evaluation_recipe().
Evaluation evaluate_as(ModelState& model, const Dataset& data, const TrainingOptions& options,
                       LossesOf losses, std::int64_t batch, const std::string& key,
                       const std::vector<CustomMetric>& metrics = {}) {
  require(batch > 0, "expected a batch of at least 1; got {}", batch);
  const NetworkDefinition& network = model.definition();
  data.check_labels(options.loss_options.ignore_index);
  const Dataset named = with_class_names(data, model.class_names);
  StepData read = step_data(network, named, options, losses);
  read.metrics = metrics;
  Session session(model);
  DataPass pass = session.add_pass(named.size(), batch, evaluation_recipe(key, model, read));
  pass.one_batch = network.draws_noise();
  // Every sample is needed once: nothing is gained by a whole copy on the device.
  BatchStream* stream = session.stream(read, batch, FitOptions{}.prefetch);
  if (stream == nullptr) session.keep(read);
  session.attach();
  const KeptCounters kept(model);
  stream != nullptr ? session.feed(pass, read, *stream, false) : session.bind_data(pass, read);
  reset_evaluation(model);
  const auto samples = static_cast<std::uint64_t>(named.size());
  pass.run({.samples = samples}, 0, pass.steps());
  return evaluation_of(model, read);
}

}  // namespace

Evaluation evaluate(Model& model, const Dataset& data, Loss loss, std::int64_t batch,
                    const LossOptions& loss_options) {
  return evaluate_as(model.state(), data, {.loss = loss, .loss_options = loss_options},
                     LossesOf::targets, batch, "");
}

Evaluation evaluate_views(Model& model, const Dataset& data, const TestViews& views, Loss loss,
                          std::int64_t batch, const LossOptions& loss_options) {
  const auto of = [&](Model of_views) {
    return evaluate(of_views, data, loss, batch, loss_options);
  };
  Evaluation averaged = of(model.with_views(views));
  const Evaluation one = model.network().views() ? of(model.without_views()) : of(model);
  averaged.one_view = std::make_shared<const Evaluation>(one);
  return averaged;
}

namespace {

Evaluation evaluate_objective(TrainerState& trainer, const ObjectiveState& objective,
                              const Dataset& data, std::int64_t batch) {
  trainer.check_finite();
  return evaluate_as(*objective.model, data, objective.held_out_losses(), objective.losses_of(),
                     batch, objective.key, trainer.options.metrics);
}

}  // namespace

Evaluation Trainer::evaluate(const Dataset& data, std::int64_t batch) {
  const ObjectiveState& objective = state_->only("call evaluate(NAME, data) for one of them");
  return evaluate_objective(*state_, objective, data, batch);
}

Evaluation Trainer::evaluate(std::string_view objective, const Dataset& data, std::int64_t batch) {
  return evaluate_objective(*state_, state_->named(objective), data, batch);
}

}  // namespace linnet
