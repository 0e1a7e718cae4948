// SPDX-License-Identifier: Apache-2.0
#include "plan/passes/overlap_sums.h"

#include <algorithm>
#include <cstdint>
#include <utility>
#include <vector>

#include "ops/all_reduce/all_reduce.h"
#include "plan/passes/graph_copy.h"

namespace linnet {
namespace {

/// Where a bucket is complete.
struct Complete {
  std::size_t node = 0;  ///< the last that writes to it, or to a bucket before it
  std::vector<Value> parts = {};
};

Complete complete(const Graph& graph, const Bucket& bucket, std::size_t after) {
  Complete found{.node = after};
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    for (Value v : graph.nodes()[n].outputs) {
      const ValueInfo& info = graph.info(v);
      if (info.storage != Storage::gradient || info.offset < bucket.begin ||
          info.offset >= bucket.end) {
        continue;
      }
      found.parts.push_back(v);
      found.node = std::max(found.node, n);
    }
  }
  return found;
}

}  // namespace

void overlap_sums(Graph& graph, std::span<const Bucket> buckets) {
  std::vector<Complete> ends;
  for (const Bucket& bucket : buckets) {
    ends.push_back(complete(graph, bucket, ends.empty() ? 0 : ends.back().node));
  }
  GraphCopy copy(graph);
  const auto op = std::make_shared<AllReduceOp>();
  std::size_t next = 0;
  for (std::size_t n = 0; n < graph.nodes().size(); ++n) {
    copy.add_as_it_was(graph.nodes()[n]);
    for (; next < ends.size() && ends[next].node == n; ++next) {
      const Bucket& bucket = buckets[next];
      const auto elements = static_cast<std::int64_t>((bucket.end - bucket.begin) / sizeof(float));
      std::vector<Value> operands{copy.made().add_value("gradients", {DType::f32, Shape{elements}},
                                                        Storage::gradient, bucket.begin)};
      for (Value part : ends[next].parts) operands.push_back(copy.of(part));
      copy.made().add(op, std::move(operands), "gradients");
    }
  }
  graph = std::move(copy.made());
}

}  // namespace linnet
