// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/error.h>

#include <cstdint>
#include <string>

namespace linnet {

/// A step that met something not finite.
struct NotFinite {
  std::string where = {};  ///< the operator and layer, as "[conv2d 'stem']"; empty: not known
  std::uint64_t step = 0;  ///< as StepInfo::step
  std::int64_t epoch = 0;
};

/// The Error of a loss, a gradient or a weight that became NaN or infinite in a training.
class NotFiniteError : public Error {
 public:
  using Error::Error;
};

/// Throws the Error that says that a weight was ruined in the update of a step or one before.
[[noreturn]] void fail_overflow(const std::string& weight, std::uint64_t step);
/// Throws the Error that says so. fp16: the precision of the training.
[[noreturn]] void fail_not_finite(const NotFinite& found, bool fp16);

}  // namespace linnet
