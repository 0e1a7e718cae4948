// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/cuda/cublaslt.h"
#include "backend/cuda/kernel.h"
#include "ops/dense/passes_cuda.h"
#include "ops/dense/products_cuda.h"

namespace linnet::cuda {
namespace {

/// What follows the product: a bias is operand 2.
struct Tail {
  bool bias = false;
  Activation activation = Activation::none;
};

constexpr std::int64_t round_up(std::int64_t value, std::int64_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

/// Rows of bf16 begin at multiples of 16 bytes, as tensor cores like them.
constexpr std::int64_t kBf16Row = 8;
constexpr std::int64_t kPartAlignment = 256;

/// bf16 copies of the operands at the beginning of the workspace, the library's own after them.
struct Bf16Operands {
  explicit Bf16Operands(MatrixProduct& product)
      : a{.rows = product.transpose_a ? product.k : product.m,
          .columns = product.transpose_a ? product.m : product.k},
        b{.rows = product.transpose_b ? product.n : product.k,
          .columns = product.transpose_b ? product.k : product.n} {
    product.lda = a.stride = round_up(a.columns, kBf16Row);
    product.ldb = b.stride = round_up(b.columns, kBf16Row);
    b_offset = round_up(a.rows * a.stride * 2, kPartAlignment);
    bytes = b_offset + round_up(b.rows * b.stride * 2, kPartAlignment);
  }

  Bf16Copy a;
  Bf16Copy b;
  std::int64_t b_offset = 0;
  std::int64_t bytes = 0;
};

/// A pass of Linnet's own does what the library's epilogue can't: its GELU is an approximation, and
/// it has neither tanh nor sigmoid.
bool fits_epilogue(const Tail& tail) {
  return tail.activation == Activation::none || tail.activation == Activation::relu;
}

Kernel make_kernel(const LtMatmul& matmul, const MatrixProduct& product, const Tail& tail,
                   bool pass) {
  return {.enqueue =
              [=](const Args& args) {
                const float* bias = tail.bias ? args.in(DenseOp::In::b) : nullptr;
                matmul.enqueue({.a = args.in(kFirst),
                                .b = args.in(kSecond),
                                .bias = pass ? nullptr : bias,
                                .c = args.out(kFirst),
                                .workspace = args.workspace,
                                .stream = args.stream});
                if (pass) {
                  enqueue_bias_activation(args.stream, args.out(kFirst), product.m, product.n, bias,
                                          tail.activation);
                }
              },
          .workspace_bytes = matmul.workspace_bytes(),
          .engine = matmul.engine()};
}

Kernel with_bf16_operands(Kernel kernel, const Bf16Operands& operands) {
  const auto inner = std::move(kernel.enqueue);
  kernel.enqueue = [inner, operands](const Args& args) {
    Bf16Copy a = operands.a;
    Bf16Copy b = operands.b;
    a.from = args.in(kFirst);
    b.from = args.in(kSecond);
    a.to = args.workspace;
    b.to = args.workspace + operands.b_offset;
    enqueue_bf16_copies(args.stream, a, b);
    std::array<void*, 3> inputs{a.to, b.to,
                                args.inputs.size() > 2 ? args.inputs[DenseOp::In::b] : nullptr};
    Args rounded = args;
    rounded.inputs = std::span<void* const>(inputs).first(args.inputs.size());
    rounded.workspace = args.workspace + operands.bytes;
    inner(rounded);
  };
  kernel.workspace_bytes += static_cast<std::size_t>(operands.bytes);
  return kernel;
}

std::optional<Kernel> prepare_product(const Context& context, MatrixProduct product,
                                      const Tail& tail) {
  // What has a kernel for thin products is bound by memory, which that one reads once.
  if (context.cublaslt == nullptr || plan_matmul(product).kind != MatmulPlan::Kind::tiles) {
    return std::nullopt;
  }
  const Precision precision = context.precision;
  LtProduct wanted{
      .product = product,
      .bf16 = precision == Precision::bf16 && context.compute_capability >= 80,
      // As PyTorch's default for matrix products, which differs from its one for convolutions.
      .tf32 = precision == Precision::tf32 || precision == Precision::bf16};
  std::optional<Bf16Operands> rounded;
  if (wanted.bf16) rounded.emplace(wanted.product);
  bool pass = !fits_epilogue(tail);
  std::optional<LtMatmul> matmul;
  if (!pass) {
    wanted.bias = tail.bias;
    wanted.relu = tail.activation == Activation::relu;
    matmul = LtMatmul::prepare(*context.cublaslt, wanted, context.tuning);
  }
  if (!matmul && (pass || wanted.bias || wanted.relu)) {
    pass = true;
    wanted.bias = wanted.relu = false;
    matmul = LtMatmul::prepare(*context.cublaslt, wanted, context.tuning);
  }
  if (!matmul) return std::nullopt;
  Kernel kernel = make_kernel(*matmul, product, tail, pass);
  return rounded ? with_bf16_operands(std::move(kernel), *rounded) : kernel;
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& context) {
  const DenseAttrs attrs = node.attrs<DenseOp>();
  return prepare_product(context, dense_product(node),
                         {.bias = attrs.bias, .activation = attrs.activation});
}

std::optional<Kernel> prepare_grad_input(const NodeView& node, const Context& context) {
  return prepare_product(context, dense_grad_input_product(node), {});
}

std::optional<Kernel> prepare_grad_weight(const NodeView& node, const Context& context) {
  return prepare_product(context, dense_grad_weight_product(node), {});
}

}  // namespace

void register_dense_cublaslt(Registry& registry) {
  registry.add_library(DenseOp::kName, "cublaslt", prepare_forward);
  registry.add_library(DenseGradInputOp::kName, "cublaslt", prepare_grad_input);
  registry.add_library(DenseGradWeightOp::kName, "cublaslt", prepare_grad_weight);
}

}  // namespace linnet::cuda
