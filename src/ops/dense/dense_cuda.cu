// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/bf16.cuh"
#include "backend/cuda/kernel.h"
#include "ops/dense/bias_activation_cuda.cuh"
#include "ops/dense/passes_cuda.h"
#include "ops/dense/products_cuda.h"

namespace linnet::cuda {
namespace {

/// Returns the product of operands 0 and 1.
Kernel plain_product(const MatrixProduct& product) {
  const MatmulPlan plan = plan_matmul(product);
  return {.enqueue =
              [plan](const Args& args) {
                enqueue_matmul(plan,
                               {.a = args.in(kFirst),
                                .b = args.in(kSecond),
                                .c = args.out(kFirst),
                                .workspace = args.workspace,
                                .stream = args.stream},
                               PlainSum{});
              },
          .workspace_bytes = plan.workspace_bytes,
          .engine = plan.engine};
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& /*context*/) {
  using In = DenseOp::In;
  using Out = DenseOp::Out;
  const DenseAttrs attrs = node.attrs<DenseOp>();
  const MatmulPlan plan = plan_matmul(dense_product(node));
  if (!attrs.bias && attrs.activation == Activation::none) return plain_product(plan.product);
  return Kernel{.enqueue =
                    [plan, attrs](const Args& args) {
                      enqueue_matmul(plan,
                                     {.a = args.in(In::x),
                                      .b = args.in(In::w),
                                      .c = args.out(Out::y),
                                      .workspace = args.workspace,
                                      .stream = args.stream},
                                     BiasAndActivation{.bias =
                                                           attrs.bias ? args.in(In::b) : nullptr,
                                                       .activation = attrs.activation});
                    },
                .workspace_bytes = plan.workspace_bytes,
                .engine = plan.engine};
}

std::optional<Kernel> prepare_grad_input(const NodeView& node, const Context& /*context*/) {
  return plain_product(dense_grad_input_product(node));
}

std::optional<Kernel> prepare_grad_weight(const NodeView& node, const Context& /*context*/) {
  return plain_product(dense_grad_weight_product(node));
}

__global__ void bias_activation_kernel(float* y, std::int64_t count, std::int64_t columns,
                                       BiasAndActivation epilogue) {
  for (std::int64_t i = first_item(); i < count; i += grid_stride()) {
    y[i] = epilogue(y[i], 0, i % columns);
  }
}

/// Both operands of a product.
__global__ void round_to_bf16_kernel(Bf16Rounding first, Bf16Rounding second) {
  const std::int64_t first_items = first.rows * (first.stride / 4);
  const std::int64_t items = first_items + second.rows * (second.stride / 4);
  for (std::int64_t i = first_item(); i < items; i += grid_stride()) {
    if (i < first_items) {
      round_four(first, i);
    } else {
      round_four(second, i - first_items);
    }
  }
}

Bf16Rounding rounding(const Bf16Copy& copy) {
  return {.from = copy.from,
          .to = static_cast<std::uint16_t*>(copy.to),
          .rows = copy.rows,
          .columns = copy.columns,
          .stride = copy.stride};
}

}  // namespace

void enqueue_bias_activation(const Queue& stream, float* y, std::int64_t rows, std::int64_t columns,
                             const float* b, Activation activation) {
  if (rows * columns == 0) return;
  launch(stream, "bias_activation", for_items(rows * columns), bias_activation_kernel, y,
         rows * columns, columns, BiasAndActivation{.bias = b, .activation = activation});
}

void enqueue_bf16_copies(const Queue& stream, const Bf16Copy& first, const Bf16Copy& second) {
  const std::int64_t fours = (first.rows * first.stride + second.rows * second.stride) / 4;
  if (fours == 0) return;
  launch(stream, "round_to_bf16", for_items(fours), round_to_bf16_kernel, rounding(first),
         rounding(second));
}

void register_dense(Registry& registry) {
  registry.add(DenseOp::kName, prepare_forward);
  registry.add(DenseGradInputOp::kName, prepare_grad_input);
  registry.add(DenseGradWeightOp::kName, prepare_grad_weight);
}

}  // namespace linnet::cuda
