// SPDX-License-Identifier: Apache-2.0
#include <linnet/trainer.h>
#include <linnet/whiten.h>

#include <fmt/format.h>

#include <utility>

#include "model/options.h"
#include "model/update_options.h"
#include "train/early_stopping.h"

namespace linnet {
namespace {

double watched_loss(const EpochReport& report) { return watched(report).loss; }

/// Leaves the model with its best epoch's weights, by which the test set is measured.
void take_best(Trainer& trainer, Model& model, const Dataset& test, History& history) {
  model.set_weights(trainer.best().weights());
  auto best = history.epochs.begin();
  for (auto epoch = best + 1; epoch != history.epochs.end(); ++epoch) {
    const bool better = watched_loss(*epoch) < watched_loss(*best);
    if (better && can_be_best(*epoch, false)) best = epoch;
  }
  history.notes.push_back(
      fmt::format("the weights are those of epoch {}, whose {} loss {:.4g} is the lowest",
                  best->epoch,
                  best->validation.samples > 0 ? "validation"
                  : best->test.samples > 0     ? "test"
                                               : "training",
                  watched_loss(*best)));
  if (test.size() > 0) history.epochs.back().test = trainer.evaluate(test);
}

/// The one-line form: a trainer for one fit.
History fit_once(Model& model, const Dataset& data, const TrainingOptions& o, FitOptions fit,
                 Callback* callback) {
  const Checkpoints& saved = o.checkpoints;
  const bool continues = saved.resume && !checkpoint_files(saved.folder).empty();
  if (!o.whiten.layer.empty() && !continues) whiten(model, data, o.whiten);
  TrainerOptions every;
  copy_fields(o, every);
  Trainer trainer(model, objective_of(o), std::move(every));
  copy_fields(o, fit);
  fit.callback = callback;
  if (!o.keep_best) {
    History history = trainer.fit(data, fit);
    if (o.average.decay > 0) model.set_weights(trainer.averaged().weights());
    return history;
  }
  const Dataset test = fit.validation.size() > 0 ? std::exchange(fit.test, {}) : Dataset();
  History history = trainer.fit(data, fit);
  take_best(trainer, model, test, history);
  return history;
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
