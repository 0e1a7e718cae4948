// SPDX-License-Identifier: Apache-2.0
#include "backend/cuda/column_sum.cuh"
#include "ops/activation/epilogue_cuda.cuh"
#include "ops/bias_activation_grad/bias_activation_grad.h"

namespace linnet::cuda {
namespace {

/// Rows of dx, which are written as they are added (column_sum.cuh).
struct GradientRows {
  const float* dy;
  const float* saved;
  const float* row;  ///< null: dy is a matrix, not a column
  float* dx;         ///< may be dy or saved
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
    loaded.saved = load_vector<kVector>(saved + r * columns + c, aligned);
    loaded.dy = row != nullptr ? load_vector<kVector>(row + c, aligned)
                               : load_vector<kVector>(dy + r * columns + c, aligned);
    for (int v = 0; row != nullptr && v < kVector; ++v) loaded.dy[v] *= dy[r];
    return loaded;
  }
  template <int kVector>
  __device__ FloatVector<kVector> finish(const Loaded<kVector>& loaded, std::int64_t r,
                                         std::int64_t c) const {
    FloatVector<kVector> result;
    for (int v = 0; v < kVector; ++v) {
      result[v] = activation_gradient(kind, loaded.dy[v], loaded.saved[v]);
    }
    store_vector(dx + r * columns + c, result, aligned);
    return result;
  }
};

std::optional<Kernel> prepare(const NodeView& node, const Context& /*context*/) {
  using In = BiasActivationGradOp::In;
  using Out = BiasActivationGradOp::Out;
  const BiasActivationGradAttrs attrs = node.attrs<BiasActivationGradOp>();
  const std::int64_t columns = node.out(Out::db)[0];
  const std::int64_t rows = columns > 0 ? node.out(Out::dx).elements() / columns : 0;
  const auto enqueue = [=](const Args& args) {
    GradientRows source{.dy = args.in(In::dy),
                        .saved = args.in(In::saved),
                        .row = attrs.outer ? args.in(In::row) : nullptr,
                        .dx = args.out(Out::dx),
                        .columns = columns,
                        .kind = attrs.kind,
                        .aligned = false};
    source.aligned = vector_aligned(source.saved, source.dx, attrs.outer ? source.row : source.dy);
    column_sum_of(args, "bias_activation_grad", source, rows, columns, args.out(Out::db),
                  args.workspace);
  };
  return Kernel{.enqueue = enqueue, .workspace_bytes = column_sum_workspace(rows, columns)};
}

}  // namespace

void register_bias_activation_grad(Registry& registry) {
  registry.add(BiasActivationGradOp::kName, prepare);
}

}  // namespace linnet::cuda
