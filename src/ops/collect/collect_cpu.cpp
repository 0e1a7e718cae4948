// SPDX-License-Identifier: Apache-2.0
#include "ops/collect/collect.h"

#include <algorithm>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

/// Copies what lies elsewhere, and fills the rest with zeros.
std::optional<Kernel> prepare(const NodeView& node) {
  using Out = CollectOp::Out;
  struct Part {
    std::int64_t begin = 0;
    std::int64_t end = 0;
  };
  const CollectAttrs attrs = node.attrs<CollectOp>();
  std::vector<Part> parts;
  for (std::size_t i = 0; i < attrs.begins.size(); ++i) {
    parts.push_back({attrs.begins[i], attrs.begins[i] + node.in(i).elements()});
  }
  return one_stage(attrs.length, 0.02, [=](const Args& args, const Task&, Range range) {
    float* y = args.out(Out::y);
    std::int64_t done = range.begin;
    for (std::size_t i = 0; i < parts.size(); ++i) {
      const std::int64_t begin = std::clamp(parts[i].begin, done, range.end);
      const std::int64_t end = std::clamp(parts[i].end, begin, range.end);
      std::fill(y + done, y + begin, 0.0F);
      const float* x = args.in(i) + (begin - parts[i].begin);
      if (x != y + begin) std::copy_n(x, end - begin, y + begin);
      done = end;
    }
    std::fill(y + done, y + range.end, 0.0F);
  });
}

}  // namespace

void register_collect(Registry& registry) { registry.add(CollectOp::kName, prepare); }

}  // namespace linnet::cpu
