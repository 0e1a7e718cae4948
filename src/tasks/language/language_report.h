// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/model.h>

#include <string>

#include "tasks/task_report.h"

namespace linnet {

/// Measures a language model on windows, beside frequencies of characters and of pairs of them in
/// the training set; null: alone.
TaskReport report_language(Model& model, const Dataset* train, const Dataset& held_out,
                           const std::string& part);

}  // namespace linnet
