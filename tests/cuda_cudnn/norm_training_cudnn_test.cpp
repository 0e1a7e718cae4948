// SPDX-License-Identifier: Apache-2.0
// Whole trainings on the simulated device with the convolutions of fake_cudnn_graph.cpp: batch
// norms between convolutions, as parts of these and apart.
#include "backend/cuda/cuda_backend.h"
#include "backend/cuda/cudnn_plans.h"
#include "cuda_backend/small_trainings.h"
#include "model/model_state.h"
#include "ops/cuda_kernels.h"

namespace linnet::cuda {
void register_conv2d_cudnn(Registry& registry);
}

namespace linnet::testing {
namespace {

Conv2d conv(std::int64_t filters, std::int64_t kernel) {
  return {.filters = filters, .kernel = kernel, .padding = Padding2d::same(), .bias = false};
}

/// Begins with images of (4, 4, 8), or of 13 x 13 at a stride of 2. cuDNN gets no convolution of
/// both few terms and few filters.
template <class AddBlock>
Network two_blocks(AddBlock add_block, std::int64_t stride = 7) {
  FunctionalNetwork functional;
  Expression x =
      functional.input("x", {28, 28, 1}) | Rescale{} | Conv2d{.filters = 8, .stride = stride};
  for (int i = 0; i < (stride > 2 ? 2 : 1); ++i) x = add_block(x);
  x = x | BatchNorm{} | ReLU{} | GlobalAvgPool2d{} | Dense{.units = 10};
  return functional.build({{"y", x}});
}

/// As of ResNet-50 and of DenseNet-121.
Network bottlenecks() {
  return two_blocks([](const Expression& x) {
    const Expression inner = x | conv(36, 1) | BatchNorm{} | ReLU{} | conv(36, 3) | BatchNorm{} |
                             ReLU{} | conv(8, 1) | BatchNorm{};
    return (inner + x) | ReLU{};
  });
}
Network concatenations() {
  return two_blocks([](const Expression& x) {
    const Expression inner =
        x | BatchNorm{} | ReLU{} | conv(36, 1) | BatchNorm{} | ReLU{} | conv(8, 3);
    return concat({x, inner}, 2);
  });
}

/// A norm of few channels and many rows: one launch takes no such gradient with its sums.
Network long_columns() {
  return two_blocks(
      [](const Expression& x) {
        return x | conv(12, 3) | BatchNorm{} | ReLU{} | conv(8, 3) | BatchNorm{} | ReLU{};
      },
      2);
}

Trained trained_network(const Network& network, const std::vector<std::string>& disabled) {
  cuda::Registry registry;
  cuda::register_cuda_kernels(registry);
  cuda::register_conv2d_cudnn(registry);
  const cuda::Libraries libraries{.cudnn = std::make_shared<cuda::CudnnLibrary>("fake"),
                                  .tuning = std::make_shared<TuningCache>()};
  auto device = std::make_shared<cuda::Device>(cuda::find_device(""));
  Model model(
      make_state(network,
                 std::make_unique<cuda::CudaBackend>(std::move(registry), device, CudaOptions{},
                                                     libraries, Precision::tf32),
                 5));
  TrainingOptions options{.epochs = 2, .batch = 24, .optimizer = SGD{.learning_rate = 0.05}};
  options.disabled_passes = disabled;
  return trained(std::move(model), {.train = datasets::digits(48, 0, 3).train}, options);
}

/// Weights hold the running statistics too.
TEST(NormTraining, FusedNormsTrainTheSameWithinRounding) {
  for (const Network& network : {bottlenecks(), concatenations(), long_columns()}) {
    const Trained fused = trained_network(network, {});
    const Trained plain = trained_network(network, {"fuse_norm_conv2d"});
    EXPECT_NE(fused, plain) << "nothing was fused";
    ASSERT_EQ(fused.weights.size(), plain.weights.size());
    for (std::size_t i = 0; i < plain.weights.size(); ++i) {
      ASSERT_NEAR(fused.weights[i], plain.weights[i], 1e-3) << i;
    }
    ASSERT_EQ(fused.losses.size(), plain.losses.size());
    for (std::size_t i = 0; i < plain.losses.size(); ++i) {
      EXPECT_NEAR(fused.losses[i], plain.losses[i], 1e-4) << i;
    }
  }
}

}  // namespace
}  // namespace linnet::testing
