// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/linnet.h>

#include <cstddef>
#include <vector>

#include "data_sets.h"
#include "message_of.h"
#include "weights.h"

namespace linnet::testing {
namespace {

TEST(Jacobian, HoldsTheGradientsOfAllElements) {
  Model model(Network({2, 3}, {Flatten{}, Dense{.units = 4}, Tanh{}, Reshape{.sample = {2, 2}}}),
              {.device = "cpu", .seed = 7});
  const Dataset data({{"x", records(std::vector<float>{0.1F, -0.4F, 0.3F, 0.9F, 0.2F, -0.7F,  //
                                                       0.5F, 0.6F, -0.1F, 0.4F, -0.8F, 0.2F},
                                    {2, 3})}},
                     {});
  const Tensor jacobian = model.jacobian(data);
  ASSERT_EQ(jacobian.shape(), Shape({2, 2, 2, 2, 3}));
  const std::vector<float> y = vector_of(model.predict(data));
  const std::vector<float> w = parameter(model, "dense_1.weight");
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t element = 0; element < 4; ++element) {
      const double t = y[row * 4 + element];
      for (std::size_t k = 0; k < 6; ++k) {
        EXPECT_NEAR(jacobian.as<float>()[(row * 4 + element) * 6 + k],
                    (1 - t * t) * w[element * 6 + k], 1e-6);
      }
    }
  }
}

TEST(Jacobian, IsByTheNamedInputOfTheNamedOutput) {
  FunctionalNetwork functional;
  const Expression a = functional.input("a", {1});
  const Expression b = functional.input("b", {1});
  Model model(functional.build({{"y", tanh(3 * a - 2 * b)}, {"z", a * 1}}), {.device = "cpu"});
  const Dataset data({{"a", records(std::vector<float>{0, 1}, {1})},
                      {"b", records(std::vector<float>{0, 1.5F}, {1})}},
                     {});
  EXPECT_EQ(vector_of(model.jacobian(data, "b", "y")),
            vector_of(model.input_gradient(data, {.by = "b", .of = "y"})));
  EXPECT_EQ(vector_of(model.jacobian(data, "a", "z")), (std::vector<float>{1, 1}));
  EXPECT_EQ(message_of([&] { model.jacobian(data, "c"); }),
            "the network has no input 'c'; it has 'a', 'b'");
}

}  // namespace
}  // namespace linnet::testing
