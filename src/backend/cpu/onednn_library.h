// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace linnet::cpu {

/// Opens oneDNN unless it is open. Throws DeviceError with one sentence where its library cannot be
/// opened. For the preparation of kernels that call it, so that none fails while it runs.
void require_onednn();
/// Returns whether its library can be opened, and opens it: candidates that call it are left out
/// where it cannot.
bool has_onednn();
/// Returns the version of the library, "2.6.3"; empty where nothing has opened it.
std::string onednn_version();

}  // namespace linnet::cpu
