// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "ops/optimizer_update/optimizer_update_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include <algorithm>
#include <cmath>

#include "ops/optimizer_update/optimizer_update_cpu.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {
namespace hn = hwy::HWY_NAMESPACE;

const hn::ScalableTag<float> kTag;
using Vector = hn::Vec<decltype(kTag)>;

Vector set(float x) { return hn::Set(kTag, x); }

/// Applies `rule(parameter, gradient, moments...)` to every element; the tail goes through small
/// padded copies, so every element sees the same arithmetic wherever a task begins.
template <int kMoments, class Rule>
void pass(const UpdateArrays& a, std::int64_t begin, std::int64_t end, Rule rule) {
  const auto lanes = static_cast<std::int64_t>(hn::Lanes(kTag));
  const auto apply = [&](float* p, const float* g, float* first, float* second) {
    Vector parameter = hn::LoadU(kTag, p);
    const Vector gradient = hn::LoadU(kTag, g);
    Vector m = kMoments > 0 ? hn::LoadU(kTag, first) : hn::Zero(kTag);
    Vector v = kMoments > 1 ? hn::LoadU(kTag, second) : hn::Zero(kTag);
    rule(parameter, gradient, m, v);
    hn::StoreU(parameter, kTag, p);
    if (kMoments > 0) hn::StoreU(m, kTag, first);
    if (kMoments > 1) hn::StoreU(v, kTag, second);
  };
  std::int64_t i = begin;
  for (; i + lanes <= end; i += lanes) {
    apply(a.parameters + i, a.gradients + i, kMoments > 0 ? a.first + i : nullptr,
          kMoments > 1 ? a.second + i : nullptr);
  }
  if (i == end) return;
  float tail[4][HWY_MAX_BYTES / sizeof(float)] = {};
  float* const arrays[4] = {a.parameters, const_cast<float*>(a.gradients), a.first, a.second};
  for (int k = 0; k < 2 + kMoments; ++k) std::copy(arrays[k] + i, arrays[k] + end, tail[k]);
  apply(tail[0], tail[1], tail[2], tail[3]);
  for (int k : {0, 2, 3}) {
    if (k < 2 + kMoments) std::copy_n(tail[k], end - i, arrays[k] + i);
  }
}

void Update(UpdateRule rule, const UpdateFactors& f, const UpdateArrays& a, std::int64_t begin,
            std::int64_t end) {
  const Vector rate = set(f.rate);
  const Vector clip = set(f.clip);
  const Vector most = set(f.clip_value);
  const Vector least = hn::Neg(most);
  const Vector penalty = set(f.penalty);
  const Vector keep1 = set(f.first_keep);
  const Vector keep2 = set(f.second_keep);
  const Vector add1 = set(f.first_add);
  const Vector add2 = set(f.second_add);
  const Vector scale2 = set(f.second_scale);
  const Vector epsilon = set(f.epsilon);
  const Vector initial = set(f.initial_sum);
  const Vector decay = set(f.decay);
  const bool clamps = std::isfinite(f.clip_value);
  const auto penalised = [=](Vector p, Vector g) {
    g = hn::Mul(g, clip);
    if (clamps) {  // compared, so that NaN stays NaN
      g = hn::IfThenElse(hn::Gt(g, most), most, hn::IfThenElse(hn::Lt(g, least), least, g));
    }
    return hn::Add(g, hn::Mul(penalty, p));
  };
  const auto mean_square = [=](Vector v, Vector g) {
    return hn::Add(hn::Mul(keep2, v), hn::Mul(add2, hn::Mul(g, g)));
  };
  switch (rule) {
    case UpdateRule::sgd:
      pass<0>(a, begin, end, [=](Vector& p, Vector g, Vector&, Vector&) {
        p = hn::Sub(p, hn::Mul(rate, penalised(p, g)));
      });
      break;
    case UpdateRule::momentum:
    case UpdateRule::nesterov:
      pass<1>(a, begin, end,
              [=, nesterov = rule == UpdateRule::nesterov](Vector& p, Vector g, Vector& m,
                                                           Vector&) {
                g = penalised(p, g);
                m = hn::Add(hn::Mul(keep1, m), g);
                p = hn::Sub(p, hn::Mul(rate, nesterov ? hn::Add(g, hn::Mul(keep1, m)) : m));
              });
      break;
    case UpdateRule::adam:
    case UpdateRule::adamw:
      pass<2>(a, begin, end, [=](Vector& p, Vector g, Vector& m, Vector& v) {
        g = penalised(p, g);
        m = hn::Add(hn::Mul(keep1, m), hn::Mul(add1, g));
        v = mean_square(v, g);
        const Vector root = hn::Add(hn::Mul(hn::Sqrt(v), scale2), epsilon);
        p = hn::Sub(hn::Mul(p, decay), hn::Div(hn::Mul(rate, m), root));
      });
      break;
    case UpdateRule::rmsprop:
      pass<1>(a, begin, end, [=](Vector& p, Vector g, Vector& v, Vector&) {
        g = penalised(p, g);
        v = mean_square(v, g);
        p = hn::Sub(p, hn::Mul(rate, hn::Div(g, hn::Add(hn::Sqrt(v), epsilon))));
      });
      break;
    case UpdateRule::rmsprop_momentum:
      pass<2>(a, begin, end, [=](Vector& p, Vector g, Vector& v, Vector& m) {
        g = penalised(p, g);
        v = mean_square(v, g);
        m = hn::Add(hn::Mul(keep1, m), hn::Div(g, hn::Add(hn::Sqrt(v), epsilon)));
        p = hn::Sub(p, hn::Mul(rate, m));
      });
      break;
    case UpdateRule::adagrad:
      pass<1>(a, begin, end, [=](Vector& p, Vector g, Vector& v, Vector&) {
        g = penalised(p, g);
        v = hn::Add(v, hn::Mul(g, g));
        const Vector root = hn::Add(hn::Sqrt(hn::Add(v, initial)), epsilon);
        p = hn::Sub(p, hn::Mul(rate, hn::Div(g, root)));
      });
      break;
    case UpdateRule::lion:
      pass<1>(a, begin, end, [=](Vector& p, Vector g, Vector& m, Vector&) {
        g = penalised(p, g);
        const Vector zero = hn::Zero(kTag);
        const Vector one = set(1);
        const Vector c = hn::Add(hn::Mul(keep1, m), hn::Mul(add1, g));
        // A zero stays one, and NaN stays NaN.
        const Vector sign =
            hn::IfThenElse(hn::Gt(c, zero), one, hn::IfThenElse(hn::Lt(c, zero), hn::Neg(one), c));
        p = hn::Sub(hn::Mul(p, decay), hn::Mul(rate, sign));
        m = hn::Add(hn::Mul(keep2, m), hn::Mul(add2, g));
      });
      break;
    case UpdateRule::muon:
      pass<2>(a, begin, end, [=](Vector& p, Vector g, Vector& m, Vector& direction) {
        g = penalised(p, g);
        p = hn::Mul(p, decay);
        m = hn::Add(hn::Mul(keep1, m), hn::Mul(add1, g));
        direction = hn::Add(hn::Mul(keep2, m), hn::Mul(add2, g));
      });
      break;
  }
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {
HWY_EXPORT(Update);

void update_elements(UpdateRule rule, const UpdateFactors& factors, const UpdateArrays& arrays,
                     std::int64_t begin, std::int64_t end) {
  HWY_DYNAMIC_DISPATCH(Update)(rule, factors, arrays, begin, end);
}

}  // namespace linnet::cpu
#endif
