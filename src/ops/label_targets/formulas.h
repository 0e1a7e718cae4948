// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <limits>

#include "base/host_device.h"

namespace linnet {

/// One element of label_targets, which the reference and both kernels share.
struct LabelTargets {
  std::int64_t classes = 1;
  double smoothing = 0;
  bool ignores = false;
  std::int64_t ignore_index = 0;

  /// Returns whether the label is one of the classes and counts.
  LINNET_HOST_DEVICE bool counts(std::int64_t label) const {
    return label >= 0 && label < classes && !ignored(label);
  }
  LINNET_HOST_DEVICE bool ignored(std::int64_t label) const {
    return ignores && label == ignore_index;
  }
  /// t[n, c], given w[c] and W.
  LINNET_HOST_DEVICE double target(std::int64_t label, std::int64_t c, double weight,
                                   double total) const {
    if (ignored(label)) return 0;
    if (!counts(label)) return std::numeric_limits<double>::quiet_NaN();
    const double share =
        (label == c ? 1 - smoothing : 0) + smoothing / static_cast<double>(classes);
    return total > 0 ? weight * share / total : 0;
  }
};

}  // namespace linnet
