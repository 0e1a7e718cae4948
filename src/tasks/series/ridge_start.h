// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/series_transform.h>
#include <linnet/state.h>

#include <cstddef>
#include <cstdint>
#include <string>

#include "series/series_record.h"

namespace linnet {

/// Returns the name of the linear part of a target's forecast in series_network().
std::string linear_layer(std::int64_t target);

/// Returns whether the linear part of a target's forecast may begin as a ridge regression: the
/// target has a trend and a season. A network needs long to learn both from few windows; without
/// them a regression as a start made forecasts of short series worse.
bool begins_as_ridge(const SeriesRecord& record, std::size_t target);

/// Returns the weights of a ridge regression of the changes over a window's future on all that a
/// window holds but its series, for the linear parts of series_network() that begin as one. The
/// strength is the one of least squared error where the windows, in order, are forecast in three
/// parts, each by those before it. Of many windows some at equal distances count. Empty: no target
/// begins so, no strength is better than the last value, a window has more than 256 numbers, or
/// there are fewer than 40 windows. `others`: how many inputs the linear parts have beside, which
/// begin with weights of 0.
State ridge_start(const SeriesWindows& windows, std::int64_t others);

}  // namespace linnet
