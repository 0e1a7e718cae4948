// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "fusions/fusions.h"

#include "end_to_end/built_graph.h"
#include "end_to_end/fixtures.h"
#include "ops/activation/activation.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/batch_norm/batch_norm.h"

namespace linnet::testing {
namespace {

/// On x and z, (6, 4).
class Built : public BuiltGraph {
 public:
  Value x = input({6, 4});
  Value z = input({6, 4});

  std::vector<Value> norm_outputs(Value on) {
    const Value gamma = input({4});
    return graph.add(std::make_shared<BatchNormOp>(), {on, gamma, gamma, input({4}), input({4})},
                     "norm");
  }
  Value norm(Value on) { return norm_outputs(on)[0]; }
  Value inference_norm(Value on) {
    const Value c = input({4});
    return graph.emit(BatchNormInferenceOp(), {on, c, c, c, c}, "norm");
  }
  Value add(Value a, Value b) { return graph.emit(ArithmeticOp({Arithmetic::add}), {a, b}, "add"); }
  Value relu(Value a) { return graph.emit(ActivationOp({Activation::relu}), {a}, "relu"); }
  /// The operators after the pass, e.g. "batch_norm+add+relu".
  std::vector<std::string> fused(const Supports& supports = kEverything) {
    all_passes().named("fuse_batch_norm").run(graph, supports);
    graph.verify();
    std::vector<std::string> names;
    for (const Node& node : graph.nodes()) {
      names.emplace_back(node.op->name());
      const auto describe = [&](const auto* norm) {
        if (norm != nullptr && norm->attrs().residual) names.back() += "+add";
        if (norm != nullptr && norm->attrs().activation == Activation::relu)
          names.back() += "+relu";
      };
      describe(dynamic_cast<const BatchNormOp*>(node.op.get()));
      describe(dynamic_cast<const BatchNormInferenceOp*>(node.op.get()));
    }
    return names;
  }
};

using Names = std::vector<std::string>;

TEST(FuseBatchNorm, TakesAnAdditionAndAReluFromEitherSide) {
  for (bool left : {true, false}) {
    for (bool inference : {true, false}) {
      Built b;
      const Value y = inference ? b.inference_norm(b.x) : b.norm(b.x);
      b.keep(b.relu(left ? b.add(y, b.z) : b.add(b.z, y)));
      EXPECT_EQ(b.fused(),
                Names{inference ? "batch_norm_inference+add+relu" : "batch_norm+add+relu"});
      EXPECT_EQ(b.graph.nodes()[0].inputs.back(), b.z);
      EXPECT_EQ(b.graph.nodes()[0].inputs.front(), b.x);
      EXPECT_EQ(b.graph.nodes()[0].outputs.size(), inference ? 1U : 3U);
    }
  }
}

TEST(FuseBatchNorm, TakesEitherOfThemAlone) {
  Built relu;
  relu.keep(relu.relu(relu.norm(relu.x)));
  EXPECT_EQ(relu.fused(), Names{"batch_norm+relu"});
  Built add;
  add.keep(add.add(add.norm(add.x), add.z));
  EXPECT_EQ(add.fused(), Names{"batch_norm+add"});
}

TEST(FuseBatchNorm, OfTwoThatAreAddedOneIsTheOthersResidual) {
  Built b;
  const Value first = b.norm(b.x);
  const Value second = b.norm(b.z);
  b.keep(b.relu(b.add(first, second)));
  EXPECT_EQ(b.fused(), (Names{"batch_norm", "batch_norm+add+relu"}));
  EXPECT_EQ(b.graph.nodes()[1].inputs.front(), b.x);
  EXPECT_EQ(b.graph.nodes()[1].inputs.back(), second);
}

TEST(FuseBatchNorm, ASecondAdditionStays) {
  Built b;
  b.keep(b.relu(b.add(b.add(b.norm(b.x), b.z), b.z)));
  EXPECT_EQ(b.fused(), (Names{"batch_norm+add", "arithmetic", "activation"}));
}

TEST(FuseBatchNorm, NothingIsTakenBehindTheRelu) {
  Built b;
  b.keep(b.add(b.relu(b.norm(b.x)), b.z));
  EXPECT_EQ(b.fused(), (Names{"batch_norm+relu", "arithmetic"}));
}

TEST(FuseBatchNorm, OnlyTheSoleReaderIsTaken) {
  Built twice;
  const Value y = twice.norm(twice.x);
  twice.keep(twice.add(y, y));
  EXPECT_EQ(twice.fused(), (Names{"batch_norm", "arithmetic"}));
  Built others;
  const Value z = others.norm(others.x);
  others.keep(others.relu(z));
  others.keep(others.add(z, others.z));
  EXPECT_EQ(others.fused(), (Names{"batch_norm", "activation", "arithmetic"}));
  Built result;
  const Value asked = result.norm(result.x);
  result.keep(asked);
  result.keep(result.relu(asked));
  EXPECT_EQ(result.fused(), (Names{"batch_norm", "activation"}));
  Built statistics;
  const std::vector<Value> outputs = statistics.norm_outputs(statistics.x);
  const Value squares = outputs[BatchNormOp::Out::inv_std];
  const Value squared =
      statistics.graph.emit(ArithmeticOp({Arithmetic::multiply}), {squares, squares}, "v");
  statistics.keep(squared);
  statistics.keep(statistics.relu(outputs[BatchNormOp::Out::y]));
  EXPECT_EQ(statistics.fused(), (Names{"batch_norm", "arithmetic", "activation"}));
}

TEST(FuseBatchNorm, OtherNeighboursStay) {
  Built tanh;
  tanh.keep(tanh.graph.emit(ActivationOp({Activation::tanh}), {tanh.norm(tanh.x)}, "tanh"));
  EXPECT_EQ(tanh.fused(), (Names{"batch_norm", "activation"}));
  Built difference;
  difference.keep(difference.graph.emit(ArithmeticOp({Arithmetic::subtract}),
                                        {difference.norm(difference.x), difference.z}, "minus"));
  EXPECT_EQ(difference.fused(), (Names{"batch_norm", "arithmetic"}));
  Built repeated;  // the second operand of an addition may be repeated
  repeated.keep(repeated.add(repeated.norm(repeated.x), repeated.input({4})));
  EXPECT_EQ(repeated.fused(), (Names{"batch_norm", "arithmetic"}));
}

TEST(FuseBatchNorm, ABackendWithoutItGetsTheParts) {
  Built none;
  none.keep(none.relu(none.add(none.norm(none.x), none.z)));
  EXPECT_EQ(none.fused([](const Op&, std::span<const ValueType>, std::span<const ValueType>) {
    return false;
  }),
            (Names{"batch_norm", "arithmetic", "activation"}));
  Built add;
  add.keep(add.relu(add.add(add.norm(add.x), add.z)));
  const auto no_relu = [](const Op& op, std::span<const ValueType>, std::span<const ValueType>) {
    return dynamic_cast<const BatchNormOp&>(op).attrs().activation == Activation::none;
  };
  EXPECT_EQ(add.fused(no_relu), (Names{"batch_norm+add", "activation"}));
}

Network blocks(bool shortcut_first) {
  const auto conv = [](std::int64_t filters) {
    return Conv2d{.filters = filters, .kernel = 3, .padding = Padding2d::same(), .bias = false};
  };
  Residual projected{.body = {conv(6), BatchNorm{}, ReLU{}, conv(6), BatchNorm{}},
                     .shortcut = {conv(6), BatchNorm{}}};
  if (shortcut_first) std::swap(projected.body, projected.shortcut);
  return Network({28, 28, 1}, {Rescale{}, Conv2d{.filters = 4, .kernel = 5, .stride = 4},
                               BatchNorm{}, ReLU{}, Residual{.body = {conv(4), BatchNorm{}}},
                               ReLU{}, projected, ReLU{}, Residual{.body = {ReLU{}, BatchNorm{}}},
                               Residual{.body = {conv(6), Tanh{}}, .shortcut = {BatchNorm{}}},
                               GlobalAvgPool2d{}, BatchNorm{}, Dense{.units = 10}});
}

/// The fusion changes where numbers lie and how often they are read, and no bit.
TEST(FuseBatchNorm, LeavesEveryBitOfATraining) {
  const Dataset digits = datasets::digits(64, 0, 4).train;
  for (bool shortcut_first : {false, true}) {
    const Network network = blocks(shortcut_first);
    const RunOptions fused{.batch = 8, .steps = 6};
    RunOptions plain = fused;
    plain.disabled_passes = {"fuse_batch_norm"};
    const std::vector<float> weights = weights_after(network, digits, fused);
    EXPECT_EQ(weights, weights_after(network, digits, plain));
    RunOptions checked = fused;
    checked.checked = true;
    EXPECT_EQ(weights, weights_after(network, digits, checked));
    RunOptions apart = fused;
    apart.plan = {.reuse = false, .in_place = false};
    EXPECT_EQ(weights, weights_after(network, digits, apart));
  }
}

}  // namespace
}  // namespace linnet::testing
