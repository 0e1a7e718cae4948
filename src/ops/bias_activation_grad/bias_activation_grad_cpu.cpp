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

/// How the activations lie in memory.
struct Layout {
  Stored dy;
  Stored saved;
  Stored dx;

  bool bf16() const { return dy.bf16() || saved.bf16() || dx.bf16(); }
};

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
Kernel kernel_of(std::int64_t rows, std::int64_t channels, const Layout& stored) {
  const std::int64_t at_once = stored.bf16() ? stored_rows(channels) : kRows;
  const std::int64_t width = kOuter ? 1 : channels;  // of dy
  const std::int64_t block = at_once * channels;
  Kernel kernel =
      row_sum(rows, channels, cost_of(kKind) * static_cast<double>(channels), Out::db,
              [=](const Args& args, const Task& task, Range range, float* sums) {
                auto* scratch = reinterpret_cast<float*>(task.scratch);
                for (std::int64_t first = range.begin; first < range.end; first += at_once) {
                  const std::int64_t count = std::min(at_once, range.end - first);
                  const std::int64_t from = first * channels;
                  const float* dy =
                      stored.dy.read(args.inputs[In::dy], first * width, count * width, scratch);
                  const float* saved = stored.saved.read(args.inputs[In::saved], from,
                                                         count * channels, scratch + block);
                  float* dx = stored.dx.target(args.outputs[Out::dx], from, scratch + 2 * block);
                  for (std::int64_t r = 0; r < count; ++r) {
                    write_row<kKind, kOuter>(dy + r * width, kOuter ? args.in(In::row) : nullptr,
                                             saved + r * channels, channels, dx + r * channels);
                  }
                  add_rows(dx, count, channels, sums);
                  stored.dx.write(dx, count * channels, args.outputs[Out::dx], from);
                }
              });
  if (stored.bf16()) kernel.scratch_bytes = 3 * sizeof(float) * static_cast<std::size_t>(block);
  return kernel;
}

std::optional<Kernel> prepare(const NodeView& node) {
  const BiasActivationGradAttrs& attrs = node.attrs<BiasActivationGradOp>();
  if (!stores_only(node, {In::dy, In::saved}, {Out::dx})) return std::nullopt;
  const std::int64_t channels = node.out(Out::db)[0];
  const std::int64_t rows = node.in(In::saved).elements() / std::max<std::int64_t>(channels, 1);
  const Layout stored{Stored(node.inputs[In::dy]), Stored(node.inputs[In::saved]),
                      Stored(node.outputs[Out::dx])};
  return with_activation(attrs.kind, [&]<Activation kKind>() {
    return attrs.outer ? kernel_of<kKind, true>(rows, channels, stored)
                       : kernel_of<kKind, false>(rows, channels, stored);
  });
}

}  // namespace

void register_bias_activation_grad(Registry& registry) {
  registry.add(BiasActivationGradOp::kName, prepare, Stores::bf16);
}

}  // namespace linnet::cpu
