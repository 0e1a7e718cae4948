// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/row_sum.h"
#include "ops/activation/formulas_cpu.h"
#include "ops/bias_activation_grad/bias_activation_grad.h"

namespace linnet::cpu {
namespace {

using In = BiasActivationGradOp::In;
using Out = BiasActivationGradOp::Out;

/// Rows that are summed while the cache holds them.
constexpr std::int64_t kRows = 8;

/// Nanoseconds of one core for an element.
constexpr double cost_of(Activation kind) { return kind == Activation::gelu ? 2.8 : 0.7; }

/// Writes one row of dx, which may lie over dy or `saved`. An outer product's dy is its one value
/// of the column, times `row`.
template <Activation kKind, bool kOuter>
void write_row(const float* dy, const float* row, const float* saved, std::int64_t channels,
               float* dx) {
  for (std::int64_t c = 0; c < channels; ++c) {
    dx[c] = activation_gradient<kKind>(kOuter ? *dy * row[c] : dy[c], saved[c]);
  }
}

template <Activation kKind, bool kOuter>
Kernel kernel_of(std::int64_t rows, std::int64_t channels) {
  return row_sum(rows, channels, cost_of(kKind) * static_cast<double>(channels), Out::db,
                 [=](const Args& args, Range range, float* sums) {
                   for (std::int64_t first = range.begin; first < range.end; first += kRows) {
                     const std::int64_t end = std::min(first + kRows, range.end);
                     for (std::int64_t r = first; r < end; ++r) {
                       write_row<kKind, kOuter>(args.in(In::dy) + (kOuter ? r : r * channels),
                                                kOuter ? args.in(In::row) : nullptr,
                                                args.in(In::saved) + r * channels, channels,
                                                args.out(Out::dx) + r * channels);
                     }
                     add_rows(args.out(Out::dx) + first * channels, end - first, channels, sums);
                   }
                 });
}

std::optional<Kernel> prepare(const NodeView& node) {
  const BiasActivationGradAttrs& attrs = node.attrs<BiasActivationGradOp>();
  const std::int64_t channels = node.out(Out::db)[0];
  const std::int64_t rows = node.in(In::saved).elements() / std::max<std::int64_t>(channels, 1);
  return with_activation(attrs.kind, [&]<Activation kKind>() {
    return attrs.outer ? kernel_of<kKind, true>(rows, channels)
                       : kernel_of<kKind, false>(rows, channels);
  });
}

}  // namespace

void register_bias_activation_grad(Registry& registry) {
  registry.add(BiasActivationGradOp::kName, prepare);
}

}  // namespace linnet::cpu
