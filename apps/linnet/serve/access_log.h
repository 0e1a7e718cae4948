// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include "serve/http_loop.h"

namespace linnet::command {

/// Returns the names of the forms of an access log.
std::vector<std::string> access_log_names();

/// Returns what writes a line on standard error for each answer: as "text", `2024-12-31T23:59:59Z
/// 127.0.0.1 POST /predict 200 281 bytes 1.2 ms`, or as "json", an object; "off": nothing.
HttpLog access_log(const std::string& name);

}  // namespace linnet::command
