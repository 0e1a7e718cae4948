// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/column_sum.cuh"
#include "fusions/bias_activation_grad/bias_activation_grad.h"
#include "ops/activation/formulas.h"

namespace linnet::cuda {
namespace {

/// Rows of dx, which are written as they are added (column_sum.cuh). kOuter: dy is the product of a
/// column and a row, both f32.
template <class T, Activation kKind, bool kOuter>
struct GradientRows {
  static constexpr int kSums = 1;
  const T* dy;
  const float* column;
  const float* row;
  const T* saved;
  T* dx;  ///< may be dy or saved
  std::int64_t columns;
  bool aligned;

  template <int kVector>
  struct Loaded {
    FloatVector<kVector> saved, dy;
  };
  template <int kVector>
  __device__ auto load(std::int64_t r, std::int64_t c) const {
    const auto of_saved = load_floats<kVector>(saved + r * columns + c, aligned);
    if constexpr (kOuter) {
      return of_saved;
    } else {
      return Loaded<kVector>{of_saved, load_floats<kVector>(dy + r * columns + c, aligned)};
    }
  }
  template <int kVector, class Row>
  __device__ void add(const Row& loaded, std::int64_t r, std::int64_t c,
                      FloatVector<kVector>& sum) const {
    FloatVector<kVector> result;
    if constexpr (kOuter) {
      const float factor = column[r];
      const auto factors = load_vector<kVector>(row + c, aligned);
      for (int v = 0; v < kVector; ++v) {
        result[v] = activation_gradient_f32<kKind>(factor * factors[v], loaded[v]);
      }
    } else {
      for (int v = 0; v < kVector; ++v) {
        result[v] = activation_gradient_f32<kKind>(loaded.dy[v], loaded.saved[v]);
      }
    }
    for (int v = 0; v < kVector; ++v) sum[v] += result[v];
    store_floats(dx + r * columns + c, result, aligned);
  }
};

template <class T, Activation kKind, bool kOuter>
Kernel kernel(const ColumnTiles& t) {
  using In = BiasActivationGradOp::In;
  using Out = BiasActivationGradOp::Out;
  const auto enqueue = [=](const Args& args) {
    GradientRows<T, kKind, kOuter> source{.dy = kOuter ? nullptr : args.in<T>(In::dy),
                                          .column = kOuter ? args.in(In::dy) : nullptr,
                                          .row = kOuter ? args.in(In::row) : nullptr,
                                          .saved = args.in<T>(In::saved),
                                          .dx = args.out<T>(Out::dx),
                                          .columns = t.columns,
                                          .aligned = false};
    source.aligned = vector_aligned(source.saved, source.dx, source.dy, source.row);
    column_sum_of(args, "bias_activation_grad", source, t, args.out(Out::db), args.workspace);
  };
  return {.enqueue = enqueue, .workspace_bytes = t.partial_bytes(1)};
}

std::optional<Kernel> prepare_bias_activation_grad(const NodeView& node,
                                                   const Context& /*context*/) {
  using In = BiasActivationGradOp::In;
  using Out = BiasActivationGradOp::Out;
  const BiasActivationGradAttrs attrs = node.attrs<BiasActivationGradOp>();
  const std::int64_t columns = node.out(Out::db)[0];
  const std::int64_t rows = columns > 0 ? node.out(Out::dx).elements() / columns : 0;
  const std::size_t dy = attrs.outer ? std::size_t{In::saved} : std::size_t{In::dy};
  return with_stored(node, {In::saved, dy}, {Out::dx}, [&]<class T>() {
    return with_activation(attrs.kind, [&]<Activation kKind>() {
      return attrs.outer ? kernel<T, kKind, true>(column_sums(rows, columns))
                         : kernel<T, kKind, false>(matrix_sums(rows, columns));
    });
  });
}

}  // namespace

void register_bias_activation_grad(Registry& registry) {
  registry.add(BiasActivationGradOp::kName, prepare_bias_activation_grad, Stores::half);
}

}  // namespace linnet::cuda
