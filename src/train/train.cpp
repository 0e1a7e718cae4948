// SPDX-License-Identifier: Apache-2.0
#include <linnet/trainer.h>

#include "model/update_options.h"

namespace linnet {
namespace {

/// The one-line form: a trainer for one fit.
History fit_once(Model& model, const Dataset& data, const TrainingOptions& o, FitOptions fit,
                 Callback* callback) {
  Trainer trainer(model, objective_of(o),
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
  fit.checkpoints = o.checkpoints;
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
