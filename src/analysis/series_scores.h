// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/series_task.h>

#include <memory>
#include <vector>

#include "series/window_contents.h"

namespace linnet {

/// forecast() of a table that read_series() has read for a forecast, by the model's record.
std::vector<ForecastStep> forecast_of(Model& model,
                                      const std::shared_ptr<const WindowContents>& contents,
                                      double interval);

}  // namespace linnet
