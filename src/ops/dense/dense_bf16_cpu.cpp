// SPDX-License-Identifier: Apache-2.0
#include "ops/dense/dense_bf16_cpu.h"

#include "backend/cpu/bf16_matmul.h"
#include "ops/activation/epilogue_cpu.h"
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

/// Where bfloat16s without AMX are slower than the kernels of fp32 (measured on Zen 4, oneDNN 2.6):
/// products of few rows or columns, and long sums over the rows of both operands.
bool slower_than_fp32(const Product& p) {
  if (bf16_unit() == Bf16Unit::amx) return false;
  constexpr std::int64_t kFewRows = 256;
  constexpr std::int64_t kFewColumns = 32;
  constexpr std::int64_t kManyTerms = 1024;
  return p.transpose_a ? p.k > kManyTerms : p.m < kFewRows || std::min(p.n, p.k) <= kFewColumns;
}

/// Tasks take rows of c; `finish(args, y, rows)` ends each. Nothing where one has no kernel.
template <class Finish>
std::optional<Kernel> by_rows(const Product& p, Finish finish) {
  if (slower_than_fp32(p)) return std::nullopt;
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

void nothing(const Args& /*args*/, float* /*c*/, std::int64_t /*rows*/) {}

}  // namespace

std::optional<Kernel> prepare_dense_bf16(const NodeView& node) {
  using In = DenseOp::In;
  const DenseAttrs attrs = node.attrs<DenseOp>();
  const std::int64_t units = node.in(In::w)[0];
  return by_rows({.m = node.in(In::x)[0], .n = units, .k = node.in(In::x)[1], .transpose_b = true},
                 [=](const Args& args, float* y, std::int64_t rows) {
                   add_bias_and_activate(y, rows, units, attrs.bias ? args.in(In::b) : nullptr,
                                         attrs.activation);
                 });
}

std::optional<Kernel> prepare_dense_grad_input_bf16(const NodeView& node) {
  using In = DenseGradInputOp::In;
  return by_rows({.m = node.in(In::dz)[0], .n = node.in(In::w)[1], .k = node.in(In::dz)[1]},
                 nothing);
}

std::optional<Kernel> prepare_dense_grad_weight_bf16(const NodeView& node) {
  using In = DenseGradWeightOp::In;
  return by_rows({.m = node.in(In::dz)[1],
                  .n = node.in(In::x)[1],
                  .k = node.in(In::dz)[0],
                  .transpose_a = true},
                 nothing);
}

}  // namespace linnet::cpu
