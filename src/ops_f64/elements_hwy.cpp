// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
// Wider vectors would gain little and take a third of this code.
#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (LINNET_GAINLESS_TARGETS | LINNET_SIZELESS_TARGETS | HWY_AVX3)
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops_f64/elements_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <hwy/contrib/math/math-inl.h>

#include <algorithm>
#include <cmath>

#include "ops_f64/elements.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

using Tag = hn::ScalableTag<double>;
using V = hn::Vec<Tag>;

/// Elements, or with step 0 one number, once for each lane.
struct Operand {
  const double* at;
  std::int64_t step = 1;
};

/// Computes y[i] = f(d, x[i], ...); the last vector goes through memory of its own.
template <class F, class... Operands>
HWY_INLINE void for_elements(std::int64_t count, double* y, const F& f,
                             const Operands&... operands) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  HWY_ALIGN double padded[hn::MaxLanes(Tag())];
  for (std::int64_t i = 0; i < count; i += lanes) {
    const std::int64_t some = std::min(lanes, count - i);
    const auto load = [&](const Operand& x) HWY_ATTR {
      const double* const from = x.at + i * x.step;
      if (some == lanes) return hn::LoadU(d, from);
      std::fill_n(padded, lanes, 1.0);
      std::copy_n(from, some, padded);
      return hn::Load(d, padded);
    };
    const V v = f(d, load(operands)...);
    if (some == lanes) {
      hn::StoreU(v, d, y + i);
    } else {
      hn::Store(v, d, padded);
      std::copy_n(padded, some, y + i);
    }
  }
}

void MapElements(Map f, const double* x, std::int64_t count, double* y) {
  const auto map = [&](const auto& g) HWY_ATTR { for_elements(count, y, g, Operand{x}); };
  switch (f) {
    case Map::exp: return map([](Tag d, V v) HWY_ATTR { return hn::Exp(d, v); });
    case Map::log: return map([](Tag d, V v) HWY_ATTR { return hn::Log(d, v); });
    case Map::sin: return map([](Tag d, V v) HWY_ATTR { return hn::Sin(d, v); });
    case Map::cos: return map([](Tag d, V v) HWY_ATTR { return hn::Cos(d, v); });
    case Map::tanh: return map([](Tag d, V v) HWY_ATTR { return hn::Tanh(d, v); });
    case Map::sigmoid:
      return map([](Tag d, V v) HWY_ATTR {
        const V one = hn::Set(d, 1.0);
        return hn::Div(one, hn::Add(one, hn::Exp(d, hn::Neg(v))));
      });
    case Map::sqrt: return map([](Tag, V v) HWY_ATTR { return hn::Sqrt(v); });
    case Map::square: return map([](Tag, V v) HWY_ATTR { return hn::Mul(v, v); });
    case Map::reciprocal:
      return map([](Tag d, V v) HWY_ATTR { return hn::Div(hn::Set(d, 1.0), v); });
  }
}

/// one: b is one number.
void JoinElements(Join f, const double* a, const double* b, bool one, std::int64_t count,
                  double* y) {
  HWY_ALIGN double same[hn::MaxLanes(Tag())];
  if (one) std::fill_n(same, hn::Lanes(Tag()), *b);
  const Operand second = one ? Operand{same, 0} : Operand{b};
  const auto join = [&](const auto& g) HWY_ATTR { for_elements(count, y, g, Operand{a}, second); };
  switch (f) {
    case Join::add: return join([](Tag, V v, V w) HWY_ATTR { return hn::Add(v, w); });
    case Join::subtract: return join([](Tag, V v, V w) HWY_ATTR { return hn::Sub(v, w); });
    case Join::multiply: return join([](Tag, V v, V w) HWY_ATTR { return hn::Mul(v, w); });
    case Join::divide: return join([](Tag, V v, V w) HWY_ATTR { return hn::Div(v, w); });
    case Join::times_twice:
      return join([](Tag, V v, V w) HWY_ATTR { return hn::Mul(v, hn::Add(w, w)); });
    case Join::times_bell:
      return join([](Tag d, V v, V w)
                      HWY_ATTR { return hn::Mul(v, hn::NegMulAdd(w, w, hn::Set(d, 1.0))); });
    case Join::times_bow:
      return join([](Tag, V v, V w) HWY_ATTR { return hn::Mul(v, hn::NegMulAdd(w, w, w)); });
    case Join::times_step:
      return join([](Tag d, V v, V w)
                      HWY_ATTR { return hn::IfThenElseZero(hn::Gt(w, hn::Zero(d)), v); });
  }
}

