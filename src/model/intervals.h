// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/intervals.h>

#include <string>

namespace linnet {

/// Calls calibrate_intervals() where the model predicts values and the data have values for them;
/// returns whether it did.
bool calibrate_where_possible(Model& model, const Dataset& held_out);

/// Returns errors as they stand in a model file.
std::string to_json(const HeldOutErrors& errors);
/// Throws Error for any other text.
HeldOutErrors held_out_errors_from(const std::string& text);

}  // namespace linnet
