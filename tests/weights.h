// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <string>
#include <utility>
#include <vector>

#include "data_sets.h"

namespace linnet::testing {

inline std::vector<float> parameter(const Model& model, const std::string& name) {
  return vector_of(model.parameter(name));
}

inline void set_parameter(Model& model, const std::string& name, std::vector<float> values) {
  model.set_parameter(name, Tensor(std::move(values), model.parameter_shape(name)));
}

/// Weights and running statistics, one after the other.
inline std::vector<float> all_weights(const Model& model) {
  std::vector<float> all;
  for (const std::string& name : model.parameter_names()) {
    const std::vector<float> values = parameter(model, name);
    all.insert(all.end(), values.begin(), values.end());
  }
  return all;
}

}  // namespace linnet::testing
