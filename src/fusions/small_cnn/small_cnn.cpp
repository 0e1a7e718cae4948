// SPDX-License-Identifier: Apache-2.0
#include "fusions/small_cnn/small_cnn.h"

#include <algorithm>

#include "base/check.h"
#include "core/dims.h"
#include "graph/differentiate.h"
#include "graph/interpreter.h"
#include "graph/registry.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/cross_entropy/cross_entropy.h"
#include "ops/dense/dense.h"
#include "ops/finite_check/finite_check.h"
#include "ops/metrics/metrics.h"
#include "ops/reshape/reshape.h"

namespace linnet {
namespace {

/// The operators that one SmallCnnOp stands for.
struct Composition {
  Graph graph;
  std::vector<Value> inputs;
  std::vector<Value> outputs;

  Composition(const SmallCnnAttrs& attrs, std::span<const ValueType> types) {
    for (const ValueType& type : types) {
      inputs.push_back(graph.add_value("operand", type, Storage::external));
    }
    const std::string name = "small_cnn";
    const GatherBatchAttrs labels{.batch = attrs.gather.batch, .shuffle = attrs.gather.shuffle};
    const Value x =
        graph.emit(GatherBatchOp(attrs.gather), {inputs[SmallCnnOp::In::samples]}, name);
    const Value targets =
        graph.emit(GatherBatchOp(labels), {inputs[SmallCnnOp::In::targets]}, name);
    const Value pooled =
        graph.add(std::make_shared<Conv2dPoolOp>(attrs.conv_pool),
                  {x, inputs[SmallCnnOp::In::w], inputs[SmallCnnOp::In::b]}, name)[0];
    const Shape features{attrs.gather.batch, graph.shape(pooled).sample().elements()};
    const Value flat = graph.emit(ReshapeOp({dims_of(features)}), {pooled}, name);
    const Value logits =
        graph.emit(DenseOp({.bias = true}),
                   {flat, inputs[SmallCnnOp::In::v], inputs[SmallCnnOp::In::c]}, name);
    const std::vector<Value> loss =
        graph.add(std::make_shared<SoftmaxCrossEntropyOp>(), {logits, targets}, name);
    outputs = {loss[0], attrs.probabilities ? loss[1] : logits, targets};
  }

  /// After add_gradients().
  void add_finish(const SmallCnnAttrs& attrs) {
    using In = SmallCnnOp::In;
    const auto first = outputs.begin();
    graph.add(std::make_shared<MetricsOp>(
                  MetricsAttrs{.batch = attrs.gather.batch, .history = attrs.history}),
              {inputs[In::counters], first[SmallCnnOp::Out::loss], first[SmallCnnOp::Out::scores],
               first[SmallCnnOp::Out::labels]},
              "metrics");
    for (std::size_t i = SmallCnnOp::Out::dw; i < SmallCnnOp::kOutputs; ++i) {
      graph.add(std::make_shared<FiniteCheckOp>(),
                {inputs[In::stopped], outputs[i], first[SmallCnnOp::Out::loss]}, "finite");
    }
  }

