// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/c_api.h>
#include <linnet/model.h>
#include <linnet/predictor.h>

#include <mutex>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "c_api/errors.h"

/// What a handle of the C interface points to.
struct linnet_model {
  explicit linnet_model(linnet::Model of)
      : model(std::move(of)),
        inputs(model.network().input_names()),
        outputs(model.network().output_names()),
        predictor(model) {}

  /// Returns the predictor of outputs as they are, or of probabilities. Throws Error where a model
  /// has none.
  const linnet::Predictor& prepared(bool as_probabilities) const {
    if (!as_probabilities) return predictor;
    const std::scoped_lock lock(mutex_);
    if (!probabilities_) probabilities_.emplace(model, linnet::PredictorOptions{true});
    return *probabilities_;
  }
  /// A training may change what the outputs mean. Nobody predicts meanwhile.
  void forget_probabilities() { probabilities_.reset(); }

  mutable linnet::Model model;
  std::vector<std::string> inputs;
  std::vector<std::string> outputs;
  linnet::Predictor predictor;

 private:
  mutable std::mutex mutex_;
  mutable std::optional<linnet::Predictor> probabilities_;
};

namespace linnet::c_api {

/// Throws Error unless the caller gave the handle.
inline void need_model(const linnet_model* model) { need(model, "model", "a model"); }

}  // namespace linnet::c_api
