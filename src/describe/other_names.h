// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace linnet {

/// Returns what PyTorch, Keras, scikit-learn or libraries of forecasts call an argument, as it may
/// be called here: {"learning_rate", "lr"} for "lr"; empty where nobody else has the name. Names
/// are in snake case.
std::vector<std::string_view> other_names(std::string_view given);

/// Returns text such as "; did you mean 'epochs'?" for the name among `known` that another library
/// calls `given`, else did_you_mean().
std::string meant_among(std::string_view given, const std::vector<std::string>& known);

}  // namespace linnet
