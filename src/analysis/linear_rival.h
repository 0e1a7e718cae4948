// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>
#include <vector>

namespace linnet {

/// Returns the outputs of a linear model of the training set for the samples of `data`, as
/// predictions_of() returns a network's: logits (N, classes) of a logistic regression for labels,
/// else (N, columns) of a ridge regression of the first target. Both take every input number by
/// number, standardised, and every id by itself, with the penalty 1 (scikit-learn's C and alpha).
/// Of a large training set rows at equal distances are taken, so it costs less than a second; sums
/// have one order, so bits repeat. Weights of samples do not count. Samples of a fold are answered
/// by a model that has not learned from the training set's of that fold. Returns nothing where
/// there are more than 512 inputs, where so few rows would remain that they say little, and for
/// inputs or targets that are of steps or are read from files.
std::vector<float> linear_predictions(const Dataset& train, const Dataset& data,
                                      std::int64_t classes);

}  // namespace linnet
