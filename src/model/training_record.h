// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <string>

namespace linnet {

/// Returns a record as it stands in a model file, {"loss": "mse", "labels": false, "sample_shape":
/// [4]}.
std::string to_json(const TrainingRecord& record);
/// Throws Error for any other text.
TrainingRecord training_record_from(const std::string& text);

}  // namespace linnet
