// SPDX-License-Identifier: Apache-2.0
// Resident inference on the CPU and on the simulated device.
#include <gtest/gtest.h>
#include <linnet/predictor.h>

#include <cmath>
#include <cstring>

#include "message_of.h"
#include "simulated_model.h"

namespace linnet::testing {
namespace {

/// y = (x0 + 2 x1 + 10, 3 x0 - x1)
Network affine() { return Network({2}, {Dense{.units = 2}}); }

Model set_up(Model model) {
  model.set_parameter("dense_1.weight", std::vector<float>{1, 2, 3, -1});
  model.set_parameter("dense_1.bias", std::vector<float>{10, 0});
  return model;
}

Model on(const std::string& device, Network network) {
  if (device == "cuda") return simulated_model(std::move(network));
  return Model(std::move(network), {.device = "cpu", .threads = 1});
}

class OnBoth : public ::testing::TestWithParam<const char*> {
 protected:
  const MachineGuard machine_;
  Model model_ = set_up(on(GetParam(), affine()));
  Predictor predictor_{model_};
};
INSTANTIATE_TEST_SUITE_P(Predictor, OnBoth, ::testing::Values("cpu", "cuda"),
                         [](const auto& info) { return std::string(info.param); });

using Floats = std::vector<float>;

TEST_P(OnBoth, PredictsFloatsAndBytes) {
  Floats out(4);
  predictor_.predict(Floats{1, 2, -1, 0.5F}, out);
  EXPECT_EQ(out, (Floats{15, 1, 10, -3.5F}));
  Floats of_bytes(2);
  predictor_.predict(std::vector<std::uint8_t>{200, 1}, of_bytes);
  EXPECT_EQ(of_bytes, (Floats{212, 599}));
  EXPECT_EQ(predictor_.input_shape(), (Shape{2}));
  EXPECT_EQ(predictor_.output_shape(), (Shape{2}));
}

TEST_P(OnBoth, MemoryThatIsNotAlignedDoes) {
  Floats in{0, 1, 2};
  Floats out{7, 7, 7};
  predictor_.predict(std::span(in).subspan(1), std::span(out).subspan(1));
  EXPECT_EQ(out, (Floats{7, 15, 1}));
}

TEST_P(OnBoth, SeesTheModelsNewWeights) {
  Floats out(2);
  predictor_.predict(Floats{1, 1}, out);
  model_.set_parameter("dense_1.bias", Floats{0, 100});
  predictor_.predict(Floats{1, 1}, out);
  EXPECT_EQ(out, (Floats{3, 102}));
}

TEST_P(OnBoth, RunsWhatLiesOnTheDevice) {
  const Floats in{1, 2, 3, 4};
  void* input = predictor_.input(2);
  float* output = predictor_.output(2);
  std::memcpy(input, in.data(), sizeof(float) * 4);  // the simulated device's memory is the host's
  predictor_.run(2);
  predictor_.wait();
  EXPECT_EQ(Floats(output, output + 4), (Floats{15, 1, 21, 5}));
  Floats between(4);
  predictor_.predict(Floats{0, 0, 0, 0}, between);
  predictor_.predict(Floats{1, 1}, std::span(between).first(2));
  std::memcpy(input, in.data(), sizeof(float) * 4);
  predictor_.run(2);
  predictor_.wait();
  EXPECT_EQ(predictor_.output(2), output);
  EXPECT_EQ(Floats(output, output + 4), (Floats{15, 1, 21, 5}));
}

TEST_P(OnBoth, ReadsOtherMemoryUntilToldElse) {
  auto other = std::make_shared<Floats>(Floats{1, 2});
  predictor_.set_input(1, DType::f32, other->data(), other);
  predictor_.run(1);
  predictor_.wait();
  EXPECT_EQ(predictor_.output(1)[0], 15);
  EXPECT_EQ(other.use_count(), 2);
  predictor_.set_input(1, DType::f32, nullptr);
  EXPECT_EQ(other.use_count(), 1);
  const Floats own{0, 1};
  std::memcpy(predictor_.input(1), own.data(), sizeof(float) * 2);
  predictor_.run(1);
  predictor_.wait();
  EXPECT_EQ(predictor_.output(1)[0], 12);
}

TEST_P(OnBoth, ErrorsNameTheShapes) {
  Floats out(3);
  EXPECT_EQ(message_of([&] {
              predictor_.predict(Floats{1, 2, 3}, out);
            }),
            "the network takes samples of (2), 2 elements each; got 3 elements");
  EXPECT_EQ(message_of([&] {
              predictor_.predict(Floats{1, 2, 3, 4}, out);
            }),
            "2 samples of (2) have outputs of (2, 2), 4 elements; got room for 3");
  EXPECT_EQ(message_of([&] { predictor_.input(0); }), "expected a batch of at least 1; got 0");
  EXPECT_EQ(message_of([&] { predictor_.run(1, DType::i32); }),
            "expected samples in f32 or u8; got i32");
}

TEST_P(OnBoth, NoSamplesHaveNoOutputs) {
  EXPECT_NO_THROW(predictor_.predict(std::span<const float>(), {}));
}

TEST_P(OnBoth, GivesProbabilitiesIfAsked) {
  Predictor probabilities(model_, true);
  Floats out(2);
  probabilities.predict(Floats{-3, -2}, out);  // logits 3 and -7
  EXPECT_NEAR(out[0], 1 / (1 + std::exp(-10.0)), 1e-6);
  EXPECT_NEAR(out[0] + out[1], 1, 1e-6);
}

TEST(CudaPredictor, APreparedBatchIsOneLaunchWithoutAllocations) {
  const MachineGuard machine;
  Model model = set_up(simulated_model(affine()));
  Predictor predictor(model);
  Floats out(4);
  predictor.predict(Floats{1, 2, 3, 4}, out);
  predictor.predict(Floats{1, 2}, std::span(out).first(2));
  cuda::sim::clear();
  for (int i = 0; i < 3; ++i) predictor.predict(Floats{1, 2, 3, 4}, out);
  predictor.predict(Floats{1, 2}, std::span(out).first(2));
  cuda::sim::Counters counters = cuda::sim::counters();
  EXPECT_EQ(counters.graph_launches, 4U);
  EXPECT_EQ(counters.allocations, 0U);
  EXPECT_EQ(counters.synchronizations, 8U);  // for what comes in and for what goes out
  cuda::sim::clear();
  for (int i = 0; i < 3; ++i) predictor.run(2);
  counters = cuda::sim::counters();
  EXPECT_EQ(counters.graph_launches, 3U);
  EXPECT_EQ(counters.allocations + counters.synchronizations + counters.host_to_device.count, 0U);
}

TEST(CudaPredictor, GivesItsMemoryBack) {
  const MachineGuard machine;
  Model model = set_up(simulated_model(affine()));
  const std::size_t before = cuda::sim::allocated_bytes();
  {
    Predictor predictor(model);
    predictor.run(3);
    Predictor moved = std::move(predictor);
    moved.run(3);
    EXPECT_GT(cuda::sim::allocated_bytes(), before);
  }
  EXPECT_EQ(cuda::sim::allocated_bytes(), before);
}

}  // namespace
}  // namespace linnet::testing
