// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "cuda_backend/cuda_model.h"
#include "end_to_end/fixtures.h"
#include "end_to_end/needed_passes.h"
#include "end_to_end/run_prediction.h"
#include "fusions/conv2d_norm/conv2d_norm.h"

namespace linnet::testing {
namespace {

class FoldedHalf : public OnDevice {};
INSTANTIATE_TEST_SUITE_P(Engines, FoldedHalf, ::testing::ValuesIn(tested_engines()), engines_name);

/// As a ResNet-50's: bottlenecks, of which one is strided and widens.
Network bottlenecks() {
  const auto conv = [](std::int64_t filters, std::int64_t kernel, std::int64_t stride = 1) {
    return Conv2d{.filters = filters,
                  .kernel = kernel,
                  .stride = stride,
                  .padding = Padding2d::same(),
                  .bias = false};
  };
  const auto block = [&](std::int64_t width, std::int64_t stride) {
    return Residual{.body = {conv(width, 1), BatchNorm{}, ReLU{}, conv(width, 3, stride),
                             BatchNorm{}, ReLU{}, conv(4 * width, 1), BatchNorm{}}};
  };
  Residual widening = block(16, 2);
  widening.shortcut = {conv(64, 1, 2), BatchNorm{}};
  return Network({28, 28, 1}, {Rescale{}, conv(32, 3, 4), BatchNorm{}, ReLU{}, block(8, 1), ReLU{},
                               block(8, 1), ReLU{}, widening, ReLU{}, block(16, 1), ReLU{},
                               GlobalAvgPool2d{}, Dense{.units = 10}});
}

/// Weights and running statistics are those of a training in fp32. Folded batch norms round weights
/// after they are scaled, but no result of a convolution before it is normalised.
TEST_P(FoldedHalf, FoldedBatchNormsAreNoLessPreciseThanTheirParts) {
  LINNET_NEEDS_PASSES("fuse_batch_norm");
  const Network network = bottlenecks();
  Model trained(network, {.device = "cpu", .seed = 5});
  const Dataset digits = datasets::digits(520, 0, 3).train;
  train(trained, digits, {.epochs = 3, .batch = 16, .optimizer = Adam{.learning_rate = 3e-3}});
  const Tensor samples = first_input(digits).rows(512, 520).to(DType::f32);
  const std::vector<float> expected = vector_of(trained.predict(samples));
  for (const Precision half : {Precision::bf16, Precision::fp16}) {
    Model model = cuda_model(network, {}, 5, GetParam(), half);
    for (const std::string& name : trained.parameter_names()) {
      model.set_parameter(name, trained.parameter(name));
    }
    const Supports supports = supports_of(*model.state().backend);
    const auto error = [&](bool folds) {
      std::size_t norms = 0;
      Graph graph = prediction_step(network.definition(), DType::f32, 8, OutputForm::plain,
                                    [&](const Op& op, auto inputs, auto outputs) {
                                      const bool is_folded = op.name() == Conv2dNormOp::kName;
                                      return (folds || !is_folded) && supports(op, inputs, outputs);
                                    });
      for (const Node& node : graph.nodes()) {
        norms += node.op->name() == BatchNormInferenceOp::kName ? 1U : 0U;
      }
      EXPECT_EQ(norms, folds ? 0U : 14U);
      const std::vector<float> found =
          run_prediction(model, std::move(graph), vector_of(samples), {.fixed_weights = true});
      double squares = 0;
      double all = 0;
      for (std::size_t i = 0; i < found.size(); ++i) {
        squares += std::pow(found[i] - expected[i], 2);
        all += std::pow(expected[i], 2);
      }
      return std::sqrt(squares / all);
    };
    const double folded = error(true);
    const double parts = error(false);
    RecordProperty(half == Precision::bf16 ? "bf16" : "fp16", fmt::format("{} {}", folded, parts));
    EXPECT_LT(folded, 1.25 * parts);  // 0.88 by own kernels, whose biases are f32
    EXPECT_LT(parts, half == Precision::bf16 ? 0.02 : 0.0025);
  }
}

}  // namespace
}  // namespace linnet::testing
