// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/model.h>

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace linnet {

/// Returns a record as it stands in a model file, {"loss": "mse", "labels": false, "sample_shape":
/// [4]}.
std::string to_json(const TrainingRecord& record);
/// Throws Error for any other text.
TrainingRecord training_record_from(const std::string& text);

/// Returns the shape of a sample of these dims; nothing where no data can have it.
std::optional<Shape> sample_shape_of(std::span<const std::uint64_t> dims);

}  // namespace linnet
