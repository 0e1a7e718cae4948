// SPDX-License-Identifier: Apache-2.0
#include <dlpack/dlpack.h>
#include <gtest/gtest.h>
#include <linnet/dlpack.h>
#include <linnet/predictor.h>

#include <cmath>
#include <thread>

#include "backend/cpu/cpu_backend.h"
#include "fixtures.h"
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
  std::vector<float> outputs(samples.size() / kSample * 3);
  predictor.predict(samples, outputs);
  return outputs;
}

/// What a predictor answers that has kept nothing.
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
        {.epochs = 1, .batch = 4, .optimizer = sgd(0.1)});
  expect_new("training");
}

TEST(Predictor, SeesWeightsThatOthersWrite) {
  Model model(packing_layers(), {.device = "cpu", .threads = 2});
  const Predictor predictor(model);
  const std::vector<float> samples = waves(kSample, 0.53);
  std::vector<float> before = outputs_of(predictor, samples);
  DLManagedTensor* tensor = parameter_to_dlpack(model, model.parameter_names().front());
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

}  // namespace
}  // namespace linnet::testing
