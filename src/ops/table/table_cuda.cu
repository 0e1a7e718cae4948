// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/table/table.h"

namespace linnet::cuda {
namespace {

constexpr std::int64_t kPart = 512;  // what a launch may carry as a parameter: 4 KiB

struct Part {
  float values[kPart];
};

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  const std::vector<double>& values = node.attrs<TableOp>().values;
  std::vector<Part> parts((values.size() + kPart - 1) / kPart);
  for (std::size_t i = 0; i < values.size(); ++i) {
    parts[i / kPart].values[i % kPart] = static_cast<float>(values[i]);
  }
  const auto count = static_cast<std::int64_t>(values.size());
  return Kernel{.enqueue = [=](const Args& args) {
    for (std::size_t p = 0; p < parts.size(); ++p) {
      const std::int64_t begin = static_cast<std::int64_t>(p) * kPart;
      const std::int64_t size = std::min(kPart, count - begin);
      for_each_item(args.stream, "table", size,
                    [part = parts[p], y = args.out(TableOp::Out::y) + begin] __device__(
                        std::int64_t i) { y[i] = part.values[i]; });
    }
  }};
}

}  // namespace

void register_table(Registry& registry) { registry.add(TableOp::kName, prepare); }

}  // namespace linnet::cuda
