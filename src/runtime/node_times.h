// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <vector>

#include "runtime/backend.h"

namespace linnet {

/// Collects what profiled steps measure. Every step adds the same nodes in the same order.
class NodeTimes {
 public:
  void add(std::size_t node, double start, double seconds);
  /// Returns one entry a node, in that order.
  std::vector<NodeTime> medians() const;

 private:
  struct Samples {
    std::size_t node = 0;
    std::vector<double> starts = {};
    std::vector<double> seconds = {};
  };

  std::vector<Samples> nodes_;
  std::size_t next_ = 0;  ///< place of the node that comes next
};

}  // namespace linnet
