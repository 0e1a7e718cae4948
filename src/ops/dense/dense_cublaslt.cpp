// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "backend/cuda/cublaslt.h"
#include "backend/cuda/cudnn.h"
#include "backend/cuda/half_operands.h"
#include "backend/cuda/kernel.h"
#include "backend/cuda/workspace.h"
#include "ops/dense/passes_cuda.h"
#include "ops/dense/products_cuda.h"

namespace linnet::cuda {
namespace {

/// A pass of Linnet's own does what the library's epilogue can't: its GELU is an approximation, and
/// it has neither tanh nor sigmoid.
bool fits_epilogue(const ProductTail& tail) {
  return tail.activation == Activation::none || tail.activation == Activation::relu;
}

/// What the product is without the library's epilogue: in the workspace or the node's result.
ProductResult result_of(const MatrixProduct& product, const ProductTail& tail, const Args& args,
                        const void* c, DType y_type) {
  return {.x = c,
          .x_stride = product.n,
          .y = args.outputs[kFirst],
          .y_type = y_type,
          .rows = product.m,
          .columns = product.n,
          .b = tail.bias ? args.in(DenseOp::In::b) : nullptr,
          .activation = tail.activation};
}

/// The stored matrix of an operand of `rows` by `columns`; its rows begin at multiples of 16 bytes.
HalfOperand operand(const ValueType& type, std::int64_t rows, std::int64_t columns) {
  return {type.dtype, rows, columns, rows, padded_to_eight(columns)};
}

}  // namespace

std::optional<Kernel> cublaslt_product(const NodeView& node, const Context& context,
                                       const NodeProduct& wished) {
  const MatrixProduct product = wished.product;
  const ProductTail tail = wished.tail;
  const std::size_t at_a = wished.swapped ? kSecond : kFirst;
  const std::size_t at_b = wished.swapped ? kFirst : kSecond;
  // What has a kernel for thin products is bound by memory, which that one reads once.
  if (context.cublaslt == nullptr || plan_matmul(product).kind != MatmulPlan::Kind::tiles ||
      !stores_only(node, {kFirst, kSecond}, {kFirst})) {
    return std::nullopt;
  }
  LtProduct wanted{.product = product, .type = context.half(), .tf32 = wished.tf32};
  std::optional<HalfOperands> rounded;
  if (wanted.type != DType::f32) {
    const MatrixProduct& p = product;
    const HalfOperand a =
        p.transpose_a ? operand(node.inputs[at_a], p.k, p.m) : operand(node.inputs[at_a], p.m, p.k);
    const HalfOperand b =
        p.transpose_b ? operand(node.inputs[at_b], p.n, p.k) : operand(node.inputs[at_b], p.k, p.n);
    wanted.product.lda = a.padded_columns;
    wanted.product.ldb = b.padded_columns;
    rounded.emplace(wanted.type, wished.swapped ? std::vector{b, a} : std::vector{a, b});
  }
  const DType y_type = node.outputs[kFirst].dtype;
  const bool stored = y_type != DType::f32;
  const bool no_tail = !tail.bias && tail.activation == Activation::none;
  // A result in 16 bits has no epilogue: the library's bias would have 16, too.
  bool pass = stored ? !no_tail : !fits_epilogue(tail);
  std::optional<LtMatmul> matmul;
  if (!pass) {
    wanted.bias = tail.bias;
    wanted.relu = tail.activation == Activation::relu;
    wanted.c_type = y_type;
    matmul = LtMatmul::prepare(*context.cublaslt, wanted, context.tuning);
  }
  if (!matmul && (pass || wanted.bias || wanted.relu || stored)) {
    pass = true;
    wanted.bias = wanted.relu = false;
    wanted.c_type = DType::f32;
    matmul = LtMatmul::prepare(*context.cublaslt, wanted, context.tuning);
  }
  if (!matmul) return std::nullopt;
  const std::size_t c_at = rounded ? rounded->bytes() : 0;
  const bool apart = pass && stored;
  const std::size_t c_bytes = sizeof(float) * static_cast<std::size_t>(product.m * product.n);
  const std::size_t library_at = c_at + (apart ? library_padded(c_bytes) : 0);
  const auto enqueue = [=, matmul = *matmul](const Args& args) {
    std::array<void*, HalfOperands::kMost> places{args.inputs[kFirst], args.inputs[kSecond]};
    if (rounded) places = rounded->enqueue(args, args.workspace);
    void* const c = apart ? args.workspace + c_at : args.outputs[kFirst];
    matmul.enqueue({.a = places.at(at_a),
                    .b = places.at(at_b),
                    .bias = tail.bias && !pass ? args.in(DenseOp::In::b) : nullptr,
                    .c = c,
                    .workspace = args.workspace + library_at,
                    .stream = args.stream});
    if (pass) enqueue_result(args.stream, result_of(product, tail, args, c, y_type));
  };
  return Kernel{.enqueue = enqueue,
                .workspace_bytes = library_at + matmul->workspace_bytes(),
                .engine = matmul->engine()};
}

namespace {

/// As PyTorch's default for matrix products, which differs from its one for convolutions.
bool rounds_to_tf32(const Context& context) {
  return context.precision == Precision::tf32 || context.precision == Precision::bf16;
}

std::optional<Kernel> prepare_product(const NodeView& node, const Context& context,
                                      const MatrixProduct& product, const ProductTail& tail = {}) {
  return cublaslt_product(node, context,
                          {.product = product, .tf32 = rounds_to_tf32(context), .tail = tail});
}

/// Returns what cuDNN is asked for instead of a product and a pass: a convolution of images of one
/// pixel, of which it has one graph with bias and activation. In TF32 alone.
std::optional<CudnnConvolution> in_one_graph(const NodeView& node, const ProductTail& tail,
                                             const Context& context) {
  const Shape& w = node.in(DenseOp::In::w);
  const bool asked = tail.activation == Activation::tanh || tail.activation == Activation::sigmoid;
  if (!asked || !context.options.cudnn || context.cudnn == nullptr ||
      context.precision != Precision::tf32 || context.compute_capability < 80 || w[0] % 4 != 0 ||
      w[1] % 4 != 0) {
    return std::nullopt;
  }
  CudnnConvolution graph{.n = node.in(DenseOp::In::x)[0],
                         .h = 1,
                         .w = 1,
                         .c = w[1],
                         .oh = 1,
                         .ow = 1,
                         .co = w[0],
                         .kh = 1,
                         .kw = 1,
                         .bias = tail.bias};
  graph.tail = tail.activation == Activation::tanh ? CudnnConvolution::Tail::tanh
                                                   : CudnnConvolution::Tail::sigmoid;
  return graph;
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& context) {
  const DenseAttrs attrs = node.attrs<DenseOp>();
  const ProductTail tail{.bias = attrs.bias, .activation = attrs.activation};
  std::optional<Kernel> product = prepare_product(node, context, dense_product(node), tail);
  const std::optional<CudnnConvolution> graph = in_one_graph(node, tail, context);
  if (!product || !graph) return product;
  const auto wrap = [&](const std::shared_ptr<const CudnnPlan>& plan) {
    const auto enqueue = [plan](const Args& args) {
      std::vector<void*> operands(args.inputs.begin(), args.inputs.end());
      operands.push_back(args.outputs[DenseOp::Out::y]);
      plan->execute(args.stream, operands, args.workspace);
    };
    return Kernel{.enqueue = enqueue,
                  .workspace_bytes = plan->workspace_bytes(),
                  .engine = plan->engine()};
  };
  std::optional<Kernel> faster =
      context.cudnn->kernel_if_faster(*graph, node, *product, wrap, context.tuning);
  return faster ? faster : product;
}

std::optional<Kernel> prepare_grad_input(const NodeView& node, const Context& context) {
  return prepare_product(node, context, dense_grad_input_product(node));
}

std::optional<Kernel> prepare_grad_weight(const NodeView& node, const Context& context) {
  return prepare_product(node, context, dense_grad_weight_product(node));
}

}  // namespace

void register_dense_cublaslt(Registry& registry) {
  const auto prepare = [](const NodeView& node, const Context& context) {
    return with_packed_weights(node, context, prepare_forward);
  };
  registry.add_library(DenseOp::kName, "cublaslt", prepare, Stores::half);
  registry.add_library(DenseGradInputOp::kName, "cublaslt", prepare_grad_input, Stores::half);
  registry.add_library(DenseGradWeightOp::kName, "cublaslt", prepare_grad_weight, Stores::half);
}

}  // namespace linnet::cuda
