// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fusions/fusions.h"

#include <algorithm>
#include <cmath>

#include "end_to_end/built_graph.h"
#include "end_to_end/fixtures.h"
#include "end_to_end/needed_passes.h"
#include "end_to_end/run_prediction.h"
#include "fusions/conv2d_norm/conv2d_norm.h"
#include "model/model_state.h"

namespace linnet::testing {
namespace {

/// conv2d -> batch norm as at inference.
class Built : public BuiltGraph {
 public:
  Value w = input({6, 3, 3, 4});
  Value conv(Conv2dAttrs attrs = {}) {
    std::vector<Value> inputs{input({2, 8, 8, 4}), w};
    if (attrs.bias) inputs.push_back(input({6}));
    return graph.emit(Conv2dOp(attrs), std::move(inputs), "conv");
  }
  Value norm(Value on, BatchNormAttrs attrs = {}) {
    std::vector<Value> inputs{on, input({6}), input({6}), input({6}), input({6})};
    if (attrs.residual) inputs.push_back(input(graph.shape(on)));
    return graph.emit(BatchNormInferenceOp(attrs), std::move(inputs), "norm");
  }
  /// The operators after the pass.
  std::vector<std::string> folded(const Supports& supports = kEverything) {
    all_passes().named("fold_batch_norm").run(graph, supports);
    graph.verify();
    std::vector<std::string> names;
    for (const Node& node : graph.nodes()) names.emplace_back(node.op->name());
    return names;
  }
};

using Names = std::vector<std::string>;

TEST(FoldBatchNorm, TakesTheConvolutionWithBiasResidualAndRelu) {
  Built b;
  b.keep(b.norm(b.conv({.bias = true}), {.residual = true, .activation = Activation::relu}));
  const std::vector<Value> norm = b.graph.nodes()[1].inputs;
  std::vector<Value> inputs = b.graph.nodes()[0].inputs;
  inputs.insert(inputs.end(), norm.begin() + 1, norm.end());
  EXPECT_EQ(b.folded(), Names{"conv2d_norm"});
  EXPECT_EQ(b.graph.nodes()[0].inputs, inputs);
}

TEST(FoldBatchNorm, LeavesWhatOthersReadOrAnActivationParts) {
  Built read_twice;
  const Value z = read_twice.conv();
  read_twice.keep(read_twice.norm(z));
  read_twice.keep(read_twice.norm(z));
  EXPECT_EQ(read_twice.folded().size(), 3U);
  Built kept;
  const Value output = kept.conv();
  kept.keep(kept.norm(output));
  kept.keep(output);
  EXPECT_EQ(kept.folded().size(), 2U);
  Built activated;
  activated.keep(activated.norm(activated.conv({.activation = Activation::relu})));
  EXPECT_EQ(activated.folded().size(), 2U);
  Built refused;
  refused.keep(refused.norm(refused.conv()));
  const auto nothing = [](const Op&, std::span<const ValueType>, std::span<const ValueType>) {
    return false;
  };
  EXPECT_EQ(refused.folded(nothing).size(), 2U);
}

TEST(FoldBatchNorm, PredictionsAgreeWithTheParts) {
  LINNET_NEEDS_PASSES("fuse_epilogue");
  const Network network(
      {28, 28, 1},
      {Rescale{}, Conv2d{.filters = 4, .kernel = 5, .stride = 4}, BatchNorm{}, ReLU{},
       Residual{.body = {Conv2d{.filters = 4, .padding = Padding2d::same()}, BatchNorm{}}}, ReLU{},
       GlobalAvgPool2d{}, Dense{.units = 10}});
  const Dataset digits = datasets::digits(64, 0, 4).train;
  Model model(network, {.device = "cpu", .threads = 2});
  train(model, digits, {.epochs = 1, .batch = 8, .optimizer = Adam{.learning_rate = 1e-2}});
  const Supports supports = supports_of(*model.state().backend);
  const auto graph_with = [&](bool folds) {
    return prediction_step(network.definition(), DType::f32, 8, OutputForm::plain,
                           [&](const Op& op, auto inputs, auto outputs) {
                             const bool refused = !folds && op.name() == Conv2dNormOp::kName;
                             return !refused && supports(op, inputs, outputs);
                           });
  };
  const auto count = [](const Graph& graph, std::string_view name) {
    return std::count_if(graph.nodes().begin(), graph.nodes().end(),
                         [&](const Node& node) { return node.op->name() == name; });
  };
  const Graph folded = graph_with(true);
  const Graph parts = graph_with(false);
  EXPECT_EQ(count(folded, "conv2d_norm"), 2);
  EXPECT_EQ(count(folded, "batch_norm_inference"), 0);
  EXPECT_EQ(count(parts, "batch_norm_inference"), 2);
  const std::vector<float> samples = vector_of(first_input(digits).rows(0, 8).to(DType::f32));
  const std::vector<float> expected = run_prediction(model, parts, samples);
  const std::vector<float> outputs = run_prediction(model, folded, samples);
  for (std::size_t i = 0; i < outputs.size(); ++i) {
    EXPECT_NEAR(outputs[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << i;
  }
}

}  // namespace
}  // namespace linnet::testing
