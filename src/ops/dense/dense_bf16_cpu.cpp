// SPDX-License-Identifier: Apache-2.0
#include "ops/dense/dense_bf16_cpu.h"

#include "backend/cpu/bf16_matmul.h"
#include "backend/cpu/rounded_operands.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/bf16_engine_cpu.h"
#include "ops/dense/dense.h"

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
  auto products = std::make_shared<std::vector<Bf16Matmul>>();
  Kernel kernel;
  for (int t = 0; t < tasks; ++t) {
    std::optional<Bf16Matmul> product =
        Bf16Matmul::prepare(split(p.m, tasks, t).size(), p.n, p.k,
                            {p.transpose_a ? p.m : p.k, p.transpose_a},
                            {p.transpose_b ? p.k : p.n, p.transpose_b}, p.n);
    if (!product) return std::nullopt;
    kernel.scratch_bytes = std::max(kernel.scratch_bytes, product->scratch_bytes());
    products->push_back(std::move(*product));
  }
  kernel.stages.push_back(parallel(tasks, p.m, [=](const Args& args, const Task& task, Range rows) {
    const auto* a = args.in<std::uint16_t>(kFirst);
    float* c = args.out(kFirst) + rows.begin * p.n;
    (*products)[static_cast<std::size_t>(task.index)].run(a + rows.begin *
                                                                  (p.transpose_a ? 1 : p.k),
                                                          args.in<std::uint16_t>(kSecond), c,
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

void nothing(const Args& /*args*/, float* /*c*/, std::int64_t /*rows*/) {}

}  // namespace

std::optional<Kernel> prepare_dense_bf16(const NodeView& node) {
  using In = DenseOp::In;
  const DenseAttrs attrs = node.attrs<DenseOp>();
  const std::int64_t n = node.in(In::x)[0];
  const std::int64_t features = node.in(In::x)[1];
  const std::int64_t units = node.in(In::w)[0];
  if (own_bf16_products()) {
    return bf16_tiles_engine().forward(as_convolution(n, features, units),
                                       {.bias = attrs.bias, .activation = attrs.activation});
  }
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
  if (own_bf16_products()) {
    return bf16_tiles_engine().grad_input(as_convolution(n, features, units));
  }
  return on_halves(node, by_rows({.m = n, .n = features, .k = units}, nothing));
}

std::optional<Kernel> prepare_dense_grad_weight_bf16(const NodeView& node) {
  using In = DenseGradWeightOp::In;
  const std::int64_t n = node.in(In::dz)[0];
  const std::int64_t features = node.in(In::x)[1];
  const std::int64_t units = node.in(In::dz)[1];
  if (own_bf16_products()) {
    return bf16_weight_gradient(as_convolution(n, features, units), {.x = In::x, .dz = In::dz});
  }
  return on_halves(node,
                   by_rows({.m = units, .n = features, .k = n, .transpose_a = true}, nothing));
}

}  // namespace linnet::cpu
