// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <span>
#include <vector>

namespace linnet {

/// Returns the shares, together 1, that give a mixture of probabilities the least log loss on
/// observations, of which `right` holds the probability that each member gives to what came true,
/// observation by observation. Equal shares count as `prior` observations.
std::vector<double> shares_of_probabilities(std::span<const double> right, std::size_t members,
                                            double prior);

/// Returns the shares, together 1 and none negative, whose mean has the least squared error.
/// `errors`: of each member, observation by observation. Equal shares count as `prior`
/// observations.
std::vector<double> shares_of_values(std::span<const double> errors, std::size_t members,
                                     double prior);

}  // namespace linnet
