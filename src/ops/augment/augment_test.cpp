// SPDX-License-Identifier: Apache-2.0
#include "ops/augment/augment.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <numbers>
#include <set>

#include "op_harness.h"
#include "ops/augment/formulas.h"

namespace linnet::testing {
namespace {

constexpr std::size_t kRecords = 12;
constexpr StepInfo kStep{.seed = 5, .step = 4, .epoch = 2, .position = 3, .samples = kRecords};

void check_rule(const std::string& name, const AugmentRule& rule, const ValueType& data,
                std::int64_t batch = 7) {
  AugmentAttrs attrs{.batch = batch, .shuffle = true, .rule = rule};
  if (data.shape[3] > 1) attrs.scale.assign(static_cast<std::size_t>(data.shape[3]), 1.0 / 64);
  if (data.shape[3] > 1) attrs.shift.assign(static_cast<std::size_t>(data.shape[3]), -0.5);
  attrs.scale.back() = 1.0 / 128;
  OpCase op_case{name, make_op(AugmentOp(attrs)), {data}, {{0, 255}}, false};
  op_case.step = kStep;
  op_case.records = {kRecords};
  check(op_case);
}

TEST(Augment, AgreesWithTheReference) {
  for (const auto& [type, data] :
       {std::pair("u8", u8({1, 9, 11, 3})), std::pair("f32", f32({1, 9, 11, 3})),
        std::pair("grey", u8({1, 9, 11, 1})), std::pair("two channels", f32({1, 9, 11, 2}))}) {
    const std::string of = type;
    const AugmentRule same{.height = 9, .width = 11};
    check_rule("augment nothing " + of, same, data);
    check_rule("augment centre crop " + of, {.height = 5, .width = 4, .training = false}, data);
    check_rule("augment resize " + of, {.height = 13, .width = 5, .training = false}, data);
    check_rule("augment crop " + of, {.height = 8, .width = 10}, data);
    check_rule("augment padded " + of, {.height = 9, .width = 11, .padding = 3}, data);
    check_rule("augment mirrored " + of,
               {.height = 9, .width = 11, .padding = 4, .reflect = true, .flip = 0.5}, data);
    check_rule("augment flipped in turns " + of,
               {.height = 9, .width = 11, .alternating_flip = true}, data);
    check_rule("augment upside down " + of,
               {.height = 9, .width = 11, .padding = 2, .vertical_flip = 0.5}, data);
    check_rule("augment turned " + of, {.height = 9, .width = 11, .flip = 0.5, .rotate = 20}, data);
    check_rule("augment turned and mirrored " + of,
               {.height = 7, .width = 11, .reflect = true, .vertical_flip = 0.5, .rotate = 180},
               data);
    check_rule("augment turned resized crop " + of,
               {.height = 6,
                .width = 14,
                .resized_crop = true,
                .flip = 0.5,
                .vertical_flip = 0.5,
                .rotate = 90},
               data);
    check_rule("augment resized crop " + of, {.height = 6, .width = 8, .resized_crop = true}, data);
    check_rule("augment enlarged crop " + of,
               {.height = 17, .width = 16, .resized_crop = true, .flip = 1}, data);
    check_rule("augment cutout " + of, {.height = 9, .width = 11, .cutout = 5, .fill = 3}, data);
    check_rule("augment jitter " + of,
               {.height = 9,
                .width = 11,
                .flip = 0.5,
                .brightness = 0.4,
                .contrast = 0.6,
                .saturation = 1.5},
               data);
    check_rule("augment no sample " + of, same, data, 0);
  }
}

TEST(Augment, PartsOfABatchAreChangedAsTheWholeBatch) {
  AugmentRule rule{.height = 4, .width = 5, .padding = 2, .flip = 0.5};
  rule.brightness = 0.3;
  rule.cutout = 2;
  const auto rows = [&](std::uint64_t first, std::int64_t count) {
    Graph graph;
    const Value all = graph.add_value("data", f32({1, 6, 6, 3}), Storage::external, 0);
    const Value y =
        graph.emit(AugmentOp({.batch = count, .shuffle = true, .rule = rule}), {all}, "augment");
    std::vector<double> data(kRecords * 6 * 6 * 3);
    for (std::size_t i = 0; i < data.size(); ++i) data[i] = static_cast<double>(i % 251);
    StepInfo step = kStep;
    step.position = first;
    step.first_row = first;
    return run(graph, {all}, {data}, {y}, step)[0];
  };
  std::vector<double> parts = rows(0, 5);
  const std::vector<double> rest = rows(5, 7);
  parts.insert(parts.end(), rest.begin(), rest.end());
  EXPECT_EQ(parts, rows(0, 12));
}

TEST(Augment, AgreesWithTheReferenceFromALaterRow) {
  OpCase op_case{"augment rows",
                 make_op(AugmentOp({.batch = 5, .rule = {.height = 4, .width = 5, .padding = 2}})),
                 {u8({1, 6, 6, 3})},
                 {{0, 255}},
                 false};
  op_case.step = kStep;
  op_case.step.first_row = 7;
  op_case.records = {kRecords};
  check(op_case);
}

TEST(Augment, OfLargePictures) {
  const AugmentRule rule{.height = 72,
                         .width = 70,
                         .resized_crop = true,
                         .flip = 0.5,
                         .brightness = 0.2,
                         .contrast = 0.2,
                         .saturation = 0.2,
                         .cutout = 16};
  check_rule("augment many tasks", rule, u8({1, 80, 75, 3}), 9);
  AugmentRule parts = rule;
  parts.contrast = 0;
  check_rule("augment many blocks", parts, u8({1, 80, 75, 3}), 3);
}

AugmentSample draw(const AugmentRule& rule, std::int64_t sample, const StepInfo& step = kStep) {
  return draw_augment(rule, 32, 32, step, true, sample);
}

/// Returns what of a draw is a number: to compare two.
std::vector<double> numbers(const AugmentSample& s) {
  return {double(s.top),     double(s.left),     double(s.height), double(s.width),
          double(s.cut_top), double(s.cut_left), double(s.flip),   s.sine,
          s.factor[0],       s.factor[1],        s.factor[2],      double(s.order[0]),
          double(s.order[1])};
}

TEST(Augment, DiffersBySeedStepAndSampleOnly) {
  const AugmentRule rule{.height = 24,
                         .width = 24,
                         .resized_crop = true,
                         .flip = 0.5,
                         .rotate = 9,
                         .brightness = 0.4,
                         .cutout = 4};
  const auto first = numbers(draw(rule, 3, {.seed = 1, .step = 2}));
  // A streamed batch lies at another place of another number of records.
  EXPECT_EQ(first, numbers(draw(rule, 3, {.seed = 1, .step = 2, .position = 9, .samples = 4})));
  EXPECT_NE(first, numbers(draw(rule, 4, {.seed = 1, .step = 2})));
  EXPECT_NE(first, numbers(draw(rule, 3, {.seed = 1, .step = 3})));
  EXPECT_NE(first, numbers(draw(rule, 3, {.seed = 2, .step = 2})));
}

TEST(Augment, CropsComeFromEverywhereAndFit) {
  const AugmentRule rule{.height = 32, .width = 32, .padding = 4, .flip = 0.25};
  std::set<std::int64_t> tops;
  std::set<std::int64_t> lefts;
  double flips = 0;
  for (std::int64_t i = 0; i < 4000; ++i) {
    const AugmentSample s = draw(rule, i);
    tops.insert(s.top);
    lefts.insert(s.left);
    flips += s.flip ? 1 : 0;
  }
  EXPECT_EQ(tops, (std::set<std::int64_t>{-4, -3, -2, -1, 0, 1, 2, 3, 4}));
  EXPECT_EQ(lefts, tops);
  EXPECT_NEAR(flips / 4000, 0.25, 0.02);
}

/// A flip depends on the record alone, not on the batch's place or the order of the epoch.
TEST(Augment, AlternatingFlipsChangeEveryEpoch) {
  const AugmentRule rule{.height = 32, .width = 32, .alternating_flip = true};
  constexpr std::uint64_t kMany = 4000;
  const auto flips = [&](StepInfo step, bool shuffle) {
    step.seed = 5;
    const RecordIndex index = RecordIndex::of_epoch(step, shuffle);
    std::vector<bool> by_record(kMany);
    for (std::int64_t i = 0; i < static_cast<std::int64_t>(kMany); ++i) {
      by_record[index(i)] = draw_augment(rule, 32, 32, step, shuffle, i).flip;
    }
    return by_record;
  };
  const std::vector<bool> first = flips({.samples = kMany}, false);
  EXPECT_NEAR(static_cast<double>(std::ranges::count(first, true)) / kMany, 0.5, 0.03);
  for (const std::uint64_t epoch : {1, 2, 3}) {
    std::vector<bool> expected = first;
    if (epoch % 2 == 1) expected.flip();
    EXPECT_EQ(flips({.step = 7 * epoch, .epoch = epoch, .samples = kMany}, true), expected);
    const EpochPlace place{.samples = kMany, .shuffled = true};
    EXPECT_EQ(flips({.epoch = epoch, .position = 64, .samples = 128, .streamed = place}, false),
              expected);
  }
}

TEST(Augment, ResizedCropsHaveTheAreasAndRatiosAskedFor) {
  const AugmentRule rule{.height = 224, .width = 224, .resized_crop = true};
  double area = 0;
  for (std::int64_t i = 0; i < 4000; ++i) {
    const AugmentSample s = draw_augment(rule, 264, 300, kStep, true, i);
    EXPECT_GE(s.top, 0);
    EXPECT_GE(s.left, 0);
    EXPECT_LE(s.top + s.height, 264);
    EXPECT_LE(s.left + s.width, 300);
    const double ratio = double(s.width) / double(s.height);
    EXPECT_GT(ratio, 0.75 - 0.02);
    EXPECT_LT(ratio, 4.0 / 3 + 0.02);
    area += double(s.width * s.height) / (264.0 * 300.0);
  }
  // Uniform in [0.08, 1], less the largest ones that did not fit.
  EXPECT_GT(area / 4000, 0.45);
  EXPECT_LT(area / 4000, 0.54);
  const AugmentSample wide =
      draw_augment({.height = 4, .width = 4, .resized_crop = true, .area_min = 1}, 10, 100, kStep,
                   true, 0);
  EXPECT_EQ(wide.height, 10);
  EXPECT_EQ(wide.width, 13);  // 10 * 4 / 3, in the middle
  EXPECT_EQ(wide.left, 43);
}

std::vector<double> augmented(const AugmentRule& rule, const ValueType& data,
                              const std::vector<double>& pixels) {
  Graph graph;
  const Value all = graph.add_value("data", data, Storage::external);
  const Value y = graph.emit(AugmentOp({.batch = 1, .rule = rule}), {all}, "augment");
  return run(graph, {all}, {pixels}, {y}, {.samples = 1})[0];
}

TEST(Augment, KnownPictures) {
  const std::vector<double> four{1, 2, 3, 4};
  EXPECT_EQ(augmented({.height = 2, .width = 2, .flip = 1}, u8({1, 2, 2, 1}), four),
            (std::vector<double>{2, 1, 4, 3}));
  EXPECT_EQ(augmented({.height = 2, .width = 2, .vertical_flip = 1}, u8({1, 2, 2, 1}), four),
            (std::vector<double>{3, 4, 1, 2}));
  // torch.nn.functional.interpolate of [[1, 2], [3, 4]] to 2 x 4, bilinear.
  EXPECT_EQ(augmented({.height = 2, .width = 4, .training = false}, u8({1, 2, 2, 1}), four),
            (std::vector<double>{1, 1.25, 1.75, 2, 3, 3.25, 3.75, 4}));
  EXPECT_EQ(augmented({.height = 1, .width = 1, .training = false}, u8({1, 3, 3, 1}),
                      {1, 2, 3, 4, 5, 6, 7, 8, 9}),
            (std::vector<double>{5}));
  const std::vector<double> cut =
      augmented({.height = 2, .width = 2, .cutout = 9, .fill = 7}, u8({1, 2, 2, 1}), four);
  EXPECT_EQ(cut, (std::vector<double>{7, 7, 7, 7}));
}

/// Returns an image of 3 x 4 pixels, turned.
std::vector<double> turned(const AugmentRule& rule, double degrees) {
  const std::vector<double> image{1, 2, 3, 4, 5, 6, 20, 8, 9, 10, 11, 12};
  const AugmentPixels<double, double> from{image.data(), 3, 4, 1, rule.reflect};
  AugmentSample s{};
  s.height = 3;
  s.width = 4;
  s.turns = true;
  s.sine = static_cast<float>(std::sin(degrees * std::numbers::pi / 180));
  s.cosine = static_cast<float>(std::cos(degrees * std::numbers::pi / 180));
  std::vector<double> pixels;
  for (std::int64_t y = 0; y < rule.height; ++y) {
    for (std::int64_t x = 0; x < rule.width; ++x) {
      pixels.push_back(AugmentPoint<double>(rule, s, y, x).value(from, 0));
    }
  }
  return pixels;
}

TEST(Augment, TurnsAsTorchvisionDoes) {
  // torchvision.transforms.functional.rotate(image, 30, BILINEAR)
  const std::vector<double> expected{0.6531,  2.2692,  7.7991, 5.2824, 2.2010, 5.7201,
                                     17.0299, 11.4522, 3.8301, 8.0311, 9.2225, 4.3385};
  const std::vector<double> pixels = turned({.height = 3, .width = 4}, 30);
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(pixels[i], expected[i], 1e-4);
  for (const double pixel : turned({.height = 3, .width = 4, .reflect = true}, 30)) {
    EXPECT_GE(pixel, 1);  // no zeros from outside
  }
}

TEST(Augment, AnglesAreUniform) {
  const AugmentRule rule{.height = 32, .width = 32, .vertical_flip = 0.25, .rotate = 30};
  double flips = 0;
  double sum = 0;
  double most = 0;
  for (std::int64_t i = 0; i < 4000; ++i) {
    const AugmentSample s = draw(rule, i);
    const double degrees = std::atan2(s.sine, s.cosine) * 180 / std::numbers::pi;
    EXPECT_LE(std::abs(degrees), 30.001);
    flips += s.flip_rows ? 1 : 0;
    sum += std::abs(degrees);
    most = std::max(most, degrees);
  }
  EXPECT_NEAR(flips / 4000, 0.25, 0.02);
  EXPECT_NEAR(sum / 4000, 15, 0.5);
  EXPECT_GT(most, 29);
}

TEST(Augment, NamesTheLayerAndWhatIsWrong) {
  const auto error = [](const AugmentRule& rule, const ValueType& data) {
    return inference_error(make_op(AugmentOp({.batch = 4, .rule = rule})), {data}, "samples");
  };
  EXPECT_EQ(error({}, f32({1, 4})),
            "[augment 'samples'] expected images (1, H, W, C) in u8 or f32; got data=(1, 4)");
  EXPECT_EQ(error({.height = 9, .width = 8, .padding = 2}, u8({1, 4, 4, 3})),
            "[augment 'samples'] a crop of 9 x 8 is larger than images of 4 x 4 padded by 2");
  EXPECT_EQ(error({.height = 4, .width = 4, .padding = 4, .reflect = true}, u8({1, 4, 4, 3})),
            "[augment 'samples'] images of 4 x 4 cannot be padded by reflection of 4 pixels");
  EXPECT_EQ(error({.height = 4, .width = 4, .flip = 2}, u8({1, 4, 4, 3})),
            "[augment 'samples'] expected a probability of flips in [0, 1]; got 2");
  EXPECT_EQ(error({.height = 4, .width = 4, .vertical_flip = -1}, u8({1, 4, 4, 3})),
            "[augment 'samples'] expected a probability of flips in [0, 1]; got -1");
  EXPECT_EQ(error({.height = 4, .width = 4, .rotate = 181}, u8({1, 4, 4, 3})),
            "[augment 'samples'] expected a rotation in [0, 180] degrees; got 181");
}

}  // namespace
}  // namespace linnet::testing
