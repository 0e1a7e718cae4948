// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/layers.h>
#include <linnet/model.h>

#include <algorithm>
#include <cmath>

#include "data_sets.h"

namespace linnet::testing {
namespace {

/// Where tanh(x) is almost 1, its slope is 1 - tanh(x)²: what half a unit in tanh's last place
/// makes of that is all that it may be off.
TEST(Tanh, SlopesNearItsEndsAreThoseOfARoundedResult) {
  std::vector<float> x;
  for (double at = 0.7; at < 6; at += 0.001) {
    x.push_back(static_cast<float>(at));
    x.push_back(static_cast<float>(-at));
  }
  Model model(Network({1}, {linnet::Tanh{}}), {.device = "cpu", .threads = 1});
  const std::vector<float> y = vector_of(model.predict(records(x, {1})));
  double units = 0;  // halves of one in the last place of numbers from a half to 1
  for (std::size_t i = 0; i < x.size(); ++i) {
    const double exact = std::tanh(static_cast<double>(x[i]));
    if (std::abs(exact) > 0.9) units = std::max(units, std::abs(y[i] - exact) / std::exp2(-24));
  }
  EXPECT_LT(units, 1);
}

}  // namespace
}  // namespace linnet::testing
