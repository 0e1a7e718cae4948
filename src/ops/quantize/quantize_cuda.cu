// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/element_wise.cuh"
#include "ops/quantize/quantize.h"
#include "ops/softmax/row_teams_cuda.cuh"

namespace linnet::cuda {
namespace {

std::optional<Kernel> prepare_quantize(const NodeView& node, const Context& /*context*/) {
  using In = QuantizeOp::In;
  using Out = QuantizeOp::Out;
  const LevelsAttrs& attrs = node.attrs<QuantizeOp>();
  const auto scale = static_cast<float>(attrs.scale);
  const float inverse = 1 / scale;
  const auto zero = static_cast<float>(attrs.zero);
  const bool values = node.output_read[Out::y];
  const bool levels = node.output_read[Out::levels];
  // Each output is null where nobody reads it.
  const auto round = [=] __device__(std::int64_t i, const float* x, float* y, std::uint8_t* level) {
    const float scaled = x[i] * inverse;
    const float above = scaled > -zero ? scaled : -zero;  // NaN becomes level 0
    const float own = ::rintf(above < 255 - zero ? above : 255 - zero);
    if (y != nullptr) y[i] = own * scale;
    if (level != nullptr) level[i] = static_cast<std::uint8_t>(own + zero);
  };
  return Kernel{.enqueue = [=, elements = node.in(In::x).elements()](const Args& args) {
    for_each_item(args.stream, "quantize", elements, round, args.in(In::x),
                  values ? args.out(Out::y) : nullptr,
                  levels ? args.out<std::uint8_t>(Out::levels) : nullptr);
  }};
}

std::optional<Kernel> prepare_weights(const NodeView& node, const Context& /*context*/) {
  using In = QuantizeWeightsOp::In;
  using Out = QuantizeWeightsOp::Out;
  const std::int64_t rows = node.in(In::w)[0];
  const std::int64_t columns = node.in(In::w).elements() / std::max<std::int64_t>(rows, 1);
  return Kernel{.enqueue = [=](const Args& args) {
    const auto round = [=, w = args.in(In::w), y = args.out(Out::y)] __device__(auto team,
                                                                                std::int64_t row,
                                                                                std::int64_t n) {
      const std::int64_t at = row * columns;
      float most = 0;
      for_columns(team, n, [&](std::int64_t c) { most = ::fmaxf(most, ::fabsf(w[at + c])); });
      const float found = team_max(team, most) / 127;
      const float step = found >= std::numeric_limits<float>::min() ? found : 1.0F;
      for_columns(team, n, [&](std::int64_t c) { y[at + c] = ::rintf(w[at + c] / step) * step; });
    };
    each_row(args.stream, "quantize_weights", rows, columns, round);
  }};
}

}  // namespace

void register_quantize(Registry& registry) {
  registry.add(QuantizeOp::kName, prepare_quantize);
  registry.add(QuantizeWeightsOp::kName, prepare_weights);
}

}  // namespace linnet::cuda
