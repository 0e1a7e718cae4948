// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "data_sets.h"
#include "fixtures.h"
#include "message_of.h"
#include "needed_passes.h"

namespace linnet::testing {
namespace {

Model ten_classes() {
  Model model(Network({2}, {Dense{.units = 4, .name = "body"}, BatchNorm{.name = "norm"}, ReLU{},
                            Dense{.units = 10, .name = "fc"}, Softmax{}}),
              {.device = "cpu", .seed = 3});
  model.set_class_names({"a", "b", "c", "d", "e", "f", "g", "h", "i", "j"});
  set_parameter(model, "norm.running_mean", {1, 2, 3, 4});
  return model;
}

TEST(WithHead, ReplacesTheLastLayerAndKeepsTheOthers) {
  const Model from = ten_classes();
  const Model made = from.with_head("fc", Dense{.units = 2});
  EXPECT_EQ(made.network().output_shape(), Shape({2}));
  EXPECT_EQ(made.parameter_shape("fc.weight"), Shape({2, 4}));
  EXPECT_TRUE(same_bits(made.weights().part("body"), from.weights().part("body")));
  EXPECT_TRUE(same_bits(made.weights().part("norm"), from.weights().part("norm")));
  EXPECT_TRUE(made.class_names().empty());
  EXPECT_EQ(from.parameter_shape("fc.weight"), Shape({10, 4})) << "a model of its own";
  // It is the network as it would have been written.
  const Network written({2}, {Dense{.units = 4, .name = "body"}, BatchNorm{.name = "norm"}, ReLU{},
                              Dense{.units = 2, .name = "fc"}, Softmax{}});
  EXPECT_EQ(made.network().to_json(), written.to_json());
}

TEST(WithHead, NewWeightsAreInitialised) {
  const Model from(Network({2}, {Dense{.units = 4}, Dense{.units = 3}}), {.device = "cpu"});
  const Model made = from.with_head("dense_2", Dense{.units = 3, .weight_init = kOnes});
  EXPECT_EQ(vector_of(made.parameter("dense_2.weight")), std::vector<float>(12, 1.0F));
  EXPECT_NE(vector_of(from.parameter("dense_2.weight")), std::vector<float>(12, 1.0F));
  const Model named = from.with_head("dense_2", Dense{.units = 1, .name = "score"});
  EXPECT_EQ(named.parameter_shape("score.weight"), Shape({1, 4}));
}

TEST(WithHead, ReplacesALayerOfLayers) {
  const Model from(Network({3}, {Dense{.units = 3},
                                 Residual{.body = {Dense{.units = 3}, ReLU{}}, .name = "block"}}),
                   {.device = "cpu"});
  const Model made = from.with_head("block", Dense{.units = 2});
  EXPECT_EQ(made.parameter_names(), (std::vector<std::string>{"dense_1.weight", "dense_1.bias",
                                                              "block.weight", "block.bias"}));
}

TEST(WithHead, Trains) {
  LINNET_NEEDS_PASSES("fuse_softmax_cross_entropy");
  const Dataset data = circle_data(60);
  Model model = ten_classes().with_head("fc", Dense{.units = 2});
  const State body = model.weights().part("body");
  Trainer trainer(model, {.trains = {{.name = "fc.*"}}});
  const History history = trainer.fit(data, {.epochs = 5, .batch = 20});
  EXPECT_LT(history.epochs.back().train.loss, history.epochs.front().train.loss);
  EXPECT_TRUE(same_bits(model.weights().part("body"), body));
}

TEST(WithHead, NamesTheLastLayer) {
  EXPECT_EQ(message_of([] { ten_classes().with_head("body", Dense{.units = 2}); }),
            "'body' is not the last layer with weights; that is 'fc'");
  EXPECT_EQ(message_of([] { ten_classes().with_head("f", Dense{.units = 2}); }),
            "'f' is not the last layer with weights; that is 'fc'");
}

TEST(WithHead, RefusesALayerThatIsAppliedTwice) {
  FunctionalNetwork functional;
  const Block d = block("d", {Dense{.units = 3}, Tanh{}, Dense{.units = 1}});
  const Expression a = functional.input("a", {2});
  const Expression b = functional.input("b", {2});
  const Model model(functional.build({{"on_a", d(a)}, {"on_b", d(b)}}), {.device = "cpu"});
  EXPECT_EQ(message_of([&] { model.with_head("d", Dense{.units = 2}); }),
            "'d' cannot be replaced: 'd_2.dense_1' has the same weights");
  EXPECT_EQ(message_of([&] { model.with_head("d.dense_2", Dense{.units = 2}); }),
            "'d.dense_2' cannot be replaced: 'd_2.dense_2' has the same weights");
}

}  // namespace
}  // namespace linnet::testing
