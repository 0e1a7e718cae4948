// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/model.h>

#include <optional>

#include "tasks/task_report.h"

namespace linnet {

/// Returns the novelty that 95 % of the held-out rows do not exceed; nothing where these are fewer
/// than 19.
std::optional<double> novelty_threshold(const Model& model);

/// Says where the threshold is, and how many test rows are above it.
TaskReport report_of_novelty(Model& model, const Splits& data);

/// Says how many rows are above the threshold, and which are the most novel.
TaskReport score_of_novelty(Model& model, const Dataset& rows);

}  // namespace linnet
