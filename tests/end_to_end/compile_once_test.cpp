// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <cmath>

#include "counting_backend.h"
#include "fixtures.h"
#include "model/model_state.h"
#include "networks/networks.h"

namespace linnet::testing {
namespace {

class CompileOnce : public ::testing::Test {
 protected:
  /// Returns what `call` prepares and allocates.
  template <class F>
  Counts counts_of(const F& call) {
    *counts_ = {};
    call();
    return *counts_;
  }

  std::shared_ptr<Counts> counts_ = std::make_shared<Counts>();
  Splits digits_ = datasets::digits(130, 60, 5);
  Model model_{
      make_state(workloads::mnist_cnn(),
                 std::make_unique<CountingBackend>(open_backend({.device = "cpu", .threads = 2}),
                                                   counts_),
                 1)};
};

constexpr Counts kNothing{};

TEST_F(CompileOnce, ASecondPredictionCompilesAndAllocatesNothing) {
  EXPECT_EQ(counts_of([&] { model_.predict(digits_.train, 100); }).programs, 2U);  // 100 and 30
  EXPECT_EQ(counts_of([&] { model_.predict(digits_.train, 100); }), kNothing);
  EXPECT_EQ(counts_of([&] { model_.predict_probabilities(digits_.train, 100); }).programs, 2U);
  EXPECT_EQ(counts_of([&] { model_.predict_probabilities(digits_.train, 100); }), kNothing);
  EXPECT_EQ(counts_of([&] { model_.predict(digits_.train, 100); }), kNothing);
}

TEST_F(CompileOnce, PredictionsOfManySizesStay) {
  const auto sizes = [&] {
    for (std::int64_t count = 1; count <= 10; ++count) model_.predict(digits_.test.rows(0, count));
  };
  EXPECT_EQ(counts_of(sizes).programs, 10U);
  EXPECT_EQ(counts_of(sizes), kNothing);
}

TEST_F(CompileOnce, ASecondEvaluationCompilesAndAllocatesNothing) {
  const auto smoothed = [&] {
    evaluate(model_, digits_.test, Loss::automatic, 25, {.label_smoothing = 0.1});
  };
  EXPECT_EQ(counts_of(smoothed).programs, 2U);
  EXPECT_EQ(counts_of(smoothed), kNothing);
  // Another loss is another program, in the memory that is there, unless it needs more.
  const auto plain = [&] { evaluate(model_, digits_.test, {}, 25); };
  const Counts other = counts_of(plain);
  EXPECT_EQ(other.programs, 2U);
  EXPECT_LE(other.allocations, 1U);
  EXPECT_EQ(counts_of(plain), kNothing);
  EXPECT_EQ(counts_of(smoothed), kNothing);
}

TEST_F(CompileOnce, EvaluationsSeeWeightsThatChange) {
  const Network network({12, 12, 2}, {Conv2d{.filters = 16, .padding = Padding2d::same()}, ReLU{},
                                      Flatten{}, Dense{.units = 3}});  // keeps packed weights
  const Dataset data({{"x", Tensor(std::vector<float>(2 * 288, 0.5F), {2, 12, 12, 2})}},
                     {{"y", Tensor(std::vector<std::int32_t>{0, 2})}});
  Model model(network, {.device = "cpu", .threads = 2});
  double before = evaluate(model, data, Loss::automatic, 2).loss;
  EXPECT_EQ(evaluate(model, data, Loss::automatic, 2).loss, before);
  const auto expect_new = [&](const std::string& what) {
    const double after = evaluate(model, data, Loss::automatic, 2).loss;
    Model fresh = model.copy();
    EXPECT_EQ(after, evaluate(fresh, data, Loss::automatic, 2).loss) << what;
    EXPECT_NE(after, before) << what;
    before = after;
  };
  Tensor weight = model.parameter("conv2d_1.weight");
  for (float& w : weight.as_writable<float>()) w += 0.05F;
  model.set_parameter("conv2d_1.weight", weight);
  expect_new("set_parameter");
  Trainer trainer(model, {.optimizer = SGD{.learning_rate = 0.1}});
  trainer.fit(data, {.epochs = 1, .batch = 2});
  expect_new("fit");
  for (const Batch& batch : trainer.batches(data, {.size = 2})) trainer.step(batch);
  expect_new("step");
}

TEST_F(CompileOnce, EvaluationsKeepPackedWeights) {
  const Conv2d conv{.filters = 16, .padding = Padding2d::same()};
  const Network network({12, 12, 16}, {conv, ReLU{}, conv, ReLU{}, Flatten{}, Dense{.units = 3}});
  const Dataset data({{"x", Tensor(std::vector<float>(2 * 2304, 0.5F), {2, 12, 12, 16})}},
                     {{"y", Tensor(std::vector<std::int32_t>{0, 2})}});
  Model model(network, {.device = "cpu", .threads = 2});
  const auto loss = [&] { return evaluate(model, data, Loss::automatic, 2).loss; };
  const double before = loss();
  // Written where nobody is told: what was packed once is read, the convolution's weights no more.
  const ParameterSpec& spec = model.state().definition().parameters[0];
  ASSERT_EQ(spec.name, "conv2d_1.weight");
  const Tensor kept = model.parameter(spec.name);
  Tensor other = kept.clone();
  for (float& w : other.as_writable<float>()) w += 0.05F;
  const auto write = [&](const Tensor& values) {
    model.state().backend->upload(*model.state().parameters, spec.offset, values.bytes());
  };
  write(other);
  EXPECT_EQ(loss(), before);
  write(kept);
  model.set_parameter(spec.name, other);
  EXPECT_NE(loss(), before);
}

TEST_F(CompileOnce, PassesThatShareAProgramReadTheirOwnData) {
  // Validation and test set have equal sizes, and so has the part that is held out.
  const Splits digits = datasets::digits(60, 40, 7);
  const Splits others = datasets::digits(20, 20, 8);
  Trainer trainer(model_, {.optimizer = Adam{.learning_rate = 0.001}});
  const EpochReport report =
      trainer
          .fit(digits.train,
               {.epochs = 1, .batch = 64, .validation = others.train, .test = others.test})
          .epochs.back();
  EXPECT_NE(report.validation.loss, report.test.loss);
  EXPECT_EQ(report.validation.loss, trainer.evaluate(others.train, 64).loss);
  EXPECT_EQ(report.test.loss, trainer.evaluate(others.test, 64).loss);
  EXPECT_EQ(report.validation.loss, evaluate(model_, others.train, Loss::automatic, 64).loss);
  const auto steps = [&] {
    for (const Batch& batch : trainer.batches(digits.train, {.size = 60})) trainer.step(batch);
  };
  steps();
  trainer.fit(digits.test, {.epochs = 1, .batch = 40});  // as many as no step has
  trainer.fit(others.train.rows(0, 20), {.epochs = 1, .batch = 20});
  steps();
  EXPECT_TRUE(std::isfinite(trainer.evaluate(digits.train).loss));
}

TEST_F(CompileOnce, ASecondFitCompilesAndAllocatesNothing) {
  Trainer trainer(model_, {.optimizer = Adam{.learning_rate = 0.001}});
  const FitOptions options{.epochs = 1, .batch = 50, .validation = digits_.test};
  EXPECT_EQ(counts_of([&] { trainer.fit(digits_.train, options); }).programs, 4U);
  EXPECT_EQ(counts_of([&] { trainer.fit(digits_.train, options); }), kNothing);
  EXPECT_EQ(counts_of([&] { trainer.evaluate(digits_.test, 50); }), kNothing);
  trainer.fit(digits_.train, {.epochs = 1, .batch = 30});
  EXPECT_EQ(counts_of([&] { trainer.fit(digits_.train, options); }), kNothing);
}

TEST_F(CompileOnce, StepsCompileAndAllocateOnce) {
  Trainer trainer(model_, {.optimizer = Adam{.learning_rate = 0.001}});
  const auto epoch = [&] {
    for (const Batch& batch : trainer.batches(digits_.train, {.size = 26})) trainer.step(batch);
  };
  EXPECT_EQ(counts_of(epoch).programs, 1U);
  EXPECT_EQ(counts_of(epoch), kNothing);
}

TEST_F(CompileOnce, ATrainersProgramsGoWithIt) {
  for (int i = 0; i < 3; ++i) {
    const Counts counts =
        counts_of([&] { train(model_, digits_.train, {.epochs = 1, .batch = 65}); });
    EXPECT_EQ(counts.programs, 1U);
  }
}

}  // namespace
}  // namespace linnet::testing
