// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/half_operands.h"
#include "backend/cuda/kernel.h"
#include "backend/cuda/matmul.cuh"
#include "ops/activation/epilogue_cuda.cuh"
#include "ops/dense/passes_cuda.h"
#include "ops/dense/products_cuda.h"

namespace linnet::cuda {
namespace {

/// Returns the product of operands 0 and 1.
Kernel plain_product(const MatrixProduct& product) {
  return product_of_inputs(product, kFirst, kSecond, [](const Args&) { return PlainSum{}; });
}

std::optional<Kernel> forward(const NodeView& node, const Context& /*context*/) {
  using In = DenseOp::In;
  const DenseAttrs attrs = node.attrs<DenseOp>();
  const MatrixProduct product = dense_product(node);
  if (!attrs.bias && attrs.activation == Activation::none) return plain_product(product);
  return product_of_inputs(product, In::x, In::w, [=](const Args& args) {
    return BiasAndActivation{attrs.bias ? args.in(In::b) : nullptr, attrs.activation};
  });
}

std::optional<Kernel> dense_grad_input(const NodeView& node, const Context& /*context*/) {
  return plain_product(dense_grad_input_product(node));
}

std::optional<Kernel> dense_grad_weight(const NodeView& node, const Context& /*context*/) {
  return plain_product(dense_grad_weight_product(node));
}

template <Prepare own, bool kWeights>
std::optional<Kernel> prepare_dense(const NodeView& node, const Context& context) {
  return through_f32(node, context, own, kWeights);
}

template <int kVector, class X, class Y>
__global__ void result_kernel(ProductResult r, bool aligned, BiasAndActivation epilogue) {
  const auto* x = static_cast<const X*>(r.x);
  auto* y = static_cast<Y*>(r.y);
  const std::int64_t across = r.columns / kVector;
  for (std::int64_t i = first_item(); i < r.rows * across; i += grid_stride()) {
    const std::int64_t row = i / across;
    const std::int64_t column = (i - row * across) * kVector;
    auto some = load_floats<kVector>(x + row * r.x_stride + column, aligned);
    for (int v = 0; v < kVector; ++v) some[v] = epilogue(some[v], row, column + v);
    store_floats(y + row * r.columns + column, some, aligned);
  }
}

template <class X, class Y>
void launch_result(const Queue& stream, const ProductResult& r) {
  const int vector = (r.columns | r.x_stride) % 4 == 0 ? 4 : 1;
  launch(stream, "product_result", for_items(r.rows * r.columns / vector),
         vector == 4 ? result_kernel<4, X, Y> : result_kernel<1, X, Y>, r,
         vector_aligned(static_cast<const X*>(r.x), static_cast<const Y*>(r.y)),
         BiasAndActivation{.bias = r.b, .activation = r.activation});
}

}  // namespace

void enqueue_result(const Queue& stream, const ProductResult& r) {
  const bool stored = is_half(r.y_type);
  with_half(stored ? r.y_type : r.x_type, [&]<class T>() {
    if (is_half(r.x_type)) {
      stored ? launch_result<T, T>(stream, r) : launch_result<T, float>(stream, r);
    } else {
      stored ? launch_result<float, T>(stream, r) : launch_result<float, float>(stream, r);
    }
  });
}

void register_dense(Registry& registry) {
  registry.add(DenseOp::kName, prepare_dense<forward, true>, Stores::half);
  registry.add(DenseGradInputOp::kName, prepare_dense<dense_grad_input, true>, Stores::half);
  registry.add(DenseGradWeightOp::kName, prepare_dense<dense_grad_weight, false>, Stores::half);
}

}  // namespace linnet::cuda
