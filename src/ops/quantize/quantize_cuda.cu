// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/device.cuh"
#include "backend/cuda/kernel.h"
#include "ops/quantize/quantize.h"
#include "ops/softmax/row_teams_cuda.cuh"

namespace linnet::cuda {
namespace {

struct Levels {
  float inverse;
  float scale;
  float zero;

  __device__ float level_of(float x) const {
    const float scaled = x * inverse;
    const float above = scaled > -zero ? scaled : -zero;  // NaN becomes level 0
    return ::rintf(above < 255 - zero ? above : 255 - zero);
  }
};

/// y, levels: null where nobody reads them.
__global__ void round_kernel(Levels of, std::int64_t elements, const float* x, float* y,
                             std::uint8_t* levels) {
  for (std::int64_t i = first_item(); i < elements; i += grid_stride()) {
    const float level = of.level_of(x[i]);
    if (y != nullptr) y[i] = level * of.scale;
    if (levels != nullptr) levels[i] = static_cast<std::uint8_t>(level + of.zero);
  }
}

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  using In = QuantizeOp::In;
  using Out = QuantizeOp::Out;
  const LevelsAttrs& attrs = node.attrs<QuantizeOp>();
  const auto scale = static_cast<float>(attrs.scale);
  const Levels of{1 / scale, scale, static_cast<float>(attrs.zero)};
  const std::int64_t elements = node.in(In::x).elements();
  if (elements == 0) return Kernel{.enqueue = [](const Args&) {}};
  const bool values = node.output_read[Out::y];
  const bool levels = node.output_read[Out::levels];
  return Kernel{.enqueue = [=](const Args& args) {
    launch(args.stream, "quantize", for_items(elements), round_kernel, of, elements, args.in(In::x),
           values ? args.out(Out::y) : nullptr,
           levels ? args.out<std::uint8_t>(Out::levels) : nullptr);
  }};
}

template <class Team>
__global__ void round_rows(const float* w, std::int64_t rows, std::int64_t columns, float* y) {
  for_team_rows<Team>(rows, columns, [&](std::int64_t row, std::int64_t n) {
    const std::int64_t at = row * columns;
    float most = 0;
    for_columns<Team>(n, [&](std::int64_t c) { most = ::fmaxf(most, ::fabsf(w[at + c])); });
    const float found = team_max<Team>(most) / 127;
    const float step = found >= std::numeric_limits<float>::min() ? found : 1.0F;
    for_columns<Team>(n, [&](std::int64_t c) { y[at + c] = ::rintf(w[at + c] / step) * step; });
  });
}

std::optional<Kernel> prepare_weights(const NodeView& node, const Context& /*context*/) {
  using In = QuantizeWeightsOp::In;
  using Out = QuantizeWeightsOp::Out;
  const std::int64_t rows = node.in(In::w)[0];
  const std::int64_t columns = node.in(In::w).elements() / std::max<std::int64_t>(rows, 1);
  if (rows * columns == 0) return Kernel{.enqueue = [](const Args&) {}};
  return with_team(columns, [&](auto team) {
    using Team = decltype(team);
    return Kernel{.enqueue = [=](const Args& args) {
      launch(args.stream, "quantize_weights", for_rows<Team>(rows), round_rows<Team>,
             args.in(In::w), rows, columns, args.out(Out::y));
    }};
  });
}

}  // namespace

void register_quantize(Registry& registry) {
  registry.add(QuantizeOp::kName, prepare);
  registry.add(QuantizeWeightsOp::kName, prepare_weights);
}

}  // namespace linnet::cuda
