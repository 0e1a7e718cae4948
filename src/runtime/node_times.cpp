// SPDX-License-Identifier: Apache-2.0
#include "runtime/node_times.h"

#include <algorithm>

namespace linnet {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  const std::size_t half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

}  // namespace

void NodeTimes::add(std::size_t node, double start, double seconds) {
  if (!nodes_.empty() && node == nodes_.front().node) next_ = 0;
  if (next_ == nodes_.size()) nodes_.push_back({.node = node});
  Samples& samples = nodes_[next_++];
  samples.starts.push_back(start);
  samples.seconds.push_back(seconds);
}

std::vector<NodeTime> NodeTimes::medians() const {
  std::vector<NodeTime> times;
  times.reserve(nodes_.size());
  for (const Samples& samples : nodes_) {
    times.push_back({samples.node, median(samples.starts), median(samples.seconds)});
  }
  return times;
}

}  // namespace linnet
