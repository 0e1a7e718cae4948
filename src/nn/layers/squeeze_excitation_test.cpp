// SPDX-License-Identifier: Apache-2.0
// Squeeze-and-excitation, and the norms and activation of these years, against numbers of PyTorch.
#include <gtest/gtest.h>
#include <linnet/error.h>
#include <linnet/layers/activations.h>
#include <linnet/layers/group_norm.h>
#include <linnet/layers/layer_norm.h>
#include <linnet/layers/squeeze_excitation.h>
#include <linnet/network.h>

#include <string>
#include <vector>

#include "graph/interpreter.h"
#include "message_of.h"
#include "nn/definition.h"

namespace linnet {
namespace {

using testing::message_of;
using Numbers = std::vector<double>;

/// Returns what a network computes from one sample, in double precision; its weights are 0.5, -0.5,
/// 1, -1, 1.5, ... in the order of the parameters.
Numbers computed(const Network& network, const Numbers& sample) {
  const NetworkDefinition& definition = network.definition();
  Graph graph;
  std::vector<Value> parameters;
  const std::vector<Value> x = add_inputs(definition, graph, 1);
  const Value y = instantiate(definition, graph, x, 1, Mode::inference, parameters).front();
  Interpreter interpreter(graph);
  interpreter[x.front()].data = sample;
  int place = 0;
  for (const Value parameter : parameters) {
    std::vector<double>& numbers = interpreter[parameter].data;
    numbers.resize(static_cast<std::size_t>(graph.shape(parameter).elements()));
    for (double& number : numbers) {
      number = (1 + place / 2) * (place % 2 == 0 ? 0.5 : -0.5);
      ++place;
    }
  }
  interpreter.run({});
  return interpreter[y].data;
}

void expect_near(const Numbers& got, const Numbers& expected) {
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], expected[i], 1e-6) << i;
}

const Numbers kImage{0.5, -1, 2, 0.25, -3, 1.5, 0.75, -0.5};  // (2, 2, 2)

TEST(LaterLayers, ComputeWhatPyTorchDoes) {
  expect_near(computed(Network({4}, {Mish{}}), {0.5, -1, 2, 0.25}),
              {0.3752452113, -0.3034014614, 1.9439589595, 0.1695724097});
  expect_near(computed(Network({2, 4}, {RMSNorm{}}), kImage),
              {0.2169303762, 0.4338607523, 1.7354430092, -0.2169303762, -0.8637787577,
               -0.4318893788, 0.4318893788, 0.2879262526});
  expect_near(computed(Network({2, 2, 2}, {InstanceNorm{}}), kImage),
              {1.1177842072, -0.4358383663, 1.5216157747, -1.0995579354, 0.1755105497,
               -1.7632775044, 1.1850894684, -0.7013261939});
  const SqueezeExcitation squeezing{.squeezed = 2, .gate = HardSigmoid{}};
  expect_near(computed(Network({2, 2, 2}, {squeezing}), kImage),
              {0.5, -0.625, 2.0, 0.15625, -3.0, 0.9375, 0.75, -0.3125});
}

TEST(SqueezeExcitation, NamesItsDenseLayersAndRefusesWhatIsNoImage) {
  const Network network({4, 4, 6}, {SqueezeExcitation{.squeezed = 3, .name = "se"}});
  EXPECT_EQ(network.output_shape(), (Shape{4, 4, 6}));
  EXPECT_EQ(network.parameters(), 6 * 3 + 3 + 3 * 6 + 6);
  EXPECT_EQ(network.definition().parameters.front().name, "se.fc1.weight");
  EXPECT_EQ(network.definition().parameters.back().name, "se.fc2.bias");
  EXPECT_EQ(message_of([] {
              Network({4, 6}, {SqueezeExcitation{.squeezed = 3}});
            }),
            "[squeeze_excitation 'squeeze_excitation_1'] expected images (N, H, W, C); got (N, 4, "
            "6)");
  EXPECT_EQ(
      message_of([] { Network({4}, {InstanceNorm{}}); }),
      "[instance_norm 'instance_norm_1'] expected images (N, H, W, C) or sequences (N, T, C); "
      "got (N, 4)");
}

}  // namespace
}  // namespace linnet
