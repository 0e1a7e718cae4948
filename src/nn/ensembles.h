// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/expression.h>
#include <linnet/model.h>

#include <span>
#include <vector>

#include "nn/definition.h"

namespace linnet {

/// Returns the mean of what the members of an ensemble predict, as
/// FunctionalNetwork::build_ensemble() says. `shares`: of each member, above 0 and together 1;
/// empty: equal ones.
Expression mean_answer(const std::vector<Expression>& members, Answers answers,
                       std::span<const double> shares);

/// Returns an ensemble's network whose outputs are its members, "member 1" and so on.
NetworkDefinition members_of(const NetworkDefinition& ensemble);

/// A further input of the next two, f32 {1}: the samples' folds.
inline constexpr const char* kFold = "fold of the sample";

/// Returns a network whose outputs are the kinds of members, "kind 1" and so on: of each those that
/// hold a sample out (NetworkOutput::holds_out()).
NetworkDefinition kinds_of_members(const NetworkDefinition& ensemble);

/// Returns a network with kFold as its last input, which answers each sample by the members that
/// hold it out (NetworkOutput::holds_out()).
NetworkDefinition answers_of_folds(const NetworkDefinition& ensemble, Answers answers);

/// Returns an ensemble whose output is the mean of its members by these shares.
NetworkDefinition with_shares(const NetworkDefinition& ensemble, Answers answers,
                              std::span<const double> shares);

}  // namespace linnet
