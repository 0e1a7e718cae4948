// SPDX-License-Identifier: Apache-2.0
#include <dlpack/dlpack.h>
#include <gtest/gtest.h>
#include <linnet/predictor.h>

#include <algorithm>
#include <cmath>
#include <thread>

#include "backend/cpu/cpu_backend.h"
#include "fixtures.h"
#include "message_of.h"
#include "model/model_state.h"
#include "model/predictor_state.h"

namespace linnet::testing {
namespace {

/// Every operator that keeps packed weights: a convolution with batch norm and a residual, one with
/// pooling, one alone, and a recurrent layer.
Network packing_layers() {
  return Network({12, 12, 2},
                 {Conv2d{.filters = 16, .padding = Padding2d::same()}, BatchNorm{}, ReLU{},
                  Residual{
                      .body = {Conv2d{.filters = 16, .padding = Padding2d::same()}, BatchNorm{}}},
                  ReLU{}, Conv2d{.filters = 8, .padding = Padding2d::same()}, ReLU{}, MaxPool2d{},
                  Conv2d{.filters = 9}, Reshape{{16, 9}}, GRU{.units = 6}, Dense{.units = 3}});
}

std::vector<float> waves(std::size_t count, double step) {
  std::vector<float> values(count);
  for (std::size_t i = 0; i < count; ++i) {
    values[i] = static_cast<float>(std::sin(step * static_cast<double>(i)));
  }
  return values;
}

constexpr std::size_t kSample = 12 * 12 * 2;

std::vector<float> outputs_of(const Predictor& predictor, const std::vector<float>& samples) {
  const auto count = static_cast<std::int64_t>(samples.size() / kSample);
  std::vector<float> outputs(samples.size() / kSample * 3);
  predictor.predict(Tensor::borrow(samples, {count, 12, 12, 2}),
                    Tensor::borrow(outputs, {count, 3}));
  return outputs;
}

/// Returns what a predictor answers that has kept nothing.
std::vector<float> fresh_outputs(Model& model, const std::vector<float>& samples) {
  return outputs_of(Predictor(model), samples);
}

TEST(Predictor, KeepsPackedWeightsOfSmallBatches) {
  Model model(packing_layers(), {.device = "cpu", .threads = 2});
  const auto private_bytes = [&](bool fixed_weights) {
    const Graph graph = prediction_step(model.state().definition(), DType::f32, 2,
                                        OutputForm::plain, supports_of(*model.state().backend));
    return model.state().backend->prepare(graph, {.fixed_weights = fixed_weights})->private_bytes();
  };
  // The convolutions' weights, once each, but for padding.
  EXPECT_GE(private_bytes(true), private_bytes(false) + sizeof(float) * (9 * 2 * 16 + 9 * 16 * 16));
}

/// Samples go through small dense layers block by block, with the bits that each has alone.
TEST(Predictor, SmallDenseLayersAreAChain) {
  constexpr std::int64_t kFeatures = 40;
  constexpr std::int64_t kSamples = 75;
  Model model(Network({kFeatures}, {Dense{.units = 100}, ReLU{}, Dense{.units = 70}, Tanh{},
                                    Dense{.units = 50}}),
              {.device = "cpu", .threads = 2});
  const Graph graph = prediction_step(model.state().definition(), DType::f32, kSamples,
                                      OutputForm::plain, supports_of(*model.state().backend));
  const auto program = model.state().backend->prepare(graph, {.fixed_weights = true});
  const std::vector<std::string>& chains = program->plan().chains;
  EXPECT_EQ(std::ranges::count_if(chains, [](const auto& chain) { return !chain.empty(); }), 4);
  const std::vector<float> samples = waves(kSamples * kFeatures, 0.3);
  const Predictor predictor(model);
  const Tensor all = predictor.predict(Tensor::borrow(samples, {kSamples, kFeatures}));
  for (std::int64_t i = 0; i < kSamples; ++i) {
    const std::vector<float> sample(samples.begin() + i * kFeatures,
                                    samples.begin() + (i + 1) * kFeatures);
    const Tensor one = predictor.predict(Tensor::borrow(sample, {1, kFeatures}));
    const auto units = static_cast<std::ptrdiff_t>(one.elements());
    EXPECT_TRUE(std::ranges::equal(one.as<float>(), all.as<float>().subspan(i * units, units)))
        << i;
  }
}

TEST(Predictor, SeesWeightsThatChange) {
  Model model(packing_layers(), {.device = "cpu", .threads = 2});
  const Predictor predictor(model);
  const std::vector<float> samples = waves(2 * kSample, 0.37);
  std::vector<float> before = outputs_of(predictor, samples);
  EXPECT_EQ(before, outputs_of(predictor, samples));
  const auto expect_new = [&](const std::string& what) {
    const std::vector<float> after = outputs_of(predictor, samples);
    EXPECT_EQ(after, fresh_outputs(model, samples)) << what;
    EXPECT_NE(after, before) << what;
    before = after;
  };
  for (const std::string& name : model.parameter_names()) {
    std::vector<float> values = parameter(model, name);
    for (std::size_t i = 0; i < values.size(); ++i) {
      values[i] += i % 2 == 0 ? 0.02F : -0.01F;
    }
    set_parameter(model, name, values);
    expect_new(name);
  }
  const std::vector<std::int32_t> labels{0, 1, 2, 0, 1, 2, 0, 1};
  train(model, data_of(records(waves(8 * kSample, 0.11), {12, 12, 2}), records(labels)),
        {.epochs = 1, .batch = 4, .optimizer = SGD{.learning_rate = 0.1}});
  expect_new("training");
}

TEST(Predictor, SeesWeightsThatOthersWrite) {
  Model model(packing_layers(), {.device = "cpu", .threads = 2});
  const Predictor predictor(model);
  const std::vector<float> samples = waves(kSample, 0.53);
  std::vector<float> before = outputs_of(predictor, samples);
  DLManagedTensor* tensor = to_dlpack(model.parameter_memory(model.parameter_names().front()));
  for (int write = 0; write < 2; ++write) {
    static_cast<float*>(tensor->dl_tensor.data)[0] += 1;
    const std::vector<float> after = outputs_of(predictor, samples);
    EXPECT_NE(after, before);
    EXPECT_EQ(after, fresh_outputs(model, samples));
    before = after;
  }
  tensor->deleter(tensor);
}

TEST(Predictor, ThreadsPredictAtTheSameTime) {
  for (const int threads : {1, 2}) {
    Model model(packing_layers(), {.device = "cpu", .threads = threads});
    const Predictor predictor(model);
    std::vector<std::thread> callers;
    std::vector<int> wrong(4, -1);
    for (std::size_t caller = 0; caller < wrong.size(); ++caller) {
      const std::vector<float> samples =
          waves((1 + caller % 2) * kSample, 0.2 + 0.1 * static_cast<double>(caller));
      callers.emplace_back([&, caller, samples, expected = fresh_outputs(model, samples)] {
        wrong[caller] = 0;
        for (int i = 0; i < 50; ++i) {
          wrong[caller] += outputs_of(predictor, samples) != expected ? 1 : 0;
        }
      });
    }
    for (std::thread& caller : callers) caller.join();
    EXPECT_EQ(wrong, std::vector<int>(4, 0)) << threads << " threads";
  }
}

// y = (a + b, a - b), of which `a` is named first.
Model sum_and_difference() {
  FunctionalNetwork f;
  const Expression a = f.input("a", {2});
  const Expression b = f.input("b", {2});
  return Model(f.build({{"sum", a + b}, {"difference", a - b}}), {.device = "cpu", .threads = 1});
}

TEST(Predictor, TakesSeveralInputsByName) {
  const Model model = sum_and_difference();
  const Predictor predictor(model);
  const Tensor a(std::vector<std::uint8_t>{10, 20, 30, 40}, {2, 2});
  const Tensor b(std::vector<float>{1, 2, 3, 4}, {2, 2});
  const State all = predictor.predict(State({{"b", b}, {"a", a}}));
  const Tensor sum(std::vector<float>{11, 22, 33, 44}, {2, 2});
  const Tensor difference(std::vector<float>{9, 18, 27, 36}, {2, 2});
  EXPECT_TRUE(same_bits(all, State({{"sum", sum}, {"difference", difference}})));
  const Tensor one(DType::f32, {2, 2});
  predictor.predict(State({{"a", a}, {"b", b}}), State({{"difference", one}}));
  EXPECT_TRUE(same_bits(one, difference));
}

TEST(Predictor, NamesInputsAndOutputsThatDoNotFit) {
  const Model model = sum_and_difference();
  const Predictor predictor(model);
  const Tensor two(DType::f32, {2, 2});
  const auto error = [&](const std::vector<State::Entry>& in,
                         const std::vector<State::Entry>& out) {
    return message_of([&] { predictor.predict(State(in), State(out)); });
  };
  EXPECT_EQ(message_of([&] { predictor.predict(two); }),
            "expected a network of one input; it has 2: a, b");
  EXPECT_EQ(error({{"a", two}}, {}), "the network has inputs 'a', 'b'; 'b' is missing");
  EXPECT_EQ(error({{"a", two}, {"b", two}, {"c", two}}, {}),
            "the network has no input 'c'; it has 'a', 'b'");
  EXPECT_EQ(error({{"a", two}, {"b", two}}, {{"y", two}}),
            "the network has no output 'y'; it has 'sum', 'difference'");
  EXPECT_EQ(error({{"a", two}, {"b", two.rows(0, 1)}}, {}), "'a' has 2 samples, 'b' has 1");
  EXPECT_EQ(error({{"a", two}, {"b", Tensor(DType::u8, {2, 2})}}, {}),
            "expected samples 'b' in f32; got u8");
  EXPECT_EQ(error({{"a", two}, {"b", two}}, {{"difference", two.rows(0, 1)}}),
            "2 samples of (2) need memory for outputs 'difference' of f32 (2, 2); got f32 (1, 2)");
}

}  // namespace
}  // namespace linnet::testing
