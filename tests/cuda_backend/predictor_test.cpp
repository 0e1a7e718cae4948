// SPDX-License-Identifier: Apache-2.0
// Resident inference on the CPU and on the device.
#include <linnet/predictor.h>

#include <cmath>
#include <cstdint>
#include <memory>
#include <optional>
#include <thread>

#include "cuda_model.h"
#include "message_of.h"
#include "model/model_state.h"
#include "small_trainings.h"

namespace linnet::testing {
namespace {

class OnBoth : public ::testing::TestWithParam<const char*> {
 protected:
  static Model on(const std::string& device) {
    if (device == "cuda") return cuda_model(affine_network());
    return Model(affine_network(), {.device = "cpu", .threads = 1});
  }

  const MachineGuard machine_;
  Model model_ = affine(on(GetParam()));
  Predictor predictor_{model_};
};
INSTANTIATE_TEST_SUITE_P(Predictor, OnBoth, ::testing::Values("cpu", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

using Floats = std::vector<float>;

/// Samples of two numbers.
template <class T>
Floats predict(const Predictor& predictor, const std::vector<T>& in) {
  const auto count = static_cast<std::int64_t>(in.size() / 2);
  Floats out(in.size());
  predictor.predict(Tensor::borrow(in, {count, 2}), Tensor::borrow(out, {count, 2}));
  return out;
}

/// Writes memory of either device.
void write(Tensor tensor, const Floats& values) {
  ASSERT_EQ(tensor.bytes().size(), sizeof(float) * values.size());
  copy(tensor.writable_bytes().data(), values.data(), tensor.bytes().size());
}
Floats values_of(const Tensor& tensor) {
  const Tensor host = tensor.to_host();
  return {host.as<float>().begin(), host.as<float>().end()};
}

/// Returns what affine() answers to such samples.
Floats affine_of(const Floats& samples) {
  Floats outputs;
  for (std::size_t i = 0; i < samples.size(); i += 2) {
    outputs.push_back(10 + samples[i] + 2 * samples[i + 1]);
    outputs.push_back(3 * samples[i] - samples[i + 1]);
  }
  return outputs;
}

TEST_P(OnBoth, PredictsFloatsAndBytes) {
  EXPECT_EQ(predict(predictor_, Floats{1, 2, -1, 0.5F}), (Floats{15, 1, 10, -3.5F}));
  EXPECT_EQ(predict(predictor_, std::vector<std::uint8_t>{200, 1}), (Floats{212, 599}));
  EXPECT_EQ(predictor_.input_shape(), (Shape{2}));
  EXPECT_EQ(predictor_.output_shape(), (Shape{2}));
}

TEST_P(OnBoth, MemoryThatIsNotAlignedDoes) {
  Floats in{0, 1, 2};
  Floats out{7, 7, 7};
  predictor_.predict(Tensor::borrow(std::span(in).subspan(1), {1, 2}),
                     Tensor::borrow(std::span(out).subspan(1), {1, 2}));
  EXPECT_EQ(out, (Floats{7, 15, 1}));
}

TEST_P(OnBoth, ReturnsOutputsOfTheirOwn) {
  const Tensor outputs = predictor_.predict(Tensor(Floats{1, 2, -1, 0.5F}, {2, 2}));
  EXPECT_EQ(predict(predictor_, Floats{0, 0, 0, 0}), (Floats{10, 0, 10, 0}));
  EXPECT_TRUE(same_bits(outputs, Tensor(Floats{15, 1, 10, -3.5F}, {2, 2})));
}

TEST_P(OnBoth, SeesTheModelsNewWeights) {
  predict(predictor_, Floats{1, 1});
  set_parameter(model_, "dense_1.bias", {0, 100});
  EXPECT_EQ(predict(predictor_, Floats{1, 1}), (Floats{3, 102}));
}

/// Weights and bias that a batch norm is folded into are kept until the weights change.
TEST_P(OnBoth, FoldsBatchNormsAnewForNewWeights) {
  const Network network({1, 1, 2},
                        {Conv2d{.filters = 2, .kernel = 1, .bias = false, .name = "conv"},
                         BatchNorm{.name = "norm"}, ReLU{}, Flatten{}});
  Model model = std::string(GetParam()) == "cuda" ? cuda_model(network)
                                                  : Model(network, {.device = "cpu", .threads = 1});
  set_parameter(model, "conv.weight", {1, 2, 3, -1});
  set_parameter(model, "norm.bias", {10, 0});
  set_parameter(model, "norm.running_var", {1 - 1e-5F, 1 - 1e-5F});
  const Predictor predictor(model);
  const auto predicted = [&] {
    const Tensor y = predictor.predict(Tensor(Floats{1, 2, -1, -20}, {2, 1, 1, 2}));
    return std::vector<double>(y.as<float>().begin(), y.as<float>().end());
  };
  const auto expect = [&](const std::vector<double>& expected) {
    const std::vector<double> found = predicted();
    ASSERT_EQ(found.size(), expected.size());
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], expected[i], 1e-4) << i;
  };
  expect({15, 1, 0, 17});
  expect({15, 1, 0, 17});
  set_parameter(model, "conv.weight", {2, 4, 6, -2});
  expect({20, 2, 0, 34});
  set_parameter(model, "norm.running_mean", {0, 2});
  expect({20, 0, 0, 32});
}

TEST_P(OnBoth, RunsWhatLiesOnTheDevice) {
  const Floats in{1, 2, 3, 4};
  const Tensor output = predictor_.output(2);
  write(predictor_.input(2), in);
  predictor_.run(2);
  EXPECT_EQ(values_of(output), (Floats{15, 1, 21, 5}));
  predict(predictor_, Floats{0, 0, 0, 0});
  predict(predictor_, Floats{1, 1});
  write(predictor_.input(2), in);
  predictor_.run(2);
  predictor_.wait();
  EXPECT_EQ(predictor_.output(2).bytes().data(), output.bytes().data());
  EXPECT_EQ(copy_of(reinterpret_cast<const float*>(output.bytes().data()), 4),
            (Floats{15, 1, 21, 5}));
}

TEST_P(OnBoth, ItsMemoryIsTheDevices) {
  const Device device{model_.device() == "cpu" ? Device::Kind::cpu : Device::Kind::cuda};
  for (const Tensor& tensor : {predictor_.input(3), predictor_.output(3)}) {
    EXPECT_EQ(tensor.device(), device);
    EXPECT_EQ(tensor.shape(), (Shape{3, 2}));
    EXPECT_EQ(tensor.dtype(), DType::f32);
    EXPECT_FALSE(tensor.read_only());
    EXPECT_TRUE(tensor.owns_memory());
  }
  EXPECT_EQ(predictor_.input(3, DType::u8).dtype(), DType::u8);
  EXPECT_EQ(predictor_.output(3, DType::u8).dtype(), DType::f32);
}

TEST_P(OnBoth, ReadsOtherMemoryUntilToldElse) {
  const Floats values{1, 2};
  const Backend& backend = *model_.state().backend;
  std::shared_ptr<Buffer> other = backend.allocate(sizeof(float) * 2);
  backend.upload(*other, 0, std::as_bytes(std::span(values)));
  predictor_.set_input(Tensor::borrow(DType::f32, {1, 2}, {other->data(), other->bytes()}, other,
                                      predictor_.input(1).device()));
  predictor_.run(1);
  EXPECT_EQ(values_of(predictor_.output(1)), (Floats{15, 1}));
  EXPECT_EQ(other.use_count(), 2);
  predictor_.set_input(predictor_.input(1));
  EXPECT_EQ(other.use_count(), 1);
  write(predictor_.input(1), {0, 1});
  predictor_.run(1);
  EXPECT_EQ(values_of(predictor_.output(1)), (Floats{12, -1}));
}

TEST_P(OnBoth, AnInputIsOfItsSizeAndTypeAlone) {
  write(predictor_.input(1), {0, 1});
  const Tensor other = predictor_.output(2, DType::u8);  // memory of the device
  write(other, {1, 2, 3, 4});
  predictor_.set_input(other);
  predictor_.run(1);
  predictor_.run(2);
  EXPECT_EQ(values_of(predictor_.output(1)), (Floats{12, -1}));
  EXPECT_EQ(values_of(predictor_.output(2)), (Floats{15, 1, 21, 5}));
}

TEST_P(OnBoth, ParametersAreTheMemoryThatPredictionsRead) {
  const Floats in{1, 2};
  EXPECT_EQ(predict(predictor_, in), (Floats{15, 1}));
  const Tensor bias = model_.parameter_memory("dense_1.bias");
  EXPECT_EQ(values_of(bias), (Floats{10, 0}));
  write(bias, {20, 5});
  EXPECT_EQ(predict(predictor_, in), (Floats{25, 6}));
  EXPECT_EQ(values_of(model_.weights()["dense_1.bias"]), (Floats{20, 5}));
}

TEST_P(OnBoth, TensorsOutliveTheModel) {
  std::optional<Model> model(affine(on(GetParam())));
  std::optional<Predictor> predictor(std::in_place, *model);
  const Tensor weight = model->parameter_memory("dense_1.weight");
  const Tensor input = predictor->input(1);
  write(input, {1, 2});
  predictor->run(1);
  const Tensor output = predictor->output(1);
  predictor.reset();
  model.reset();
  EXPECT_EQ(values_of(output), (Floats{15, 1}));
  EXPECT_EQ(values_of(input), (Floats{1, 2}));
  EXPECT_EQ(values_of(weight), (Floats{1, 2, 3, -1}));
}

TEST_P(OnBoth, ErrorsNameTheShapes) {
  const auto error = [&](const Tensor& samples, const Tensor& outputs) {
    return message_of([&] { predictor_.predict(samples, outputs); });
  };
  const Tensor one(DType::f32, {1, 2});
  EXPECT_EQ(error(Tensor(DType::f32, {1, 3}), one),
            "expected samples of (2), as a batch (N, 2); got (1, 3)");
  EXPECT_EQ(error(Tensor(DType::f32, {3}), one),
            "expected samples of (2), as a batch (N, 2); got (3)");
  EXPECT_EQ(error(Tensor(DType::f32, {2}), one),
            "expected a batch of samples (N, 2); got one sample (2), whose batch is (1, 2)");
  EXPECT_EQ(message_of([&] { predictor_.predict(Tensor(DType::f32, {2})); }),
            "expected a batch of samples (N, 2); got one sample (2), whose batch is (1, 2)");
  EXPECT_EQ(error(Tensor(DType::f32, {2, 2}), one),
            "2 samples of (2) need memory for outputs of f32 (2, 2); got f32 (1, 2)");
  EXPECT_EQ(error(one, Tensor(DType::f64, {1, 2})),
            "1 samples of (2) need memory for outputs of f32 (1, 2); got f64 (1, 2)");
  EXPECT_EQ(error(Tensor(DType::i32, {1, 2}), one), "expected samples in f32 or u8; got i32");
  const Floats constant(2);
  EXPECT_EQ(error(one, Tensor::borrow(constant, {1, 2})),
            "a tensor f32 (1, 2) is read-only, since it borrows const memory; clone() it");
  EXPECT_EQ(message_of([&] { predictor_.input(0); }), "expected a batch of at least 1; got 0");
  EXPECT_EQ(message_of([&] { predictor_.run(1, DType::i32); }),
            "expected samples in f32 or u8; got i32");
  EXPECT_EQ(message_of([&] {
              predictor_.set_input(Tensor(DType::i32, {1, 2}));
            }),
            std::string(GetParam()) == "cpu" ? "expected samples in f32 or u8; got i32"
                                             : "expected samples in the memory of cuda:0, as the "
                                               "model; got a tensor in the memory of cpu");
}

TEST_P(OnBoth, MemoryOfAGpuIsNotTheHosts) {
  Floats values(2);
  const Tensor host = Tensor::borrow(values, {1, 2});
  const Tensor gpu =
      Tensor::borrow_writable(DType::f32, {1, 2}, std::as_writable_bytes(std::span(values)), {},
                              {Device::Kind::cuda, 1});
  EXPECT_EQ(message_of([&] { predictor_.predict(gpu, host); }),
            "predict() expects samples in host memory; got (1, 2) in the memory of cuda:1, which "
            "run() takes");
  EXPECT_EQ(message_of([&] { predictor_.predict(host, gpu); }),
            "predict() expects outputs in host memory; got (1, 2) in the memory of cuda:1, which "
            "run() takes");
}

TEST_P(OnBoth, NoSamplesHaveNoOutputs) {
  const Tensor none(DType::f32, {0, 2});
  EXPECT_NO_THROW(predictor_.predict(none, none));
  EXPECT_EQ(predictor_.predict(none).shape(), (Shape{0, 2}));
}

TEST_P(OnBoth, ThreadsPredictAtTheSameTime) {
  std::vector<std::thread> callers;
  std::vector<int> wrong(3, -1);
  for (std::size_t caller = 0; caller < wrong.size(); ++caller) {
    callers.emplace_back([&, caller] {
      const std::size_t samples = 1 + caller % 2;  // two of them share a program
      Floats in(2 * samples, static_cast<float>(caller));
      in.back() = 1;
      const Floats expected = affine_of(in);
      wrong[caller] = 0;
      for (int i = 0; i < 20; ++i) wrong[caller] += predict(predictor_, in) != expected ? 1 : 0;
    });
  }
  for (std::thread& caller : callers) caller.join();
  EXPECT_EQ(wrong, std::vector<int>(3, 0));
}

TEST_P(OnBoth, GivesProbabilitiesIfAsked) {
  const Predictor probabilities(model_, {.probabilities = true});
  const Floats out = predict(probabilities, Floats{-3, -2});  // logits 3 and -7
  EXPECT_NEAR(out[0], 1 / (1 + std::exp(-10.0)), 1e-6);
  EXPECT_NEAR(out[0] + out[1], 1, 1e-6);
}

TEST(CudaPredictor, GivesItsMemoryBack) {
  const MachineGuard machine;
  Model model = affine(cuda_model(affine_network()));
  const std::size_t before = device_bytes();
  {
    Predictor predictor(model);
    predictor.run(3);
    Predictor moved = std::move(predictor);
    moved.run(3);
    EXPECT_GT(device_bytes(), before);
  }
  EXPECT_EQ(device_bytes(), before);
}

}  // namespace
}  // namespace linnet::testing
