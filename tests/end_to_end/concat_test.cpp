// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <set>

#include "fixtures.h"
#include "ops/dropout/dropout.h"

namespace linnet::testing {
namespace {

Conv2d times(double factor, std::string name = {}) {
  return {.filters = 1,
          .kernel = 1,
          .bias = false,
          .weight_init = {Initializer::Kind::constant, factor},
          .name = std::move(name)};
}

std::vector<std::string> parameter_names(const Network& network) {
  std::vector<std::string> names;
  for (const ParameterSpec& spec : network.definition().parameters) names.push_back(spec.name);
  return names;
}

std::string network_error(std::vector<Layer> layers) {
  try {
    Network({8, 8, 4}, std::move(layers));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

TEST(Concat, PutsItsBranchesBehindEachOther) {
  const Dataset data({{"x", records(std::vector<float>{1, -2}, {1, 2, 1})}});
  Model model(Network({1, 2, 1},
                      {Concat{.branches = {{times(3)}, {}, {times(2), ReLU{}, times(5)}}}}),
              {.device = "cpu"});
  EXPECT_EQ(model.network().output_shape(), (Shape{1, 2, 3}));
  EXPECT_EQ(vector_of(model.predict(data)), (std::vector<float>{3, 1, 10, -6, -2, 0}));
}

TEST(Concat, NamesItsParametersByBranchAndLayer) {
  const Network one({8, 8, 4}, {Concat{.branches = {{}, {times(1, "conv"), times(1)}}, .name = "c"},
                                Concat{.branches = {{times(1)}}}});
  EXPECT_EQ(parameter_names(one), (std::vector<std::string>{"c.conv.weight", "c.conv2d_1.weight",
                                                            "concat_1.conv2d_1.weight"}));
  const Network two({8, 8, 4}, {Concat{.branches = {{times(1)}, {times(1, "a")}, {}}}});
  EXPECT_EQ(parameter_names(two),
            (std::vector<std::string>{"concat_1.1.conv2d_1.weight", "concat_1.2.a.weight"}));
}

TEST(Concat, SaysWhatDoesNotFit) {
  EXPECT_EQ(network_error({Concat{}}), "[concat 'concat_1'] expected at least one branch");
  EXPECT_EQ(network_error({Concat{.branches = {{}, {MaxPool2d{}}}, .name = "c"}}),
            "[concat 'c'] expected f32 operands that differ in axis 3 (after the batch) alone; "
            "got x0=(N, 8, 8, 4), x1=(N, 4, 4, 4)");
}

/// What an input gets from several branches and from itself is a sum of gradients.
TEST(Concat, TrainsThroughItsBranches) {
  const Dataset data = circle_data(256);
  const auto dense = [](std::int64_t units) { return Dense{.units = units}; };
  Model model(Network({2},
                      {Rescale{.scale = 1.0 / 128, .shift = -1}, dense(8), Tanh{},
                       Concat{.branches = {{dense(8), Tanh{}}, {}, {dense(4), ReLU{}}}}, dense(2)}),
              {.device = "cpu"});
  const History history =
      train(model, data, {.epochs = 40, .batch = 32, .optimizer = Adam{.learning_rate = 0.01}});
  EXPECT_LT(history.epochs.back().train.loss, 0.5 * history.epochs.front().train.loss);
}

TEST(Concat, DropoutsInBranchesDrawDifferentMasks) {
  const Network network({8}, {Dropout{}, Concat{.branches = {{Dropout{}}, {Dropout{}, Dropout{}}}},
                              Residual{.body = {Dropout{}}}});
  std::set<std::int64_t> streams;
  for (const Node& node : network.definition().graph.nodes()) {
    if (const auto* op = dynamic_cast<const DropoutOp*>(node.op.get())) {
      streams.insert(op->attrs().stream);
    }
  }
  EXPECT_EQ(streams.size(), 5U);
}

}  // namespace
}  // namespace linnet::testing
