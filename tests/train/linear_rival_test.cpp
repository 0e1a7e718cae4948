// SPDX-License-Identifier: Apache-2.0
// Against scikit-learn 1.9: Ridge(alpha=1) and LogisticRegression(C=1) of standardised features.
#include "analysis/linear_rival.h"

#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <vector>

namespace linnet::test {
namespace {

const std::vector<float> kFeatures{0, 1, 1, 0, 2, 1, 3, 5, 4, 2, 6, 3};

Dataset data_of(Tensor inputs, Tensor targets) {
  return {{{"numbers", std::move(inputs)}}, {{"y", std::move(targets)}}};
}

Dataset with_targets(Tensor targets) {
  return data_of(Tensor(std::vector<float>(kFeatures), {6, 2}), std::move(targets));
}

TEST(LinearRival, IsRidgeRegressionForValues) {
  const Dataset data = with_targets(Tensor(std::vector<float>{1, 2, 2, 5, 7, 9}, {6, 1}));
  const std::vector<double> expected{1.05389202, 1.95535572, 3.33438566,
                                     5.42976498, 5.85366243, 8.37293919};
  const std::vector<float> found = linear_predictions(data, data, 0);
  ASSERT_EQ(found.size(), expected.size());
  for (std::size_t i = 0; i < expected.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-5);
}

TEST(LinearRival, IsLogisticRegressionForLabels) {
  const Dataset data = with_targets(Tensor(std::vector<std::int32_t>{0, 0, 1, 1, 2, 2}, {6}));
  const std::vector<float> found = linear_predictions(data, data, 3);
  const std::vector<double> expected{0.65808460, 0.27532123, 0.06659417,   // row 0
                                     0.02720995, 0.20124442, 0.77154562};  // row 5
  ASSERT_EQ(found.size(), 18U);
  for (const std::size_t row : {0U, 5U}) {
    double sum = 0;
    for (std::size_t c = 0; c < 3; ++c) sum += std::exp(found[row * 3 + c]);
    for (std::size_t c = 0; c < 3; ++c) {
      EXPECT_NEAR(std::exp(found[row * 3 + c]) / sum, expected[(row == 0 ? 0 : 3) + c], 1e-4);
    }
  }
  EXPECT_EQ(found, linear_predictions(data, data, 3));
}

TEST(LinearRival, AnIdHasItsOwnWeight) {
  const Tensor ids(std::vector<std::int32_t>{0, 1, 2, 0, 1, 2}, {6, 1});
  const Dataset data = data_of(ids, Tensor(std::vector<float>{0, 9, 3, 0, 9, 3}, {6, 1}));
  const std::vector<float> found = linear_predictions(data, data, 0);
  ASSERT_EQ(found.size(), 6U);
  EXPECT_LT(found[0], found[2]);
  EXPECT_LT(found[2], found[1]);
}

TEST(LinearRival, FarTargetsAndConstantsAreNoTrouble) {
  std::vector<float> inputs;
  std::vector<float> targets;
  for (int i = 0; i < 50; ++i) {
    inputs.insert(inputs.end(), {static_cast<float>(i), 7});
    targets.push_back(1e6F + static_cast<float>(i));
  }
  const Dataset data =
      data_of(Tensor(std::move(inputs), {50, 2}), Tensor(std::move(targets), {50, 1}));
  const std::vector<float> found = linear_predictions(data, data, 0);
  ASSERT_EQ(found.size(), 50U);
  EXPECT_NEAR(found[0], 1e6, 1);
  EXPECT_NEAR(found[49], 1e6 + 49, 1);
}

TEST(LinearRival, LeavesOutWhatIsTooWide) {
  const auto wide = [](std::int64_t rows, std::int64_t columns) {
    std::vector<float> inputs(static_cast<std::size_t>(rows * columns));
    for (std::size_t i = 0; i < inputs.size(); ++i) inputs[i] = static_cast<float>(i % 7);
    return data_of(Tensor(std::move(inputs), {rows, columns}),
                   Tensor(std::vector<float>(static_cast<std::size_t>(rows), 1), {rows, 1}));
  };
  const Dataset few = wide(20, 512);
  const Dataset many = wide(20, 513);
  EXPECT_EQ(linear_predictions(few, few, 0).size(), 20U);
  EXPECT_TRUE(linear_predictions(many, many, 0).empty());
}

}  // namespace
}  // namespace linnet::test
