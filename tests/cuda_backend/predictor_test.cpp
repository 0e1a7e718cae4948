// SPDX-License-Identifier: Apache-2.0
// Resident inference on the CPU and on the device.
#include <linnet/predictor.h>

#include <cmath>
#include <cstdint>
#include <memory>

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
  set_parameter(model_, "dense_1.bias", {0, 100});
  predictor_.predict(Floats{1, 1}, out);
  EXPECT_EQ(out, (Floats{3, 102}));
}

TEST_P(OnBoth, RunsWhatLiesOnTheDevice) {
  const Floats in{1, 2, 3, 4};
  void* input = predictor_.input(2);
  float* output = predictor_.output(2);
  copy(input, in.data(), sizeof(float) * 4);
  predictor_.run(2);
  predictor_.wait();
  EXPECT_EQ(copy_of(output, 4), (Floats{15, 1, 21, 5}));
  Floats between(4);
  predictor_.predict(Floats{0, 0, 0, 0}, between);
  predictor_.predict(Floats{1, 1}, std::span(between).first(2));
  copy(input, in.data(), sizeof(float) * 4);
  predictor_.run(2);
  predictor_.wait();
  EXPECT_EQ(predictor_.output(2), output);
  EXPECT_EQ(copy_of(output, 4), (Floats{15, 1, 21, 5}));
}

TEST_P(OnBoth, ReadsOtherMemoryUntilToldElse) {
  const Floats values{1, 2};
  const Backend& backend = *model_.state().backend;
  std::shared_ptr<Buffer> other = backend.allocate(sizeof(float) * 2);
  backend.upload(*other, 0, std::as_bytes(std::span(values)));
  predictor_.set_input(1, DType::f32, other->data(), other);
  predictor_.run(1);
  predictor_.wait();
  EXPECT_EQ(copy_of(predictor_.output(1), 1), Floats{15});
  EXPECT_EQ(other.use_count(), 2);
  predictor_.set_input(1, DType::f32, nullptr);
  EXPECT_EQ(other.use_count(), 1);
  const Floats own{0, 1};
  copy(predictor_.input(1), own.data(), sizeof(float) * 2);
  predictor_.run(1);
  predictor_.wait();
  EXPECT_EQ(copy_of(predictor_.output(1), 1), Floats{12});
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