void ScaleElements(double alpha, double beta, const double* x, std::int64_t count, double* y) {
  const V a = hn::Set(Tag(), alpha);
  const V b = hn::Set(Tag(), beta);
  for_elements(
      count, y, [&](Tag, V v) HWY_ATTR { return hn::Add(hn::Mul(a, v), b); }, Operand{x});
}

/// Whether all |x[i]| are in [low, high]; false for NaN.
bool AllWithin(const double* x, std::int64_t count, double low, double high) {
  const Tag d;
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(d));
  std::int64_t i = 0;
  const V least = hn::Set(d, low);
  const V most = hn::Set(d, high);
  auto within = hn::Le(least, most);
  for (; i + lanes <= count; i += lanes) {
    const V v = hn::LoadU(d, x + i);
    within = hn::And(within, hn::And(hn::Ge(v, least), hn::Le(v, most)));
  }
  bool all = hn::AllTrue(d, within);
  for (; i < count; ++i) all = all && x[i] >= low && x[i] <= high;
  return all;
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(MapElements);
HWY_EXPORT(JoinElements);
HWY_EXPORT(ScaleElements);
HWY_EXPORT(AllWithin);

namespace {

/// Elements whose range is looked at together.
constexpr std::int64_t kBlock = 1024;

struct Bounds {
  double low = -1e300;
  double high = 1e300;
};

/// Returns where the vector function is right.
Bounds bounds_of(Map f) {
  switch (f) {
    case Map::exp: return {-700, 700};
    case Map::log: return {1e-300, 1e300};
    case Map::sin:
    case Map::cos: return {-39000, 39000};
    case Map::sigmoid:
    case Map::tanh: return {-700, 700};
    default: return {};
  }
}

double scalar(Map f, double x) {
  switch (f) {
    case Map::exp: return std::exp(x);
    case Map::log: return std::log(x);
    case Map::sin: return std::sin(x);
    case Map::cos: return std::cos(x);
    case Map::tanh: return std::tanh(x);
    case Map::sigmoid: return 1 / (1 + std::exp(-x));
    default: return x;
  }
}

}  // namespace

void map_elements(Map f, const double* x, std::int64_t count, double* y) {
  const bool everywhere = f == Map::sqrt || f == Map::square || f == Map::reciprocal;
  const Bounds bounds = bounds_of(f);
  for (std::int64_t i = 0; i < count; i += kBlock) {
    const std::int64_t some = std::min(kBlock, count - i);
    if (everywhere || HWY_DYNAMIC_DISPATCH(AllWithin)(x + i, some, bounds.low, bounds.high)) {
      HWY_DYNAMIC_DISPATCH(MapElements)(f, x + i, some, y + i);
    } else {
      std::transform(x + i, x + i + some, y + i, [f](double v) { return scalar(f, v); });
    }
  }
}

void join_elements(Join f, const double* a, const double* b, std::int64_t count, double* y) {
  HWY_DYNAMIC_DISPATCH(JoinElements)(f, a, b, false, count, y);
}
void join_elements(Join f, const double* a, double b, std::int64_t count, double* y) {
  HWY_DYNAMIC_DISPATCH(JoinElements)(f, a, &b, true, count, y);
}

void scale_elements(double alpha, double beta, const double* x, std::int64_t count, double* y) {
  HWY_DYNAMIC_DISPATCH(ScaleElements)(alpha, beta, x, count, y);
}

}  // namespace linnet::cpu
#endif
