// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>

#include "backend/cpu/kernel.h"
#include "backend/cpu/products/int8_tiles.h"
#include "ops/quantize/quantize.h"

namespace linnet::cpu {
namespace {

std::optional<Kernel> prepare(const NodeView& node) {
  using In = QuantizeOp::In;
  using Out = QuantizeOp::Out;
  const LevelsAttrs& attrs = node.attrs<QuantizeOp>();
  const Int8Levels scale{.scale = static_cast<float>(attrs.scale),
                         .zero = static_cast<std::int32_t>(attrs.zero)};
  const bool values = node.output_read[Out::y];
  const bool levels = node.output_read[Out::levels];
  return one_stage(node.in(In::x).elements(), 0.3, [=](const Args& args, Range range) {
    constexpr std::int64_t kBlock = 1024;
    std::array<std::uint8_t, kBlock> block;
    for (std::int64_t i = range.begin; i < range.end; i += kBlock) {
      const std::int64_t count = std::min(range.end - i, kBlock);
      std::uint8_t* to = levels ? args.out<std::uint8_t>(Out::levels) + i : block.data();
      to_levels(args.in(In::x) + i, count, scale, to);
      float* y = values ? args.out(Out::y) + i : nullptr;
      for (std::int64_t j = 0; values && j < count; ++j) {
        y[j] = static_cast<float>(to[j] - scale.zero) * scale.scale;
      }
    }
  });
}

std::optional<Kernel> prepare_weights(const NodeView& node) {
  using In = QuantizeWeightsOp::In;
  using Out = QuantizeWeightsOp::Out;
  const std::int64_t rows = node.in(In::w)[0];
  const std::int64_t width = node.in(In::w).elements() / std::max<std::int64_t>(rows, 1);
  return one_stage(rows, 2.0 * static_cast<double>(width), [=](const Args& args, Range range) {
    for (std::int64_t r = range.begin; r < range.end; ++r) {
      round_row({args.in(In::w) + r * width, static_cast<std::size_t>(width)},
                args.out(Out::y) + r * width);
    }
  });
}

}  // namespace

void register_quantize(Registry& registry) {
  registry.add(QuantizeOp::kName, prepare);
  registry.add(QuantizeWeightsOp::kName, prepare_weights);
}

}  // namespace linnet::cpu
