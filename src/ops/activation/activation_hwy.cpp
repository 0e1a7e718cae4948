// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/activation/activation_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/elements_hwy.h"
#include "ops/activation/activation_cpu.h"
#include "ops/activation/formulas_hwy.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

void ActivationValues(Activation kind, const float* x, std::int64_t count, float* y) {
  with_activation(kind, [&]<Activation kKind>() HWY_ATTR {
    for_elements(
        count, y, [](auto d, auto v) HWY_ATTR { return activate<kKind>(d, v); }, x);
  });
}

void ActivationGradients(Activation kind, const float* dy, const float* saved, std::int64_t count,
                         float* dx) {
  with_activation(kind, [&]<Activation kKind>() HWY_ATTR {
    for_elements(
        count, dx,
        [](auto d, auto g, auto v) HWY_ATTR { return activation_gradient<kKind>(d, g, v); }, dy,
        saved);
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(ActivationValues);
HWY_EXPORT(ActivationGradients);

void activation_values(Activation kind, const float* x, std::int64_t count, float* y) {
  HWY_DYNAMIC_DISPATCH(ActivationValues)(kind, x, count, y);
}

void activation_gradients(Activation kind, const float* dy, const float* saved, std::int64_t count,
                          float* dx) {
  HWY_DYNAMIC_DISPATCH(ActivationGradients)(kind, dy, saved, count, dx);
}

}  // namespace linnet::cpu
#endif
