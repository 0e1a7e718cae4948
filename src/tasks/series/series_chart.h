// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/series_task.h>

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

namespace linnet {

/// Returns a plot of a target over the last windows that follow each other without an overlap, as a
/// section with inline SVG: true values, forecasts and simple ones. `forecasts`: (windows, future).
std::string series_chart(const SeriesWindows& windows, std::size_t target, const std::string& name,
                         std::int64_t season, std::span<const double> forecasts,
                         std::int64_t future);

}  // namespace linnet
