// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/metrics.h>
#include <linnet/trainer.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "report/html_report.h"

namespace linnet::command {

/// The curves of a history, with the test set where there is one, else the held-out part.
void add_epochs(Report& report, const History& history);

/// Adds the confusion matrix that `metrics` measured of `test`, the class names and the worst
/// mistakes (images of 1 or 3 channels in bytes, and texts whose `words` are known) of the model's
/// logits (N, outputs). Samples of the ignored label are in neither. Nothing happens for a data set
/// without labels.
void add_mistakes(Report& report, const Metrics& metrics, std::span<const float> logits,
                  const Dataset& test, const std::vector<std::string>& words,
                  std::optional<std::int32_t> ignore_index);

}  // namespace linnet::command
