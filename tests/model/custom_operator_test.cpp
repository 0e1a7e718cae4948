// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>
#include <linnet/custom_operator.h>
#include <linnet/layers.h>
#include <linnet/model.h>
#include <linnet/trainer.h>

#include <functional>
#include <vector>

#include "data_sets.h"
#include "message_of.h"
#include "ops/custom/sum_and_difference_test.h"
#include "temporary_folder.h"

namespace linnet::testing {
namespace {

/// The gradient is the same operator, of the gradients: where the loss depends on both outputs.
class Differentiable : public SumAndDifference {
 public:
  using SumAndDifference::SumAndDifference;
  std::vector<std::optional<Expression>> gradient(
      std::span<const Expression> /*inputs*/, std::span<const Expression> /*outputs*/,
      std::span<const std::optional<Expression>> by) const override {
    const std::vector<Expression> both =
        apply(std::make_shared<Differentiable>(scale_), {by[0].value(), by[1].value()});
    return {both[0], both[1]};
  }
};

Dataset blobs(std::int64_t count) {
  std::vector<float> x;
  std::vector<std::int32_t> y;
  for (std::int64_t i = 0; i < count * 6; ++i) {
    x.push_back(static_cast<float>(i * 37 % 101) / 50.0F - 1);
  }
  for (std::int64_t i = 0; i < count; ++i) y.push_back(static_cast<std::int32_t>(i % 3));
  return data_of(records(std::move(x), {6}), records(std::move(y)));
}

/// a + b and a - b of one input's halves.
CustomLayer layer_of(
    const std::function<std::vector<Expression>(const Expression&, const Expression&)>& both) {
  return {"both", [both](const Expression& x, LayerWeights&) {
            const std::int64_t half = x.shape()[0] / 2;
            return concat(both(slice(x, 0, 0, half), slice(x, 0, half, 2 * half)), 0);
          }};
}

Network network_of(const CustomLayer& layer) {
  return Network({6}, {Dense{.units = 8}, layer, Tanh{}, Dense{.units = 3}});
}

Network own_network() {
  return network_of(layer_of([](const Expression& a, const Expression& b) {
    return apply(std::make_shared<Differentiable>(), {a, b});
  }));
}

const OperatorReaders kReaders = {{"test.sum_and_difference", [](const std::string& settings) {
                                     return std::make_shared<Differentiable>(std::stoi(settings));
                                   }}};

TEST(CustomOperators, TrainAsTheOperatorsThatTheyStandFor) {
  const Dataset data = blobs(64);
  const TrainingOptions options{.epochs = 3, .batch = 16, .optimizer = SGD{.learning_rate = 0.1}};
  Model own(own_network(), {.threads = 2});
  Model built_in(network_of(layer_of([](const Expression& a, const Expression& b) {
                   return std::vector<Expression>{a + b, a - b};
                 })),
                 {.threads = 1});
  const double loss = train(own, data, options).epochs.back().train.loss;
  EXPECT_EQ(loss, train(built_in, data, options).epochs.back().train.loss);
  EXPECT_TRUE(same_bits(own.predict(data), built_in.predict(data)));
}

TEST(CustomOperators, ComeBackFromAModelFile) {
  const TemporaryFolder folder;
  const Dataset data = blobs(16);
  Model own(own_network());
  own.save(folder.path() / "own.safetensors");
  Model loaded = Model::load(folder.path() / "own.safetensors", {.operators = kReaders});
  EXPECT_TRUE(same_bits(own.predict(data), loaded.predict(data)));
  EXPECT_THROW(Model::load(folder.path() / "own.safetensors"), DataError);
  EXPECT_NE(message_of([&] { Model::load(folder.path() / "own.safetensors"); })
                .find("it needs the custom operator 'test.sum_and_difference', which "
                      "ModelOptions::operators does not name"),
            std::string::npos);
}

TEST(CustomOperators, AreChecked) {
  check_operator(std::make_shared<Differentiable>(3), {{4, 5}, {4, 5}});
  EXPECT_EQ(message_of([] {
              check_operator(std::make_shared<Differentiable>(), {{4}, {5}});
            }),
            "[test.sum_and_difference 'checked'] expected two equal shapes; got (4) and (5)");
}

/// Right in its definition alone.
class Wrong final : public Differentiable {
 public:
  enum class Fault { kernel, unwritten, gradient };
  explicit Wrong(Fault fault) : fault_(fault) {}
  CpuKernel cpu(std::span<const Shape> inputs, std::span<const Shape> outputs) const override {
    CpuKernel kernel = Differentiable::cpu(inputs, outputs);
    if (fault_ == Fault::kernel) {
      kernel.stages.push_back(
          {1, [](const KernelArrays& arrays, int) { arrays.output(1)[2] += 1e-3F; }});
    }
    if (fault_ == Fault::unwritten) kernel.stages.pop_back();
    return kernel;
  }
  std::vector<std::optional<Expression>> gradient(
      std::span<const Expression> inputs, std::span<const Expression> outputs,
      std::span<const std::optional<Expression>> by) const override {
    auto right = Differentiable::gradient(inputs, outputs, by);
    if (fault_ == Fault::gradient) right[1] = *right[1] * 1.001;
    return right;
  }

 private:
  Fault fault_;
};

TEST(CustomOperators, AWrongOneIsFound) {
  const auto sentence_of = [](Wrong::Fault fault) {
    return message_of([&] { check_operator(std::make_shared<Wrong>(fault), {{3}, {3}}); });
  };
  EXPECT_TRUE(sentence_of(Wrong::Fault::kernel)
                  .starts_with("[test.sum_and_difference] element 2 of output 1 is "));
  EXPECT_TRUE(sentence_of(Wrong::Fault::unwritten)
                  .starts_with("[test.sum_and_difference] element 0 of output 0 is nan"));
  EXPECT_TRUE(
      sentence_of(Wrong::Fault::gradient)
          .starts_with("[test.sum_and_difference] the gradient by element 0 of input 1 is "));
}

}  // namespace
}  // namespace linnet::testing
