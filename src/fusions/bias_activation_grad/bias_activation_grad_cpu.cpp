// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/row_sum.h"
#include "fusions/bias_activation_grad/bias_activation_grad.h"
#include "fusions/bias_activation_grad/slopes_cpu.h"

namespace linnet::cpu {
namespace {

using In = BiasActivationGradOp::In;
using Out = BiasActivationGradOp::Out;

/// Returns the rows that are summed while the cache holds them: short ones are joined.
std::int64_t rows_at_once(std::int64_t channels) {
  constexpr std::int64_t kFewest = 8;
  constexpr std::int64_t kFloats = 2048;
  return std::max(kFloats / std::max<std::int64_t>(channels, 1) / kFewest * kFewest, kFewest);
}

/// Nanoseconds of one core for an element.
constexpr double cost_of(Activation kind) { return kind == Activation::gelu ? 2.8 : 0.7; }

std::optional<Kernel> prepare(const NodeView& node) {
  const BiasActivationGradAttrs attrs = node.attrs<BiasActivationGradOp>();
  if (!stores_only(node, {In::dy, In::saved}, {Out::dx})) return std::nullopt;
  const std::int64_t channels = node.out(Out::db)[0];
  const std::int64_t rows = node.in(In::saved).elements() / std::max<std::int64_t>(channels, 1);
  const Stored of_dy(node.inputs[In::dy]);
  const Stored of_saved(node.inputs[In::saved]);
  const Stored of_dx(node.outputs[Out::dx]);
  const bool bf16 = stores_bf16(node);
  const std::int64_t at_once = bf16 ? stored_rows(channels) : rows_at_once(channels);
  const std::int64_t width = attrs.outer ? 1 : channels;  // of dy
  const std::int64_t block = at_once * channels;
  Kernel kernel =
      row_sum(rows, channels, cost_of(attrs.kind) * static_cast<double>(channels), Out::db,
              [=](const Args& args, const Task& task, Range range, float* sums) {
                auto* scratch = reinterpret_cast<float*>(task.scratch);
                for (std::int64_t r = range.begin; r < range.end; r += at_once) {
                  const std::int64_t count = std::min(at_once, range.end - r);
                  const std::int64_t size = count * channels;
                  const float* dy =
                      of_dy.read(args.inputs[In::dy], r * width, count * width, scratch);
                  const float* saved =
                      of_saved.read(args.inputs[In::saved], r * channels, size, scratch + block);
                  float* dx =
                      of_dx.target(args.outputs[Out::dx], r * channels, scratch + 2 * block);
                  write_slopes(attrs.kind, dy, attrs.outer ? args.in(In::row) : nullptr, saved,
                               count, channels, dx);
                  add_rows(dx, count, channels, sums);
                  of_dx.write(dx, size, args.outputs[Out::dx], r * channels);
                }
              });
  if (bf16) kernel.scratch_bytes = 3 * sizeof(float) * static_cast<std::size_t>(block);
  return kernel;
}

}  // namespace

void register_bias_activation_grad(Registry& registry) {
  registry.add(BiasActivationGradOp::kName, prepare, Stores::bf16);
}

}  // namespace linnet::cpu
