// SPDX-License-Identifier: Apache-2.0
#include <linnet/quantize.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <utility>

#include "base/check.h"
#include "model/model_state.h"
#include "model/precision.h"
#include "nn/builder.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/batch_norm/batch_norm.h"
#include "ops/conv2d/conv2d.h"
#include "ops/dense/dense.h"
#include "ops/global_pool/global_pool.h"
#include "ops/pool2d/pool2d.h"
#include "ops/quantize/quantize.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "plan/passes/match.h"

namespace linnet {
namespace {

/// Returns whether a node multiplies weights in 8 bits once its operands are rounded.
bool is_product(const Node& node) {
  if (const auto* conv = op_as<Conv2dOp>(&node)) {
    const Conv2dAttrs& attrs = conv->attrs();
    return attrs.groups == 1 && attrs.dilation_h == 1 && attrs.dilation_w == 1;
  }
  return op_as<DenseOp>(&node) != nullptr;
}

bool is_parameter(const NetworkDefinition& network, Value value) {
  return std::ranges::find(network.parameters, value, &ParameterSpec::value) !=
         network.parameters.end();
}

/// Returns the value that is rounded for one that is read: poolings and other shapes keep levels.
Value rounded_for(const Graph& graph, Value value) {
  const Node* node = graph.producer(value);
  const bool kept = op_as<MaxPool2dOp>(node) != nullptr || op_as<ReshapeOp>(node) != nullptr;
  return kept ? rounded_for(graph, node->inputs[kFirst]) : value;
}

/// Returns the values that get levels, in order: what products read, the second operand of a sum of
/// batch norms (the first is computed where the sum is), and what a mean over pixels reads.
std::vector<Value> rounded_values(const NetworkDefinition& network) {
  const Graph& graph = network.graph;
  std::vector<Value> values;
  const auto add = [&](Value value) {
    value = rounded_for(graph, value);
    const ValueType& type = graph.type(value);
    const bool sample =
        type.dtype == DType::f32 && type.shape.rank() > 1 && type.shape[0] == kTemplateBatch;
    if (sample && std::ranges::find(values, value) == values.end()) values.push_back(value);
  };
  const auto is_norm = [&](Value v) { return op_as<BatchNormOp>(graph.producer(v)) != nullptr; };
  for (const Node& node : graph.nodes()) {
    const auto* sum = op_as<ArithmeticOp>(&node);
    if (is_product(node) && is_parameter(network, node.inputs[Conv2dOp::In::w])) {
      add(node.inputs[Conv2dOp::In::x]);
    } else if (sum != nullptr && sum->attrs().kind == Arithmetic::add &&
               std::ranges::all_of(node.inputs, is_norm)) {
      add(node.inputs[kSecond]);
    } else if (op_as<GlobalAvgPoolOp>(&node) != nullptr) {
      add(node.inputs[kFirst]);
    }
  }
  return values;
}

/// Returns the samples that are predicted.
Dataset calibration_samples(const Dataset& data, std::int64_t samples) {
  const std::int64_t count = std::min(samples, data.size());
  std::vector<std::int64_t> rows(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < rows.size(); ++i) {
    rows[i] = static_cast<std::int64_t>(i) * data.size() / count;
  }
  return data.take(rows);
}

struct Range {
  double low = 0;
  double high = 0;
};

/// Makes what stands after a value of a copied network: gets the value's copy and its layer,
/// returns what later nodes read instead.
using After = std::function<Value(NetworkBuilder&, Value original, Value copy, const std::string&)>;

/// Returns a copy of a network, with what `after` makes, and weights of the products that are
/// `on_levels` rounded.
std::unique_ptr<NetworkDefinition> copied(const NetworkDefinition& from, const After& after,
                                          const std::function<bool(const Node&)>& on_levels) {
  auto made = std::make_unique<NetworkDefinition>();
  made->kinds = from.kinds;
  made->layers = from.layers;
  made->outputs.emplace_back();  // where the builder keeps the current value
  NetworkBuilder builder(*made);
  std::vector<Value> map(from.graph.value_count());
  const auto mapped = [&](Value v) -> Value& { return map[static_cast<std::size_t>(v.id)]; };
  for (const NetworkInput& input : from.inputs) {
    const Value copy = builder.add_input(input.name, input.sample, input.dtype);
    mapped(input.value) = after(builder, input.value, copy, input.name);
  }
  for_constants(from.graph, [&](Value v, const std::vector<double>& elements) {
    mapped(v) = builder.graph().add_constant(elements);
  });
  for (const ParameterSpec& spec : from.parameters) {
    const std::size_t dot = spec.name.rfind('.');
    const std::string layer = spec.name.substr(0, dot);
    const std::string role = spec.name.substr(dot + 1);
    mapped(spec.value) =
        spec.trainable
            ? builder.weight(layer, role, spec.shape, spec.initializer, spec.fan_in, spec.fan_out)
            : builder.statistic(layer, role, spec.shape, spec.initializer);
  }
  for (const Node& node : from.graph.nodes()) {
    std::vector<Value> inputs;
    for (const Value input : node.inputs) inputs.push_back(mapped(input));
    if (on_levels(node)) {
      Value& w = inputs[Conv2dOp::In::w];
      w = builder.graph().emit(QuantizeWeightsOp(), {w}, node.name);
    }
    const std::vector<Value> outputs = builder.copy(node, std::move(inputs));
    for (std::size_t i = 0; i < outputs.size(); ++i) {
      mapped(node.outputs[i]) = after(builder, node.outputs[i], outputs[i], node.name);
    }
  }
  for (const auto& [sequences, lengths] : from.lengths) {
    made->lengths.emplace(mapped(Value{sequences}).id, mapped(Value{lengths}).id);
  }
  made->outputs = from.outputs;
  for (NetworkOutput& output : made->outputs) {
    output.value = mapped(output.value);
    for (Value& member : output.members) member = mapped(member);
  }
  return made;
}

/// Returns the network with `levels` after values, by id, and weights of products rounded.
std::unique_ptr<NetworkDefinition> rounded(const NetworkDefinition& network,
                                           const std::map<int, LevelsAttrs>& levels) {
  const After round = [&](NetworkBuilder& builder, Value v, Value copy, const std::string& layer) {
    const auto found = levels.find(v.id);
    if (found == levels.end()) return copy;
    return builder.graph().add(std::make_shared<QuantizeOp>(found->second), {copy},
                               layer)[QuantizeOp::Out::y];
  };
  return copied(network, round, [&](const Node& node) {
    return is_product(node) && is_parameter(network, node.inputs[Conv2dOp::In::w]) &&
           levels.contains(rounded_for(network.graph, node.inputs[Conv2dOp::In::x]).id);
  });
}

constexpr std::array kBounds = {Reduction::min, Reduction::max};

/// Returns a network whose outputs are each sample's bounds of `values`: the i-th value's k-th
/// bound is named i * kBounds.size() + k. Each is computed beside its value, which need not be
/// kept.
std::unique_ptr<NetworkDefinition> with_bounds(const NetworkDefinition& network,
                                               const std::vector<Value>& values) {
  std::vector<NetworkOutput> outputs;
  const After watch = [&](NetworkBuilder& builder, Value v, Value copy, const std::string& layer) {
    const auto found = std::ranges::find(values, v);
    if (found == values.end()) return copy;
    const auto first = static_cast<std::size_t>(found - values.begin()) * kBounds.size();
    std::vector<std::int64_t> axes(builder.graph().type(copy).shape.rank() - 1);
    std::iota(axes.begin(), axes.end(), 1);
    for (std::size_t k = 0; k < kBounds.size(); ++k) {
      const ReduceOp bound({.kind = kBounds[k], .axes = axes});
      outputs.push_back({fmt::format("{}", first + k), builder.graph().emit(bound, {copy}, layer)});
    }
    return copy;
  };
  auto made = copied(network, watch, [](const Node&) { return false; });
  made->outputs = std::move(outputs);
  return made;
}

/// Returns the smallest and largest of each value over all samples.
std::vector<Range> ranges_of(const Model& model, const std::vector<Value>& values,
                             const Dataset& data, const QuantizeOptions& options) {
  const NetworkDefinition& network = model.state().definition();
  const std::unique_ptr<NetworkDefinition> watched = with_bounds(network, values);
  const std::vector<bool> all(watched->outputs.size(), true);
  Model copy(Network(std::make_unique<NetworkDefinition>(pruned(*watched, all))),
             {.device = "cpu", .threads = model.threads()});
  copy.set_weights(model.weights());
  std::vector<Range> ranges(values.size());
  const Dataset samples = calibration_samples(data, options.samples);
  for (std::int64_t first = 0; first < samples.size(); first += options.batch) {
    const std::int64_t end = std::min(first + options.batch, samples.size());
    for (const Column& bound : copy.predict_all(samples.rows(first, end), options.batch)) {
      const std::size_t i = std::stoul(bound.name) / kBounds.size();
      for (const float x : bound.data.as<float>()) {
        require<DataError>(std::isfinite(x), "the samples {} to {} of '{}' give {} in '{}'", first,
                           end - 1, data.info().name, x, network.graph.info(values[i]).name);
        ranges[i].low = std::min(ranges[i].low, static_cast<double>(x));
        ranges[i].high = std::max(ranges[i].high, static_cast<double>(x));
      }
    }
  }
  return ranges;
}

}  // namespace

Model quantize(const Model& model, const Dataset& data, const QuantizeOptions& options) {
  require(options.samples > 0 && options.batch > 0,
          "expected at least 1 sample and a batch of at least 1; got {} and {}", options.samples,
          options.batch);
  require<DataError>(data.size() > 0, "'{}' has no samples to quantize with", data.info().name);
  refuse_f64(model, "a quantized model");
  require(quantized_layers(model) == 0, "the model is quantized already");
  const NetworkDefinition& network = model.state().definition();
  require(std::ranges::any_of(network.graph.nodes(), is_product),
          "the network has neither convolutions nor dense layers to quantize");
  const std::vector<Value> values = rounded_values(network);
  const std::vector<Range> ranges = ranges_of(model, values, data, options);
  std::map<int, LevelsAttrs> levels;
  for (std::size_t i = 0; i < values.size(); ++i) {
    levels.emplace(values[i].id, levels_between(ranges[i].low, ranges[i].high));
  }
  const ModelState& state = model.state();
  Model made(Network(with_batch_named([&] { return rounded(network, levels); })),
             {.device = "cpu",
              .threads = model.threads(),
              .precision = precision_on_cpu(state.options.precision)});
  made.set_weights(model.weights());
  made.state().class_names = state.class_names;
  made.state().onnx_ports = state.onnx_ports;
  made.state().table = state.table;
  made.state().series = state.series;
  made.state().record = state.record;
  return made;
}

std::int64_t quantized_layers(const Model& model) {
  const Graph& graph = model.state().definition().graph;
  return std::ranges::count_if(graph.nodes(), [&](const Node& node) {
    return is_product(node) &&
           op_as<QuantizeWeightsOp>(graph.producer(node.inputs[Conv2dOp::In::w])) != nullptr;
  });
}

}  // namespace linnet
