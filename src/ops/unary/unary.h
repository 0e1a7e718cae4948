// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <cstdint>

#include "graph/graph.h"

namespace linnet {

/// Element-wise functions, as PyTorch defines them, their slopes at kinks included.
enum class Unary : std::uint8_t {
  exp,
  log,
  log1p,
  sqrt,
  rsqrt,  ///< 1 / sqrt(x)
  square,
  abs,   ///< slope 0 at 0
  sign,  ///< -1, 0 or 1; slope 0
  sin,
  cos,
  reciprocal,
  pow,           ///< x^alpha
  clip,          ///< min(max(x, alpha), beta); slope 0 at both bounds, as PyTorch from 2.15 on
  leaky_relu,    ///< x above 0, else alpha x (Maas et al., 2013)
  elu,           ///< x above 0, else alpha (e^x - 1) (Clevert et al., 2016)
  selu,          ///< a scaled elu of fixed constants (Klambauer et al., 2017)
  silu,          ///< x / (1 + e^-x) (Elfwing et al., 2018)
  softplus,      ///< log(1 + e^(alpha x)) / alpha
  hard_sigmoid,  ///< clip(x + 3, 0, 6) / 6
  hard_swish,    ///< x clip(x + 3, 0, 6) / 6 (Howard et al., 2019)
  gelu_tanh,     ///< x (1 + tanh(sqrt(2 / pi) (x + 0.044715 x³))) / 2
  expm1,         ///< e^x - 1
  erf,           ///< 2 / sqrt(pi) times the integral of e^-t² from 0 to x
  floor,         ///< slope 0
  ceil,          ///< slope 0
  round,         ///< to the nearest whole number, halves to the even one; slope 0
};
constexpr std::array<std::string_view, 26> enum_names(Unary) {
  return {"exp",   "log",  "log1p", "sqrt",       "rsqrt",        "square",     "abs",
          "sign",  "sin",  "cos",   "reciprocal", "pow",          "clip",       "leaky_relu",
          "elu",   "selu", "silu",  "softplus",   "hard_sigmoid", "hard_swish", "gelu_tanh",
          "expm1", "erf",  "floor", "ceil",       "round"};
}

inline constexpr double kSeluScale = 1.0507009873554804934193349852946;
inline constexpr double kSeluAlpha = 1.6732632423543772848170429916717;

struct UnaryAttrs {
  Unary kind = Unary::exp;
  double alpha = 0;  ///< what the kind's formula calls so; else 0
  double beta = 0;
  template <class V>
  void fields(V&& visit) {
    visit("kind", kind);
    visit("alpha", alpha);
    visit("beta", beta);
  }
  bool operator==(const UnaryAttrs&) const = default;
};

/// Returns whether f'(x) is computed from f(x), so that x need not be kept.
constexpr bool slope_from_output(Unary kind) {
  return kind == Unary::exp || kind == Unary::sqrt || kind == Unary::rsqrt ||
         kind == Unary::reciprocal;
}

/// Returns whether f'(x) is 0 wherever it is defined, so that no gradient goes on.
constexpr bool is_flat(Unary kind) {
  return kind == Unary::sign || kind == Unary::floor || kind == Unary::ceil || kind == Unary::round;
}

/// y = f(x), any shape, f32. NaN stays NaN. Throws Error for clip unless alpha <= beta,
/// for softplus unless alpha > 0.
class UnaryOp final : public OpBase<UnaryOp, UnaryAttrs> {
 public:
  static constexpr std::string_view kName = "unary";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { x };
  enum Out : std::uint8_t { y };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::x}; }
  StepsRule steps(std::size_t /*operand*/, const Shape& /*x*/, const Shape& /*y*/) const override {
    return steps::kKept;
  }
};

/// dx = dy f'(x) from (dy, x), or from (dy, y) where slope_from_output(). Any shape, f32.
class UnaryGradOp final : public OpBase<UnaryGradOp, UnaryAttrs> {
 public:
  static constexpr std::string_view kName = "unary_grad";
  static constexpr bool kInNetworks = true;
  enum In : std::uint8_t { dy, saved };
  enum Out : std::uint8_t { dx };
  using OpBase::OpBase;
  std::vector<ValueType> infer(std::span<const ValueType> inputs) const override;
  std::vector<Value> gradient(const GradientArgs& args) const override;
  void reference(const ReferenceArgs& args) const override;
  std::vector<int> in_place() const override { return {In::dy, In::saved}; }
};

}  // namespace linnet
