// SPDX-License-Identifier: Apache-2.0
#include "model/memory_report.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace linnet {
namespace {

constexpr std::size_t kLargest = 5;

/// "'conv2d_1' f32 (128, 28, 28, 16) 6.1 MiB", the largest first.
std::vector<std::string> largest_values(const Plan& plan) {
  std::vector<int> roots;
  for (std::size_t id = 0; id < plan.values.size(); ++id) {
    const Placement& place = plan.values[id];
    if (place.root == static_cast<int>(id) && place.storage == Storage::arena && place.bytes > 0) {
      roots.push_back(place.root);
    }
  }
  const auto bytes = [&](int id) { return plan.values[static_cast<std::size_t>(id)].bytes; };
  std::sort(roots.begin(), roots.end(),
            [&](int a, int b) { return std::pair(bytes(b), a) < std::pair(bytes(a), b); });
  roots.resize(std::min(roots.size(), kLargest));
  std::vector<std::string> texts;
  for (int id : roots) {
    const ValueInfo& info = plan.graph.info(Value{id});
    texts.push_back(
        fmt::format("'{}' {} {}", info.name, to_string(info.type), mebibytes(bytes(id))));
  }
  return texts;
}

/// Returns what the values alone need; kernels' workspaces come on top.
std::size_t value_bytes(const Graph& graph) {
  return make_plan(graph, [](const Node&) { return std::size_t{0}; }).total_bytes();
}

}  // namespace

std::string mebibytes(std::size_t bytes) {
  return fmt::format("{:.1f} MiB", static_cast<double>(bytes) / (1 << 20));
}

std::string does_not_fit(const Plan& plan, std::size_t needed, std::size_t free, std::int64_t batch,
                         const std::function<Graph(std::int64_t)>& graph_of) {
  // Workspaces and other programs are taken to shrink as the values do.
  const double extra = static_cast<double>(needed) / static_cast<double>(value_bytes(plan.graph));
  const auto fits = [&](std::int64_t b) {
    return static_cast<double>(value_bytes(graph_of(b))) * extra <= static_cast<double>(free);
  };
  std::int64_t good = 0;
  std::int64_t bad = batch;
  while (bad - good > std::max<std::int64_t>(1, good / 32)) {
    const std::int64_t middle = good + (bad - good) / 2;
    (fits(middle) ? good : bad) = middle;
  }
  return fmt::format(
      "a batch of {} needs {} of device memory, but {} are free; its largest values are {}; {}",
      batch, mebibytes(needed), mebibytes(free), fmt::join(largest_values(plan), ", "),
      good > 0 ? fmt::format("a batch of {} would fit (--batch {})", good, good)
               : "not even a batch of 1 would fit");
}

}  // namespace linnet
