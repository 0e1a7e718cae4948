// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/column_sum.cuh"
#include "ops/activation/epilogue_cuda.cuh"
#include "ops/bias_activation_grad/bias_activation_grad.h"

namespace linnet::cuda {
namespace {

/// Rows of dx, which are written as they are added (column_sum.cuh).
template <class T>
struct GradientRows {
  static constexpr int kSums = 1;
  const T* dy;  ///< null: it is the product of a column and a row, both f32
  const float* column;
  const float* row;
  const T* saved;
  T* dx;  ///< may be dy or saved
  std::int64_t columns;
  Activation kind;
  bool aligned;

  template <int kVector>
  struct Loaded {
    FloatVector<kVector> dy;
    FloatVector<kVector> saved;
  };
  template <int kVector>
  __device__ Loaded<kVector> load(std::int64_t r, std::int64_t c) const {
    Loaded<kVector> loaded;
    loaded.saved = load_floats<kVector>(saved + r * columns + c, aligned);
    loaded.dy = dy == nullptr ? load_vector<kVector>(row + c, aligned)
                              : load_floats<kVector>(dy + r * columns + c, aligned);
    for (int v = 0; dy == nullptr && v < kVector; ++v) loaded.dy[v] *= column[r];
    return loaded;
  }
  template <int kVector>
  __device__ void add(const Loaded<kVector>& loaded, std::int64_t r, std::int64_t c,
                      FloatVector<kVector>& sum) const {
    FloatVector<kVector> result;
    for (int v = 0; v < kVector; ++v) {
      result[v] = activation_gradient(kind, loaded.dy[v], loaded.saved[v]);
      sum[v] += result[v];
    }
    store_floats(dx + r * columns + c, result, aligned);
  }
};

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  using In = BiasActivationGradOp::In;
  using Out = BiasActivationGradOp::Out;
  const BiasActivationGradAttrs attrs = node.attrs<BiasActivationGradOp>();
  const std::int64_t columns = node.out(Out::db)[0];
  const std::int64_t rows = columns > 0 ? node.out(Out::dx).elements() / columns : 0;
  const std::size_t dy = attrs.outer ? std::size_t{In::saved} : std::size_t{In::dy};
  return with_stored(node, {In::saved, dy}, {Out::dx}, [&]<class T>() {
    const auto enqueue = [=](const Args& args) {
      GradientRows<T> source{.dy = attrs.outer ? nullptr : args.in<T>(In::dy),
                             .column = attrs.outer ? args.in(In::dy) : nullptr,
                             .row = attrs.outer ? args.in(In::row) : nullptr,
                             .saved = args.in<T>(In::saved),
                             .dx = args.out<T>(Out::dx),
                             .columns = columns,
                             .kind = attrs.kind,
                             .aligned = false};
      source.aligned = vector_aligned(source.saved, source.dx, source.dy, source.row);
      column_sum_of(args, "bias_activation_grad", source, rows, columns, args.out(Out::db),
                    args.workspace);
    };
    return Kernel{.enqueue = enqueue, .workspace_bytes = column_sum_workspace(rows, columns)};
  });
}

}  // namespace

void register_bias_activation_grad(Registry& registry) {
  registry.add(BiasActivationGradOp::kName, prepare, Stores::half);
}

}  // namespace linnet::cuda
