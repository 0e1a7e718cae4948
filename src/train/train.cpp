// SPDX-License-Identifier: Apache-2.0
#include <linnet/trainer.h>

#include <fmt/format.h>

#include <algorithm>
#include <span>
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
  // An epoch that a stop cut short is kept only where it is the first.
  const std::size_t cut = history.epochs.size() > 1 && !history.epochs.back().complete ? 1 : 0;
  const auto whole = std::span(history.epochs).first(history.epochs.size() - cut);
  const auto best = std::ranges::min_element(whole, {}, watched_loss);
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
