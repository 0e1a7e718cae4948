// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "graph/graph.h"

namespace linnet {

struct MatmulAttrs {
  bool transpose_a = false;  ///< whether a holds (k, m) and not (m, k)
  bool transpose_b = false;  ///< whether b holds (n, k) and not (k, n)
  template <class V>
  void fields(V&& visit) {
    visit("transpose_a", transpose_a);
    visit("transpose_b", transpose_b);
  }
  bool operator==(const MatmulAttrs&) const = default;
};

/// y = op(a) op(b) for every pair of matrices: a (N, ..., m, k), b (N, ..., k, n) with the same
/// leading axes, y (N, ..., m, n); op transposes the last two axes. f32, summed in f32. Throws
/// Error below rank 3 or where shapes don't fit. The gradients are products of the same kind.
class MatmulOp final : public OpBase<MatmulOp, MatmulAttrs> {
 public:
  static constexpr std::string_view kName = "matmul";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { a, b };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  Cost cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const override;
  /// Matrices (T, k) keep their rows apart on the left; with more axes T is one of the leading
  /// ones.
  StepsRule steps(std::size_t operand, const Shape& x, const Shape& /*y*/) const override {
    const bool rows = operand == In::a && !attrs().transpose_a;
    return steps::kept_if(x.rank() > 3 || rows, steps::kMixed);
  }
};

/// The dimensions of a product of operands of these shapes.
struct MatmulDims {
  MatmulDims(const MatmulAttrs& attrs, const Shape& a, const Shape& b)
      : m(a[attrs.transpose_a ? -1 : -2]),
        n(b[attrs.transpose_b ? -2 : -1]),
        k(a[attrs.transpose_a ? -2 : -1]) {
    for (std::size_t axis = 0; axis + 2 < a.rank(); ++axis) products *= a[static_cast<int>(axis)];
  }

  std::int64_t products = 1;  ///< the leading axes' elements
  std::int64_t m;
  std::int64_t n;
  std::int64_t k;
};

}  // namespace linnet
