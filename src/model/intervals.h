// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/intervals.h>

#include <cstdint>
#include <string>

namespace linnet {

/// The coverage of which reports say how often intervals held the true values.
inline constexpr double kReportedCoverage = 0.9;

/// Returns how many held-out samples an interval of this coverage needs.
std::int64_t samples_for_interval(double coverage);

/// Calls calibrate_intervals() where the model predicts values and the data have values for them;
/// returns whether it did.
bool calibrate_where_possible(Model& model, const Dataset& held_out);

/// Returns the text of errors in a model file.
std::string to_json(const HeldOutErrors& errors);
/// Throws Error for any other text.
HeldOutErrors held_out_errors_from(const std::string& text);

}  // namespace linnet
