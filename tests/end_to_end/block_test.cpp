// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "data_sets.h"
#include "fixtures.h"
#include "message_of.h"

namespace linnet::testing {
namespace {

/// Rows of two numbers f(first), f(first + 1), ...
Tensor rows_of(double (*f)(double), int first, std::int64_t rows) {
  std::vector<float> values;
  for (int i = 0; i < static_cast<int>(2 * rows); ++i) {
    values.push_back(static_cast<float>(f(first + i)));
  }
  return records(std::move(values), {2});
}

/// The parameter's element i is sin(first + i).
void set_sines(Model& model, const std::string& name, int first) {
  std::vector<float> values;
  for (int i = 0; i < static_cast<int>(model.parameter_shape(name).elements()); ++i) {
    values.push_back(static_cast<float>(std::sin(first + i)));
  }
  set_parameter(model, name, values);
}

void expect_near(const Tensor& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.elements(), std::ssize(expected));
  for (std::size_t i = 0; i < expected.size(); ++i) {
    EXPECT_NEAR(actual.as<float>()[i], expected[i], 2e-7) << i;
  }
}

/// A discriminator applied to "a" and to "b".
Network discriminator() {
  FunctionalNetwork functional;
  const Block d = block("d", {Dense{.units = 3}, Tanh{}, Dense{.units = 1}});
  const Expression on_a = d(functional.input("a", {2}));
  return functional.build({{"on_a", on_a}, {"on_b", d(functional.input("b", {2}))}});
}

Dataset two_inputs() {
  return Dataset({{"a", rows_of(std::cos, 0, 4)}, {"b", rows_of(std::cos, 3, 4)}}, {});
}

/// Real and fake, as the discriminator of a GAN is told.
Objective real_and_fake() {
  Objective objective;
  objective.output_losses.resize(2);
  objective.output_losses[0].output = "on_a";
  objective.output_losses[0].target = 1;
  objective.output_losses[1].output = "on_b";
  objective.output_losses[1].target = 0;
  for (OutputLoss& loss : objective.output_losses) loss.loss = Loss::binary_cross_entropy;
  objective.optimizer = SGD{.learning_rate = 0.1};
  return objective;
}

TEST(Block, ApplicationsShareTheWeights) {
  const Network network = discriminator();
  EXPECT_EQ(network.parameters(), 2 * 3 + 3 + 3 + 1);
  const Model model(network, {.device = "cpu"});
  EXPECT_EQ(model.parameter_names(),
            (std::vector<std::string>{"d.dense_1.weight", "d.dense_1.bias", "d.dense_2.weight",
                                      "d.dense_2.bias"}));
}

// The numbers are PyTorch's (2.x, in double) of one nn.Sequential called twice.
TEST(Block, GradientsOfAllApplicationsAddUp) {
  Model model(discriminator(), {.device = "cpu"});
  set_sines(model, "d.dense_1.weight", 1);
  set_sines(model, "d.dense_1.bias", 2);
  set_sines(model, "d.dense_2.weight", 3);
  set_sines(model, "d.dense_2.bias", 4);
  Trainer trainer(model, real_and_fake());
  const Dataset data = two_inputs();
  EXPECT_NEAR(trainer.evaluate(data).loss, 1.3635030604518266, 1e-6);
  const State g = trainer.gradients(*trainer.batches(data, {.size = 4}).begin());
  expect_near(g["d.dense_1.weight"],
              {0.01314806, 0.01363638, -0.00735577, 0.00245141, -0.10792706, -0.11384847});
  expect_near(g["d.dense_1.bias"], {-0.0256849, 0.10517981, 0.1993214});
  expect_near(g["d.dense_2.weight"], {0.01131951, -0.06127275, 0.01420313});
  expect_near(g["d.dense_2.bias"], {-0.16487746});
}

// Likewise.
TEST(Block, MayFollowItself) {
  FunctionalNetwork functional;
  const Block g = block("g", {Dense{.units = 2}, Tanh{}});
  Model model(functional.build({{"y", g(g(functional.input("x", {2})))}}), {.device = "cpu"});
  set_sines(model, "g.dense_1.weight", 5);
  set_sines(model, "g.dense_1.bias", 6);
  Trainer trainer(model, {.loss = Loss::mse});
  const Dataset data = data_of(rows_of(std::cos, 0, 4), rows_of(std::cos, 3, 4));
  EXPECT_NEAR(trainer.evaluate(data).loss, 1.4270253404309399, 1e-6);
  const State gradients = trainer.gradients(*trainer.batches(data, {.size = 4}).begin());
  expect_near(gradients["g.dense_1.weight"], {-0.86428047, 0.49329169, -0.3311684, 0.49310107});
  expect_near(gradients["g.dense_1.bias"], {0.41079368, 0.2886844});
}

TEST(Block, RunningStatisticsFollowEachApplication) {
  for (const bool added : {false, true}) {
    FunctionalNetwork functional;
    const Block norm = block("n", {BatchNorm{}});
    const Expression on_a = norm(functional.input("a", {2}));
    const Expression on_b = norm(functional.input("b", {2}));
    Model model(functional.build({{"on_a", added ? on_a + on_b : on_a}, {"on_b", on_b * 1.0}}),
                {.device = "cpu"});
    Trainer trainer(model, real_and_fake());
    const Dataset data = two_inputs();
    for (const Batch& batch : trainer.batches(data, {.size = 4})) trainer.step(batch);
    const Tensor mean = model.parameter("n.batch_norm_1.running_mean");
    for (std::size_t column = 0; column < 2; ++column) {
      double expected = 0;
      for (const char* input : {"a", "b"}) {
        double sum = 0;
        for (std::size_t row = 0; row < 4; ++row) {
          sum += data.column(input).data.as<float>()[2 * row + column];
        }
        expected = 0.9 * expected + 0.1 * sum / 4;
      }
      EXPECT_NEAR(mean.as<float>()[column], expected, 1e-6) << added;
    }
  }
}

TEST(Block, IsReadFromItsJson) {
  const Network network = discriminator();
  const Network read = Network::from_json(network.to_json());
  EXPECT_EQ(read.to_json(), network.to_json());
  EXPECT_EQ(read.parameters(), network.parameters());
  const auto trained = [](const Network& of) {
    Trainer trainer(Model(of, {.device = "cpu", .seed = 4}), real_and_fake());
    trainer.fit(two_inputs(), {.epochs = 3, .batch = 3});
    return trainer.state();
  };
  EXPECT_TRUE(same_bits(trained(read), trained(network)));
}

TEST(Block, ErrorsNameTheBlock) {
  FunctionalNetwork functional;
  const Expression x = functional.input("x", {2});
  const Expression wide = functional.input("wide", {5});
  const Block d = block("d", {Dense{.units = 3}});
  static_cast<void>(d(x));
  EXPECT_EQ(message_of([&] { d(wide); }),
            "[block 'd'] expected inputs for the shared weight 'd.dense_1.weight' of (3, 2); this "
            "input needs (3, 5)");
  EXPECT_EQ(message_of([&] { block("d", {Dense{.units = 3}})(x); }),
            "expected different names of blocks; two are called 'd'");
  EXPECT_EQ(message_of([&] { block("", {ReLU{}})(x); }), "expected a name for a block; got none");
  EXPECT_EQ(message_of([&] { block("e", {})(x); }), "expected at least one layer in the block 'e'");
}

}  // namespace
}  // namespace linnet::testing
