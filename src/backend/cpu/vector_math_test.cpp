// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the test goes through those that the processor has.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/vector_math_test.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <array>
#include <cstddef>

#include "backend/cpu/vector_math_hwy.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

template <class F>
void replace_all(float* x, std::size_t count, F&& f) {
  const hn::ScalableTag<float> d;
  const std::size_t lanes = hn::Lanes(d);
  for (std::size_t i = 0; i + lanes <= count; i += lanes) {
    hn::StoreU(f(d, hn::LoadU(d, x + i)), d, x + i);
  }
}

/// Replaces `count` numbers, a multiple of 16, by a function of them.
void Compute(int function, float* x, std::size_t count) {
  switch (function) {
    case 0: return replace_all(x, count, [](auto d, auto v) HWY_ATTR { return vm::exp(d, v); });
    case 1: return replace_all(x, count, [](auto d, auto v) HWY_ATTR { return vm::expm1(d, v); });
    case 2: return replace_all(x, count, [](auto d, auto v) HWY_ATTR { return vm::log(d, v); });
    case 3: return replace_all(x, count, [](auto d, auto v) HWY_ATTR { return vm::log1p(d, v); });
    case 4: return replace_all(x, count, [](auto d, auto v) HWY_ATTR { return vm::tanh(d, v); });
    case 5: return replace_all(x, count, [](auto d, auto v) HWY_ATTR { return vm::erf(d, v); });
    case 6:
      return replace_all(x, count, [](auto d, auto v) HWY_ATTR { return vm::logistic(d, v); });
    default:
      return replace_all(x, count, [](auto d, auto v) HWY_ATTR { return vm::softplus(d, v); });
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <string>
#include <vector>

namespace linnet::cpu {
namespace {

HWY_EXPORT(Compute);

struct Function {
  const char* name;
  double (*exact)(double);
  double bound;         ///< in units in the last place
  double flushed = -1;  ///< results up to it may be 0
};

constexpr double kSmallest = std::numeric_limits<float>::min();
const std::array<Function, 8> kFunctions{{
    {"exp", [](double x) { return std::exp(x); }, 1, 1.5 * kSmallest},
    {"expm1", [](double x) { return std::expm1(x); }, 2},
    {"log", [](double x) { return std::log(x); }, 1},
    {"log1p", [](double x) { return std::log1p(x); }, 2},
    {"tanh", [](double x) { return std::tanh(x); }, 3},
    {"erf", [](double x) { return std::erf(x); }, 6},
    {"logistic", [](double x) { return 1 / (1 + std::exp(-x)); }, 3, 1.5 * kSmallest},
    {"softplus", [](double x) { return x > 700 ? x : std::log1p(std::exp(x)); }, 3,
     1.5 * kSmallest},
}};

/// Floats of both signs and all magnitudes, infinities and NaNs among them.
const std::vector<float>& floats() {
  static const std::vector<float> all = [] {
    std::vector<float> some;
    for (std::uint64_t bits = 0; bits < std::uint64_t{1} << 32; bits += 4093) {
      some.push_back(std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
    }
    const float infinity = std::numeric_limits<float>::infinity();
    for (const float x : {infinity, std::numeric_limits<float>::max(), 88.72284F, 88.7228394F, 1.0F,
                          0.0F, std::numeric_limits<float>::denorm_min(), 4.1F, 10.0F}) {
      some.insert(some.end(), {x, -x, std::nextafter(x, infinity), std::nextafter(-x, infinity)});
    }
    some.push_back(std::numeric_limits<float>::quiet_NaN());
    some.resize((some.size() + 15) / 16 * 16, 1.0F);
    return some;
  }();
  return all;
}

/// Returns the error of `actual` in units in the last place of `exact`.
double units_off(float actual, double exact, const Function& function) {
  const auto nearest = static_cast<float>(exact);
  if (actual == nearest || (std::isnan(actual) && std::isnan(nearest))) return 0;
  if (actual == 0 && std::fabs(exact) <= function.flushed) return 0;
  // Beyond the largest float the next power of two stands for infinity.
  const auto finite = [](double x) { return std::isinf(x) ? std::copysign(0x1p128, x) : x; };
  const double size = std::max(std::min(std::fabs(exact), 0x1p127), kSmallest);
  const double off =
      std::fabs(finite(actual) - finite(exact)) / std::ldexp(1, std::ilogb(size) - 23);
  return std::isnan(off) ? std::numeric_limits<double>::infinity() : off;
}

/// What `function` gives for all of x on each instruction set: calls f(its name, the results).
template <class F>
void on_each_set(std::size_t function, const std::vector<float>& x, F&& f) {
  hwy::SetSupportedTargetsForTest(0);
  for (const auto target : hwy::SupportedAndGeneratedTargets()) {
    hwy::SetSupportedTargetsForTest(target);
    std::vector<float> y = x;
    HWY_DYNAMIC_DISPATCH(Compute)(static_cast<int>(function), y.data(), y.size());
    f(hwy::TargetName(target), y);
  }
  hwy::SetSupportedTargetsForTest(0);
}

TEST(VectorMath, ErrorsAreWithinTheirBounds) {
  for (std::size_t f = 0; f < kFunctions.size(); ++f) {
    const Function& function = kFunctions[f];
    const std::vector<float>& x = floats();
    std::vector<double> exact(x.size());
    std::transform(x.begin(), x.end(), exact.begin(), [&](float v) { return function.exact(v); });
    on_each_set(f, x, [&](const char* set, const std::vector<float>& y) {
      std::size_t worst = 0;
      double most = -1;
      for (std::size_t i = 0; i < x.size(); ++i) {
        const double off = units_off(y[i], exact[i], function);
        if (off > most) most = off, worst = i;
      }
      EXPECT_LE(most, function.bound) << function.name << " on " << set << ": of " << x[worst]
                                      << " it is " << y[worst] << ", not " << exact[worst];
    });
  }
}

/// Slopes are 1 - tanh(x)^2.
TEST(VectorMath, TanhIsRoundedNearItsEnds) {
  const std::size_t tanh = 4;
  ASSERT_STREQ(kFunctions[tanh].name, "tanh");
  on_each_set(tanh, floats(), [](const char* set, const std::vector<float>& y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      const double exact = std::tanh(static_cast<double>(floats()[i]));
      if (!(std::fabs(exact) > 0.9)) continue;
      ASSERT_LE(std::fabs(y[i] - exact), 0.7 * 0x1p-24) << set << ": of " << floats()[i];
    }
  });
}

/// GELU multiplies 1 + erf(x) by x, however large that is.
TEST(VectorMath, ErfIsOneFarOut) {
  const std::size_t erf = 5;
  ASSERT_STREQ(kFunctions[erf].name, "erf");
  on_each_set(erf, floats(), [](const char* set, const std::vector<float>& y) {
    for (std::size_t i = 0; i < y.size(); ++i) {
      const float x = floats()[i];
      if (!(std::fabs(x) >= 4.1F)) continue;
      ASSERT_EQ(y[i], x < 0 ? -1.0F : 1.0F) << set << ": of " << x;
    }
  });
}

}  // namespace
}  // namespace linnet::cpu
#endif
