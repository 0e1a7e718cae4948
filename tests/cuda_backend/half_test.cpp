// SPDX-License-Identifier: Apache-2.0
// Trainings in bf16 and fp16, with activations and their gradients stored so, beside fp32 on the
// device and on the CPU.
#include <cmath>

#include "../end_to_end/fixtures.h"
#include "cuda_model.h"

namespace linnet::testing {
namespace {

/// As a VGG's layers: biases, ReLUs, odd numbers of channels, dropout and dense layers.
Network small_vgg() {
  const auto conv = [](std::int64_t filters) {
    return Conv2d{.filters = filters, .padding = Padding2d::same()};
  };
  return Network({28, 28, 1},
                 {Rescale{}, MaxPool2d{2}, conv(5), ReLU{}, conv(8), MaxPool2d{2}, ReLU{},
                  Dropout{.rate = 0.1}, Flatten{}, Dense{.units = 24}, ReLU{}, Dense{.units = 10}});
}

/// As a ResNet's: batch norms with residuals and ReLUs, strides, a global average.
Network small_resnet() {
  const auto conv = [](std::int64_t filters) {
    return Conv2d{.filters = filters, .padding = Padding2d::same(), .bias = false};
  };
  const Residual block{.body = {conv(8), BatchNorm{}, ReLU{}, conv(8), BatchNorm{}}};
  return Network({28, 28, 1}, {Rescale{}, Conv2d{.filters = 8, .kernel = 4, .stride = 4},
                               BatchNorm{}, ReLU{}, block, ReLU{}, block, ReLU{}, AvgPool2d{2},
                               GlobalAvgPool2d{}, Dense{.units = 10}});
}

std::vector<double> losses_of(Model model, std::vector<std::string> disabled = {}) {
  std::vector<double> losses;
  const Dataset digits = datasets::digits(96, 0, 3).train;
  const History history = train(model, digits,
                                {.epochs = 4,
                                 .batch = 16,
                                 .optimizer = Adam{.learning_rate = 3e-3},
                                 .seed = 5,
                                 .disabled_passes = std::move(disabled)});
  for (const EpochReport& epoch : history.epochs) losses.push_back(epoch.train.loss);
  return losses;
}

class CudaHalf : public OnDevice {
 protected:
  /// Bound: 1.5 % of fp32 at every epoch, as on the CPU.
  void expect_to_follow_fp32(const Network& network) const {
    const auto on_device = [&](Precision precision) {
      return cuda_model(network, {}, 5, GetParam(), precision);
    };
    const std::vector<double> cpu = losses_of(Model(network, {.device = "cpu", .seed = 5}));
    const std::vector<double> fp32 = losses_of(on_device(Precision::fp32));
    for (std::size_t e = 0; e < cpu.size(); ++e) {
      EXPECT_NEAR(fp32[e], cpu[e], 1e-3 * cpu[e]) << "epoch " << e;
    }
    for (const Precision half : {Precision::bf16, Precision::fp16}) {
      const bool bf16 = half == Precision::bf16;
      SCOPED_TRACE(bf16 ? "bf16" : "fp16");
      const std::vector<double> stored = losses_of(on_device(half));
      const std::vector<double> rounded =
          losses_of(on_device(half), {bf16 ? "store_bf16" : "store_f16"});
      for (std::size_t e = 0; e < cpu.size(); ++e) {
        EXPECT_NEAR(stored[e], fp32[e], 0.015 * fp32[e]) << "epoch " << e;
        EXPECT_NE(stored[e], rounded[e]) << "nothing was stored in 16 bits";
      }
      EXPECT_LT(stored.back(), 0.9 * stored.front());
    }
  }
};
INSTANTIATE_TEST_SUITE_P(Engines, CudaHalf, ::testing::ValuesIn(tested_engines()), engines_name);

TEST_P(CudaHalf, AVggFollowsFp32) { expect_to_follow_fp32(small_vgg()); }

TEST_P(CudaHalf, AResNetFollowsFp32) { expect_to_follow_fp32(small_resnet()); }

}  // namespace
}  // namespace linnet::testing
