// SPDX-License-Identifier: Apache-2.0
#include "base/version.h"

namespace linnet {

std::string_view version() noexcept { return kVersionText; }

}  // namespace linnet
