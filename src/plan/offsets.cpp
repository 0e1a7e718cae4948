// SPDX-License-Identifier: Apache-2.0
#include "plan/offsets.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "graph/value.h"

namespace linnet {
namespace {

[[noreturn]] void fail_too_large() {
  fail("the program's values have too many bytes to address; choose a smaller batch");
}

}  // namespace

std::size_t assign_offsets(std::vector<Interval>& intervals) {
  std::vector<std::size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(intervals[b].bytes, a) < std::pair(intervals[a].bytes, b);
  });
  std::vector<const Interval*> placed;  // sorted by offset
  std::size_t peak = 0;
  for (std::size_t index : order) {
    Interval& wanted = intervals[index];
    if (wanted.bytes > kMostBytes) fail_too_large();
    const std::size_t size = align_up(wanted.bytes);
    std::size_t best = std::numeric_limits<std::size_t>::max();
    std::size_t best_gap = best;
    std::size_t end = 0;  // of the blocks seen so far that live together with this one
    for (const Interval* other : placed) {
      if (other->last < wanted.first || wanted.last < other->first) continue;
      if (other->offset > end) {
        const std::size_t gap = other->offset - end;
        if (gap >= size && gap < best_gap) {
          best_gap = gap;
          best = end;
        }
      }
      end = std::max(end, other->offset + align_up(other->bytes));
    }
    wanted.offset = best_gap != std::numeric_limits<std::size_t>::max() ? best : end;
    peak = std::max(peak, wanted.offset + size);
    if (peak > kMostBytes) fail_too_large();
    const auto position =
        std::upper_bound(placed.begin(), placed.end(), wanted.offset,
                         [](std::size_t offset, const Interval* i) { return offset < i->offset; });
    placed.insert(position, &wanted);
  }
  return peak;
}

}  // namespace linnet
