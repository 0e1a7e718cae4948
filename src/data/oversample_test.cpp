// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/error.h>
#include <linnet/oversample.h>

#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <vector>

#include "message_of.h"

namespace linnet::test {
namespace {

using testing::message_of;

/// 10 samples of class 0, 3 of class 1, 1 of class 2; x is the sample's number.
const std::vector<std::int32_t> kLabels{0, 0, 1, 0, 0, 2, 0, 0, 1, 0, 0, 0, 1, 0};

Dataset rare() {
  std::vector<float> x(kLabels.size());
  std::iota(x.begin(), x.end(), 0.0F);
  Dataset data({{"x", Tensor(x, {14, 1})}}, {{"label", Tensor(kLabels)}});
  std::vector<float> weights(kLabels.size(), 1.0F);
  weights[5] = 7;
  data.set_weights(Tensor(weights));
  data.set_classes({"a", "b", "c"});
  return data;
}

std::map<int, int> counts_of(const Dataset& data) {
  std::map<int, int> counts;
  for (const float x : data.inputs()[0].data.as<float>()) ++counts[static_cast<int>(x)];
  return counts;
}

std::map<int, int> classes_of(const Dataset& data) {
  std::map<int, int> counts;
  for (const std::int32_t label : data.targets()[0].data.as<std::int32_t>()) ++counts[label];
  return counts;
}

TEST(Oversample, GivesEachClassAsManySamplesRepeatedEquallyOften) {
  const Dataset more = oversample(rare());
  EXPECT_EQ(more.size(), 30);
  EXPECT_EQ(classes_of(more), (std::map<int, int>{{0, 10}, {1, 10}, {2, 10}}));
  const std::map<int, int> counts = counts_of(more);
  int of_class_1 = 0;
  for (const auto& [sample, count] : counts) {
    const std::int32_t label = kLabels[static_cast<std::size_t>(sample)];
    if (label == 0) {
      EXPECT_EQ(count, 1);
    }
    if (label == 1) {
      EXPECT_TRUE(count == 3 || count == 4) << count;
    }
    if (label == 1) of_class_1 += count;
    if (label == 2) {
      EXPECT_EQ(count, 10);
    }
  }
  EXPECT_EQ(of_class_1, 10);
  EXPECT_EQ(more.classes(), rare().classes());
  // All samples come first, in their order; records, labels and weights belong together.
  const auto x = more.inputs()[0].data.as<float>();
  const auto labels = more.targets()[0].data.as<std::int32_t>();
  const auto weights = more.weights().as<float>();
  for (std::size_t i = 0; i < x.size(); ++i) {
    if (i < kLabels.size()) {
      EXPECT_EQ(x[i], static_cast<float>(i));
    }
    EXPECT_EQ(labels[i], kLabels[static_cast<std::size_t>(x[i])]);
    EXPECT_EQ(weights[i], x[i] == 5 ? 7.0F : 1.0F);
  }
}

TEST(Oversample, IsAFunctionOfItsSeed) {
  EXPECT_EQ(counts_of(oversample(rare(), {.seed = 4})), counts_of(oversample(rare(), {.seed = 4})));
  bool differs = false;
  for (std::uint64_t seed = 1; seed < 9; ++seed) {
    differs =
        differs || counts_of(oversample(rare(), {.seed = seed})) != counts_of(oversample(rare()));
  }
  EXPECT_TRUE(differs);
}

TEST(Oversample, TakesAShareOfTheMostFrequentClass) {
  EXPECT_EQ(classes_of(oversample(rare(), {.share = 0.35})),
            (std::map<int, int>{{0, 10}, {1, 4}, {2, 4}}));
  const Dataset data = rare();
  EXPECT_TRUE(oversample(data, {.share = 0.1}).same_as(data));
}

TEST(Oversample, LeavesIgnoredLabelsAlone) {
  EXPECT_EQ(classes_of(oversample(rare(), {.ignore_index = 2})),
            (std::map<int, int>{{0, 10}, {1, 10}, {2, 1}}));
  EXPECT_EQ(classes_of(oversample(rare(), {.ignore_index = 0})),
            (std::map<int, int>{{0, 10}, {1, 3}, {2, 3}}));
}

TEST(Oversample, RefusesWhatHasNoClasses) {
  const Dataset values({{"x", Tensor(std::vector<float>{1, 2}, {2, 1})}},
                       {{"y", Tensor(std::vector<float>{1, 2})}});
  EXPECT_EQ(
      message_of([&] { oversample(values); }),
      "the data set 'data' has no classes, one label a sample; oversampling repeats samples of "
      "rare classes");
  const Dataset steps({{"x", Tensor(std::vector<float>{1, 2}, {2, 1})}},
                      {{"y", Tensor(std::vector<std::int32_t>{1, 0, 1, 1}, {2, 2})}});
  EXPECT_THROW(oversample(steps), Error);
  for (const double share : {0.0, -1.0, 1.5, std::nan("")}) {
    EXPECT_THROW(oversample(rare(), {.share = share}), Error) << share;
  }
  EXPECT_EQ(oversample(Dataset()).size(), 0);
}

}  // namespace
}  // namespace linnet::test
