// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <string>

namespace linnet {

/// Returns text such as "1.5 GiB".
std::string bytes_text(std::size_t bytes);

}  // namespace linnet
