// SPDX-License-Identifier: Apache-2.0
#include <linnet/trainer.h>

#include <utility>

namespace linnet {
namespace {

/// The one-line form: a trainer for one fit.
History fit_once(Model& model, const Dataset& data, const TrainingOptions& o, FitOptions fit,
                 Callback* callback) {
  // Field by field: GCC 12 warns of a temporary that an exception leaves half built.
  Objective objective;
  objective.trains = o.trains;
  objective.loss = o.loss;
  objective.loss_options = o.loss_options;
  objective.custom_loss = o.custom_loss;
  objective.output_losses = o.output_losses;
  objective.optimizer = o.optimizer;
  objective.schedule = o.schedule;
  objective.warmup = o.warmup;
  objective.clip = o.clip;
  Trainer trainer(model, std::move(objective),
                  {.seed = o.seed, .metrics = o.metrics, .disabled_passes = o.disabled_passes});
  fit.epochs = o.epochs;
  fit.batch = o.batch;
  fit.patience = o.patience;
  fit.shuffle = o.shuffle;
  fit.drop_last = o.drop_last;
  fit.streamed = o.streamed;
  fit.prefetch = o.prefetch;
  fit.decoders = o.decoders;
  fit.augment = o.augment;
  fit.callback = callback;
  return trainer.fit(data, fit);
}

}  // namespace

History train(Model& model, const Dataset& data, const TrainingOptions& options,
              const Dataset* test, Callback* callback) {
  return fit_once(model, data, options, {.test = test != nullptr ? *test : Dataset{}}, callback);
}

History train(Model& model, const Splits& splits, const TrainingOptions& options,
              Callback* callback) {
  return fit_once(model, splits.train, options,
                  {.validation = splits.validation, .test = splits.test}, callback);
}

}  // namespace linnet
