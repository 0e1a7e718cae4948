// SPDX-License-Identifier: Apache-2.0
#include "ops/augment/augment.h"

#include "graph/registry.h"
#include "ops/augment/formulas.h"
#include "ops/gather_batch/record_index.h"

namespace linnet {
namespace {

void check_rule(const AugmentRule& r, std::int64_t h, std::int64_t w) {
  require(r.height >= 1 && r.width >= 1 && r.padding >= 0 && r.cutout >= 0,
          "expected a size of at least 1 x 1, and padding and cutout of at least 0; got {} x {}, "
          "{}, {}",
          r.height, r.width, r.padding, r.cutout);
  for (const double flip : {r.flip, r.vertical_flip}) {
    require(flip >= 0 && flip <= 1, "expected a probability of flips in [0, 1]; got {}", flip);
  }
  require(r.rotate >= 0 && r.rotate <= 180, "expected a rotation in [0, 180] degrees; got {}",
          r.rotate);
  require(!r.alternating_flip || r.flip == 0,
          "expected either random flips or alternating ones; got both");
  require(r.brightness >= 0 && r.contrast >= 0 && r.saturation >= 0,
          "expected jitter of at least 0; got brightness {}, contrast {}, saturation {}",
          r.brightness, r.contrast, r.saturation);
  require(r.area_min > 0 && r.area_min <= r.area_max && r.area_max <= 1,
          "expected areas 0 < least <= most <= 1; got {} and {}", r.area_min, r.area_max);
  require(r.ratio_min > 0 && r.ratio_min <= r.ratio_max,
          "expected ratios 0 < least <= most; got {} and {}", r.ratio_min, r.ratio_max);
  if (!r.training || r.resized_crop) return;
  require(h + 2 * r.padding >= r.height && w + 2 * r.padding >= r.width,
          "a crop of {} x {} is larger than images of {} x {} padded by {}", r.height, r.width, h,
          w, r.padding);
  require(!r.reflect || (r.padding < h && r.padding < w),
          "images of {} x {} cannot be padded by reflection of {} pixels", h, w, r.padding);
}

}  // namespace

std::vector<ValueType> AugmentOp::infer(std::span<const ValueType> inputs) const {
  require(inputs.size() == 1 && inputs[In::data].shape.rank() == 4 &&
              inputs[In::data].shape[0] == 1 &&
              (inputs[In::data].dtype == DType::u8 || inputs[In::data].dtype == DType::f32),
          "expected images (1, H, W, C) in u8 or f32; got {}",
          to_string({"data"}, {inputs.begin(), inputs.end()}));
  const Shape record = inputs[In::data].shape.sample();
  require(record.elements() > 0 && record[2] <= kMostChannels,
          "expected images of at least a pixel and at most {} channels; got {}", kMostChannels,
          to_string(record));
  const auto fits = [&](const std::vector<double>& values) {
    return values.size() == 1 || static_cast<std::int64_t>(values.size()) == record[2];
  };
  require(fits(attrs().scale) && fits(attrs().shift),
          "expected one scale and shift, or one for each of {} channels; got {} and {}",
          to_string(record), attrs().scale.size(), attrs().shift.size());
  check_rule(attrs().rule, record[0], record[1]);
  return {{DType::f32, Shape{attrs().batch, attrs().rule.height, attrs().rule.width, record[2]}}};
}

void AugmentOp::reference(const ReferenceArgs& args) const {
  const AugmentRule& rule = attrs().rule;
  const Shape record = args.in(In::data).shape.sample();
  const std::int64_t channels = record[2];
  const RecordIndex index(args.step, attrs().shuffle);
  const std::int64_t size = rule.height * rule.width * channels;
  for (std::int64_t i = 0; i < attrs().batch; ++i) {
    const AugmentSample s = draw_augment(rule, record[0], record[1], args.step, attrs().shuffle, i);
    const AugmentPixels<double, double> from{args.in(In::data).data.data() +
                                                 static_cast<std::int64_t>(index(i)) *
                                                     record.elements(),
                                             record[0], record[1], channels, rule.reflect};
    double* out = args.out(Out::y).data.data() + i * size;
    for (std::int64_t k = 0; k < size; ++k) {
      const std::int64_t y = k / channels / rule.width;
      const std::int64_t x = k / channels % rule.width;
      out[k] =
          s.turns
              ? AugmentPoint<double>(rule, s, y, x).value(from, k % channels)
              : augment_pixel(from, s,
                              AugmentPlace<double>(s.row(y, rule.height), rule.height, s.height),
                              AugmentPlace<double>(s.column(x, rule.width), rule.width, s.width),
                              k % channels);
    }
    for (const int stage : s.order) {
      if (!jitters(rule, stage)) continue;
      double mean = 0;
      for (std::int64_t k = 0; k < size; k += channels) mean += luminance(out + k, channels);
      mean /= static_cast<double>(rule.height * rule.width);
      for (std::int64_t k = 0; k < size; k += channels) {
        jitter_pixel(out + k, channels, stage, static_cast<double>(s.factor[stage]), mean,
                     rule.top);
      }
    }
    for (std::int64_t k = 0; k < size; ++k) {
      const auto c = static_cast<std::size_t>(k % channels);
      if (s.cuts(k / channels / rule.width, k / channels % rule.width)) out[k] = rule.fill;
      out[k] = out[k] * attrs().scale[attrs().scale.size() == 1 ? 0 : c] +
               attrs().shift[attrs().shift.size() == 1 ? 0 : c];
    }
  }
}

void register_augment(OpRegistry& registry) { registry.add<AugmentOp>(); }

}  // namespace linnet
