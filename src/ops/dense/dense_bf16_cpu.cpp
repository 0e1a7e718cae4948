// SPDX-License-Identifier: Apache-2.0
#include "ops/dense/dense_bf16_cpu.h"

#include <map>

#include "backend/cpu/products/bf16_matmul.h"
#include "backend/cpu/products/bf16_tiles.h"
#include "backend/cpu/products/rounded_operands.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/bf16_engine_cpu.h"
#include "ops/dense/dense.h"
#include "ops/dense/thin_products_cpu.h"

namespace linnet::cpu {
namespace {

/// c (m, n) = a b without gaps, as matrices that are stored transposed or not.
struct Product {
  std::int64_t m = 0;
  std::int64_t n = 0;
  std::int64_t k = 0;
  bool transpose_a = false;
  bool transpose_b = false;
};

/// Tasks take rows of c; `finish(args, y, rows)` ends each. Nothing where one has no kernel.
template <class Finish>
std::optional<Kernel> by_rows(const Product& p, Finish finish) {
  // A cautious 200 GFLOP/s of one core.
  const double cost = 2.0 * static_cast<double>(p.n) * static_cast<double>(p.k) / 200;
  const int tasks = tasks_for(p.m, cost);
  auto products = std::make_shared<std::map<std::int64_t, Bf16Matmul>>();  // by their rows
  Kernel kernel;
  for (int t = 0; t < tasks; ++t) {
    const std::int64_t rows = split(p.m, tasks, t).size();
    if (products->contains(rows)) continue;
    std::optional<Bf16Matmul> product =
        Bf16Matmul::prepare(rows, p.n, p.k, {p.transpose_a ? p.m : p.k, p.transpose_a},
                            {p.transpose_b ? p.k : p.n, p.transpose_b}, p.n);
    if (!product) return std::nullopt;
    kernel.scratch_bytes = std::max(kernel.scratch_bytes, product->scratch_bytes());
    products->emplace(rows, std::move(*product));
  }
  kernel.stages.push_back(parallel(tasks, p.m, [=](const Args& args, const Task& task, Range rows) {
    const auto* a = args.in<std::uint16_t>(kFirst);
    float* c = args.out(kFirst) + rows.begin * p.n;
    products->at(rows.size())
        .run(a + rows.begin * (p.transpose_a ? 1 : p.k), args.in<std::uint16_t>(kSecond), c,
             task.scratch);
    finish(args, c, rows.size());
  }));
  return kernel;
}

/// oneDNN's kernel, which finds both operands as bfloat16s.
std::optional<Kernel> on_halves(const NodeView& node, std::optional<Kernel> kernel) {
  if (!kernel) return std::nullopt;
  kernel->engine = "onednn";
  return with_rounded_operands(node, std::move(*kernel), {kFirst, kSecond}, KeptAs::bf16);
}

/// The layer as a convolution of images of one pixel.
ConvShape as_convolution(std::int64_t n, std::int64_t features, std::int64_t units) {
  return {.n = n,
          .h = 1,
          .w = 1,
          .c = features,
          .oh = 1,
          .ow = 1,
          .co = units,
          .kh = 1,
          .kw = 1,
          .attrs = {}};
}

/// dx of few units on rounded operands; weights are rounded first, dz block by block.
Kernel thin_grad_input_kernel(const NodeView& node) {
  using In = DenseGradInputOp::In;
  using Out = DenseGradInputOp::Out;
  const std::int64_t n = node.in(In::dz)[0];
  const std::int64_t features = node.in(In::w)[1];
  const std::int64_t units = node.in(In::dz)[1];
  const Stored from(node.inputs[In::dz]);
  const Stored to(node.outputs[Out::dx]);
  const std::int64_t rows = stored_rows(features);
  Kernel kernel;
  kernel.engine = "thin";
  kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(units * features);
  kernel.scratch_bytes = sizeof(float) * static_cast<std::size_t>(rows * (units + features));
  kernel.stages.push_back(parallel(1, [=](const Args& args) {
    round_to_bf16(args.in(In::w), units * features, args.work());
  }));
  const double cost = 2.0 * static_cast<double>(units * features) / 40;
  kernel.stages.push_back(
      parallel(tasks_for(n, cost), n, [=](const Args& args, const Task& task, Range range) {
        auto* dz = reinterpret_cast<float*>(task.scratch);
        float* block = dz + rows * units;
        for (std::int64_t r = range.begin; r < range.end; r += rows) {
          const std::int64_t count = std::min(rows, range.end - r);
          round_to_bf16(from.read(args.inputs[In::dz], r * units, count * units, dz), count * units,
                        dz);
          float* dx = to.target(args.outputs[Out::dx], r * features, block);
          thin_grad_input({count, features, units}, dz, args.work(), dx);
          to.write(dx, count * features, args.outputs[Out::dx], r * features);
        }
      }));
  return kernel;
}

void nothing(const Args& /*args*/, float* /*c*/, std::int64_t /*rows*/) {}

}  // namespace

std::optional<Kernel> prepare_dense_bf16(const NodeView& node) {
  using In = DenseOp::In;
  const DenseAttrs attrs = node.attrs<DenseOp>();
  const std::int64_t n = node.in(In::x)[0];
  const std::int64_t features = node.in(In::x)[1];
  const std::int64_t units = node.in(In::w)[0];
  if (own_bf16_products() && stores_only(node, {In::x}, {kFirst})) {
    return bf16_forward(as_convolution(n, features, units),
                        {.x = Stored(node.inputs[In::x]), .y = Stored(node.outputs[kFirst])},
                        attrs.activation, bf16_bias(attrs.bias));
  }
  if (stores_bf16(node)) return std::nullopt;
  return on_halves(node, by_rows({.m = n, .n = units, .k = features, .transpose_b = true},
                                 [=](const Args& args, float* y, std::int64_t rows) {
                                   add_bias_and_activate(y, rows, units,
                                                         attrs.bias ? args.in(In::b) : nullptr,
                                                         attrs.activation);
                                 }));
}

std::optional<Kernel> prepare_dense_grad_input_bf16(const NodeView& node) {
  using In = DenseGradInputOp::In;
  const std::int64_t n = node.in(In::dz)[0];
  const std::int64_t features = node.in(In::w)[1];
  const std::int64_t units = node.in(In::dz)[1];
  if (own_bf16_products() && stores_only(node, {In::dz}, {kFirst})) {
    std::optional<Kernel> kernel =
        bf16_input_gradient(as_convolution(n, features, units), Stored(node.inputs[In::dz]),
                            Stored(node.outputs[kFirst]));
    if (kernel) return kernel;
    if (stores_bf16(node) && units <= kThinUnits) return thin_grad_input_kernel(node);
  }
  if (stores_bf16(node)) return std::nullopt;
  return on_halves(node, by_rows({.m = n, .n = features, .k = units}, nothing));
}

std::optional<Kernel> prepare_dense_grad_weight_bf16(const NodeView& node) {
  using In = DenseGradWeightOp::In;
  const std::int64_t n = node.in(In::dz)[0];
  const std::int64_t features = node.in(In::x)[1];
  const std::int64_t units = node.in(In::dz)[1];
  if (own_bf16_products() && stores_only(node, {In::x, In::dz}, {})) {
    return bf16_weight_gradient(as_convolution(n, features, units),
                                {.x = In::x,
                                 .dz = In::dz,
                                 .stored_x = Stored(node.inputs[In::x]),
                                 .stored_dz = Stored(node.inputs[In::dz])});
  }
  if (stores_bf16(node)) return std::nullopt;
  return on_halves(node,
                   by_rows({.m = units, .n = features, .k = n, .transpose_a = true}, nothing));
}

}  // namespace linnet::cpu
