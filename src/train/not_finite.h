// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

namespace linnet {

/// A step that met something not finite.
struct NotFinite {
  std::string where = {};  ///< the operator and layer, as "[conv2d 'stem']"; empty: not known
  std::uint64_t step = 0;  ///< as StepInfo::step
  std::int64_t epoch = 0;
};

/// Throws the Error that says so.
[[noreturn]] void fail_not_finite(const NotFinite& found);

}  // namespace linnet