  void add_gradients() {
    const std::vector<Value> gradients =
        differentiate(graph, outputs[SmallCnnOp::Out::loss],
                      std::span(inputs).subspan(SmallCnnOp::In::w,
                                                SmallCnnOp::kInputs - SmallCnnOp::In::w));
    outputs.insert(outputs.end(), gradients.begin(), gradients.end());
  }
};

bool is_one(const Graph& graph, Value value) {
  const ValueInfo& info = graph.info(value);
  return info.storage == Storage::constant && info.fill == 1;
}

}  // namespace

std::vector<ValueType> SmallCnnOp::infer(std::span<const ValueType> inputs) const {
  const std::string got =
      to_string({"samples", "targets", "w", "b", "v", "c"}, {inputs.begin(), inputs.end()});
  require(inputs.size() == kInputs + (attrs().finish ? 2 : 0) && attrs().conv_pool.conv.bias,
          "expected samples, targets, and weights and bias of a convolution and of a dense layer; "
          "got {}",
          got);
  require(inputs[In::samples].dtype != DType::i32 && inputs[In::targets].dtype == DType::i32,
          "expected u8 or f32 samples and i32 targets; got {} and {}",
          to_string(inputs[In::samples]), to_string(inputs[In::targets]));
  require(!attrs().finish ||
              (inputs[In::counters] == ValueType{DType::f64, Shape{kCounters + attrs().history}} &&
               inputs[In::stopped] == ValueType{DType::f64, Shape{}}),
          "expected counters f64 ({}) and f64 (); got {}", kCounters + attrs().history, got);
  const Composition parts(attrs(), inputs);
  std::vector<ValueType> types = parts.graph.types(parts.outputs);
  types.insert(types.end(), inputs.begin() + In::w, inputs.begin() + kInputs);
  return types;
}

std::vector<Value> SmallCnnOp::gradient(const GradientArgs& args) const {
  for (std::size_t i = Out::scores; i < kOutputs; ++i) {
    require(!args.output_gradients[i],
            "expected a gradient of the loss alone; got one of output {}", i);
  }
  const Value dloss = args.output_gradients[Out::loss];
  std::vector<Value> gradients(kInputs);
  for (std::size_t i = In::w; dloss && i < kInputs; ++i) {
    if (!args.needed[i]) continue;
    const Value saved = args.node.outputs[Out::dw + i - In::w];
    gradients[i] = is_one(args.graph, dloss) ? saved
                                             : args.graph.emit(ArithmeticOp({Arithmetic::multiply}),
                                                               {saved, dloss}, args.node.name);
  }
  return gradients;
}

void SmallCnnOp::reference(const ReferenceArgs& args) const {
  std::vector<ValueType> types;
  for (const ReferenceTensor* operand : args.inputs) types.push_back({DType::f32, operand->shape});
  types[In::targets].dtype = DType::i32;
  for (std::size_t i = kInputs; i < types.size(); ++i) types[i].dtype = DType::f64;
  Composition parts(attrs(), types);
  parts.add_gradients();
  if (attrs().finish) parts.add_finish(attrs());
  Interpreter interpreter(parts.graph);
  for (std::size_t i = 0; i < types.size(); ++i) {
    interpreter[parts.inputs[i]].data = args.in(i).data;
  }
  interpreter.run(args.step);
  for (std::size_t i = kInputs; i < types.size(); ++i) {
    args.in(i).data = interpreter[parts.inputs[i]].data;
  }
  for (std::size_t i = 0; i < kOutputs; ++i) args.out(i).data = interpreter[parts.outputs[i]].data;
}

Cost SmallCnnOp::cost(std::span<const ValueType> inputs, std::span<const ValueType> outputs) const {
  Composition parts(attrs(), inputs);
  parts.add_gradients();
  const Graph& graph = parts.graph;
  Cost cost;
  for (const Node& node : graph.nodes()) {
    cost.flops += cost_of(graph, node).flops;
  }
  for (std::size_t i = 0; i < kInputs; ++i) {
    const auto records = i < In::w ? static_cast<double>(attrs().gather.batch) : 1.0;
    cost.bytes += records * static_cast<double>(inputs[i].bytes());
  }
  for (const ValueType& type : outputs) cost.bytes += static_cast<double>(type.bytes());
  // A sample's features and slopes of its logits: written, and read by the sums over the batch.
  const Shape& v = inputs[In::v].shape;
  cost.bytes += 2.0 * sizeof(float) * static_cast<double>(attrs().gather.batch * (v[0] + v[1]));
  return cost;
}

Saving SmallCnnOp::saving(std::span<const ValueType> inputs) const {
  Composition parts(attrs(), inputs);
  parts.add_gradients();
  Saving saving{.bytes = -cost(inputs, infer(inputs)).bytes};
  for (const Node& node : parts.graph.nodes()) {
    if (node.op->is_view()) continue;
    saving.operators += 1;
    saving.bytes += cost_of(parts.graph, node).bytes;
  }
  return saving;
}

void register_small_cnn(OpRegistry& registry) { registry.add<SmallCnnOp>(); }

}  // namespace linnet
