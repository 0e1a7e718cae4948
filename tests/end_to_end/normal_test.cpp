// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>

#include "data_sets.h"
#include "fixtures.h"
#include "message_of.h"

namespace linnet::testing {
namespace {

/// Noise, what a generator does with it, and an input beside them.
Network generator() {
  FunctionalNetwork functional;
  const Expression noise = functional.normal({3});
  const Expression made = noise | Dense{.units = 2, .name = "g"};
  const Expression x = functional.input("x", {2});
  return functional.build(
      {{"made", made}, {"noise", noise * 1}, {"other", functional.normal({3}) * 1}, {"x", x * 1}});
}

Dataset inputs(std::int64_t count) { return Dataset({{"x", first_input(sums_data(count))}}, {}); }

Model model_of(const Network& network) { return Model(network, {.device = "cpu", .seed = 2}); }

TEST(Normal, APredictionDrawsByThePlaceOfTheSample) {
  Model model = model_of(generator());
  const std::vector<Column> outputs = model.predict_all(inputs(20), 20);
  const std::vector<float> noise = vector_of(outputs[1].data);
  EXPECT_EQ(outputs[1].data.shape(), Shape({20, 3}));
  EXPECT_NE(vector_of(outputs[2].data), noise) << "another noise of the network";
  std::vector<float> sorted = noise;
  std::ranges::sort(sorted);
  EXPECT_EQ(std::ranges::adjacent_find(sorted), sorted.end()) << "each number is another one";
  EXPECT_EQ(vector_of(model.predict_all(inputs(20), 20)[1].data), noise);
  EXPECT_EQ(vector_of(model.predict_all(inputs(20), 7)[1].data), noise) << "in any batch";
  EXPECT_EQ(vector_of(model.value_of("random_normal_1", inputs(20), 6)), noise);
}

/// Trains "g" to make ones of noise.
Objective ones() {
  Objective objective;
  objective.output_losses.resize(1);
  objective.output_losses[0].output = "made";
  objective.output_losses[0].target = 1;
  objective.optimizer = SGD{.learning_rate = 0.05};
  return objective;
}

TEST(Normal, IsDrawnAnewInEachStep) {
  const auto trained = [](std::uint64_t seed) {
    Trainer trainer(model_of(generator()), Objectives{{"g", ones()}}, {.seed = seed});
    std::vector<float> losses;
    // The loss needs no input: data of another shape have as many samples.
    const Dataset any({{"z", records(std::vector<float>(40), {})}}, {});
    for (int epoch = 0; epoch < 100; ++epoch) {
      for (const Batch& batch : trainer.batches(any, {.size = 20})) {
        losses.push_back(trainer.step("g", batch).loss());
      }
    }
    return losses;
  };
  const std::vector<float> losses = trained(1);
  EXPECT_NE(losses[0], losses[1]);
  EXPECT_LT(losses.back(), 0.01) << "the bias becomes 1, the weights 0";
  EXPECT_GT(losses.front(), 0.3);
  EXPECT_EQ(trained(1), losses);
  EXPECT_NE(trained(2), losses);
}

TEST(Normal, AnEvaluationDrawsByThePlaceOfTheSample) {
  Trainer trainer(model_of(generator()), Objectives{{"g", ones()}}, {.seed = 5});
  const auto loss = [&](std::int64_t batch) {
    return trainer.evaluate("g", inputs(20), batch).loss;
  };
  for (const std::int64_t batch : {7, 5, 1}) EXPECT_NEAR(loss(batch), loss(20), 1e-6) << batch;
}

TEST(Normal, IsReadFromItsJson) {
  const Network network = generator();
  const Network read = Network::from_json(network.to_json());
  EXPECT_EQ(read.to_json(), network.to_json());
  EXPECT_EQ(vector_of(model_of(read).predict(inputs(5))),
            vector_of(model_of(network).predict(inputs(5))));
}

TEST(Normal, NamesWhatIsWrong) {
  FunctionalNetwork functional;
  EXPECT_EQ(message_of([&] { functional.normal({0}); }),
            "[random_normal 'random_normal_1'] expected a sample of positive dimensions; got (0)");
  const Expression noise = functional.normal({2});
  EXPECT_EQ(message_of([&] {
              functional.build({{"y", noise * 1}});
            }),
            "expected a network with an input; got none");
}

}  // namespace
}  // namespace linnet::testing
