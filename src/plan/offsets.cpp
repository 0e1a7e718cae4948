// SPDX-License-Identifier: Apache-2.0
#include "plan/offsets.h"

#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "graph/value.h"

namespace linnet {
namespace {

[[noreturn]] void fail_too_large() {
  fail("the program's values have too many bytes to address; choose a smaller batch");
}

/// Places the intervals in this order, each into the smallest gap that holds it; returns the bytes
/// needed.
std::size_t place(std::vector<Interval>& intervals, const std::vector<std::size_t>& order) {
  std::vector<const Interval*> placed;  // sorted by offset
  std::size_t peak = 0;
  const auto insert = [&](const Interval& interval) {
    peak = std::max(peak, interval.offset + align_up(interval.bytes));
    if (peak > kMostBytes) fail_too_large();
    const auto position =
        std::upper_bound(placed.begin(), placed.end(), interval.offset,
                         [](std::size_t offset, const Interval* i) { return offset < i->offset; });
    placed.insert(position, &interval);
  };
  for (const Interval& interval : intervals) {
    if (interval.fixed) insert(interval);
  }
  for (std::size_t index : order) {
    Interval& wanted = intervals[index];
    if (wanted.fixed) continue;
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
    insert(wanted);
  }
  return peak;
}

/// Returns the largest sum of bytes at one node.
std::size_t most_alive(const std::vector<Interval>& intervals) {
  std::map<std::size_t, std::pair<std::size_t, std::size_t>> changes;  // begins and ends, by node
  for (const Interval& interval : intervals) {
    changes[interval.first].first += align_up(interval.bytes);
    changes[interval.last + 1].second += align_up(interval.bytes);
  }
  std::size_t alive = 0;
  std::size_t most = 0;
  for (const auto& [node, change] : changes) {
    alive = alive - change.second + change.first;
    most = std::max(most, alive);
  }
  return most;
}

/// Returns the intervals' order by key(interval), the largest first.
template <class Key>
std::vector<std::size_t> ordered(const std::vector<Interval>& intervals, Key key) {
  std::vector<std::size_t> order(intervals.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return std::pair(key(intervals[b]), a) < std::pair(key(intervals[a]), b);
  });
  return order;
}

}  // namespace

std::size_t assign_offsets(std::vector<Interval>& intervals) {
  for (const Interval& wanted : intervals) {
    if (wanted.bytes > kMostBytes) fail_too_large();
  }
  const auto bytes = [](const Interval& i) { return i.bytes; };
  std::size_t peak = place(intervals, ordered(intervals, bytes));
  const std::size_t least = most_alive(intervals);
  if (peak - least <= least / 50) return peak;
  const auto span = [](const Interval& i) { return i.last - i.first; };
  const auto area = [](const Interval& i) {
    return static_cast<double>(i.bytes) * static_cast<double>(i.last - i.first + 1);
  };
  const auto last = [](const Interval& i) { return std::pair(i.last, i.bytes); };
  std::vector<Interval> other = intervals;
  for (const auto& order :
       {ordered(intervals, area), ordered(intervals, span), ordered(intervals, last)}) {
    const std::size_t needed = place(other, order);
    if (needed >= peak) continue;
    peak = needed;
    intervals = other;
  }
  return peak;
}

}  // namespace linnet
