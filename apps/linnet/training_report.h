// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/trainer.h>

#include <span>

#include "io/html_report.h"

namespace linnet::command {

/// The curves of a history, with the test part where there is one, else the held-out part.
void add_epochs(Report& report, const History& history);

/// Adds the confusion matrix of `test`, of which `probabilities` are the model's (N, outputs), the
/// class names and the worst mistakes (pictures of 1 or 3 channels in bytes only). Nothing happens
/// for a data set without labels.
void add_mistakes(Report& report, std::span<const float> probabilities, const Dataset& test);

}  // namespace linnet::command
