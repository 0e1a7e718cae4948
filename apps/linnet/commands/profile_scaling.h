// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/scaling.h>

#include <string>

#include "report/json.h"

namespace linnet::command {

/// Returns what `linnet profile --scaling` says of the job called `name`.
Json scaling_json(const std::string& name, bool inference, const ThreadScaling& scaling);
std::string scaling_text(const ThreadScaling& scaling);

}  // namespace linnet::command
