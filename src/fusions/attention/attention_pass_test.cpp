// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "end_to_end/built_graph.h"
#include "end_to_end/fixtures.h"
#include "end_to_end/run_prediction.h"
#include "fusions/attention/attention.h"
#include "fusions/fusions.h"
#include "model/model_state.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/causal_mask/causal_mask.h"
#include "ops/matmul/matmul.h"
#include "ops/softmax/softmax.h"

namespace linnet::testing {
namespace {

/// softmax(0.5 q k^T) v
class BuiltAttention : public BuiltGraph {
 public:
  Value scores = graph.emit(MatmulOp({.transpose_b = true}),
                            {graph.emit(ScaleOp({.alpha = 0.5}), {input({2, 3, 6, 4})}, "scale"),
                             input({2, 3, 7, 4})},
                            "scores");
  Value weighed(Value of) {
    return graph.emit(MatmulOp(), {graph.emit(SoftmaxOp(), {of}, "softmax"), input({2, 3, 7, 5})},
                      "values");
  }
  /// The operators after the pass.
  std::vector<std::string> fused() {
    all_passes().named("fuse_attention").run(graph, kEverything);
    graph.verify();
    std::vector<std::string> names;
    for (const Node& node : graph.nodes()) names.emplace_back(node.op->name());
    return names;
  }
};

TEST(FuseAttention, TakesScaleAndMask) {
  BuiltAttention b;
  b.keep(b.weighed(b.graph.emit(CausalMaskOp(), {b.scores}, "mask")));
  EXPECT_EQ(b.fused(), std::vector<std::string>{"attention"});
  const auto& op = static_cast<const AttentionOp&>(*b.graph.nodes()[0].op);
  EXPECT_EQ(op.attrs(), (AttentionAttrs{.scale = 0.5, .causal = true}));
}

TEST(FuseAttention, LeavesScoresThatOthersReadAndOtherMasks) {
  BuiltAttention read;
  read.keep(read.weighed(read.scores));
  read.keep(read.scores);
  EXPECT_EQ(read.fused().size(), 4U);
  BuiltAttention masked;
  masked.keep(
      masked.weighed(masked.graph.emit(CausalMaskOp({.fill = -1}), {masked.scores}, "mask")));
  EXPECT_EQ(masked.fused().size(), 5U);
}

Graph attention_graph(const Model& model, bool fuses) {
  const Supports supports = supports_of(*model.state().backend);
  return prediction_step(model.network().definition(), DType::f32, 8, OutputForm::plain,
                         [&](const Op& op, auto inputs, auto outputs) {
                           const bool refused = !fuses && op.name() == AttentionOp::kName;
                           return !refused && supports(op, inputs, outputs);
                         });
}

int count_of(const Graph& graph, std::string_view name) {
  return static_cast<int>(std::ranges::count_if(graph.nodes(), [&](const Node& node) {
    return node.op->name() == name;
  }));
}

TEST(FuseAttention, PredictionsAgreeWithTheParts) {
  for (const bool causal : {false, true}) {
    const Network network(
        {28, 28, 1}, {Rescale{}, Reshape{{14, 56}},
                      TransformerEncoderLayer{.heads = 7, .feed_forward = 20, .causal = causal},
                      MultiHeadAttention{.heads = 2}, Flatten{}, Dense{.units = 10}});
    Model model(network, {.device = "cpu", .threads = 2});
    const Graph fused = attention_graph(model, true);
    const Graph parts = attention_graph(model, false);
    EXPECT_EQ(count_of(fused, "attention"), 2);
    EXPECT_EQ(count_of(fused, "transpose"), 0);
    EXPECT_EQ(count_of(fused, "slice"), 0);
    EXPECT_EQ(count_of(parts, "softmax"), 2);
    const Dataset digits = datasets::digits(8, 0, 4).train;
    const std::vector<float> samples = vector_of(first_input(digits).rows(0, 8).to(DType::f32));
    const std::vector<float> expected = run_prediction(model, parts, samples);
    const std::vector<float> outputs = run_prediction(model, fused, samples);
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      EXPECT_NEAR(outputs[i], expected[i], 1e-5 * (1 + std::abs(expected[i]))) << i;
    }
  }
}

TEST(FuseAttention, ATrainingStepHasNoMatrixOfWeights) {
  const Network network({28, 28, 1}, {Rescale{}, Reshape{{28, 28}},
                                      MultiHeadAttention{.heads = 4, .dropout = 0.1}, Flatten{},
                                      Dense{.units = 10}});
  const auto step = [&](std::vector<std::string> disabled) {
    return dump_training_step(network, 8, Dump::graph, {.disabled_passes = std::move(disabled)});
  };
  EXPECT_EQ(step({}).find("softmax_grad"), std::string::npos);
  EXPECT_NE(step({}).find("attention_grad"), std::string::npos);
  EXPECT_NE(step({"fuse_attention"}).find("softmax_grad"), std::string::npos);
}

}  // namespace
}  // namespace linnet::testing
