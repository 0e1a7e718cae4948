// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "base/check.h"
#include "graph/interpreter.h"
#include "onnx/rules.h"

namespace linnet::onnx {
namespace {

constexpr double kMostFlops = 1e9;  // of a node that is computed by references, in a second or so

/// Returns what the graph's outputs are for these values of its input and parameters.
std::vector<ReferenceTensor> computed(const NetworkDefinition& network,
                                      const std::vector<Value>& asked, std::vector<double> input,
                                      const State& weights) {
  NetworkDefinition whole = network;
  whole.outputs.clear();
  for (const Value value : asked) {
    whole.outputs.push_back({std::to_string(value.id), value});
  }
  Graph graph;
  const std::vector<Value> inputs = add_inputs(whole, graph, 1);
  std::vector<Value> parameters;
  const std::vector<Value> outputs =
      instantiate(whole, graph, inputs, 1, Mode::inference, parameters);
  double flops = 0;
  std::int64_t elements = 0;
  for (const Node& node : graph.nodes()) {
    flops += cost_of(graph, node).flops;
    for (const Value output : node.outputs) {
      elements += std::min(graph.shape(output).elements(), 2 * kMostComputed);
      require<DataError>(elements <= kMostComputed,
                         "computing it on constants takes more than {} numbers", kMostComputed);
    }
  }
  require<DataError>(flops <= kMostFlops,
                     "computing it on constants takes {:.0f} operations; expected at most {:.0f}",
                     flops, kMostFlops);
  Interpreter interpreter(graph);
  interpreter[inputs.at(0)].data = std::move(input);
  for (std::size_t i = 0; i < parameters.size(); ++i) {
    if (!parameters[i]) continue;
    const auto values = weights[whole.parameters[i].name].as<float>();
    interpreter[parameters[i]].data.assign(values.begin(), values.end());
  }
  interpreter.run();
  std::vector<ReferenceTensor> results;
  for (const Value output : outputs) results.push_back(interpreter[output]);
  return results;
}

}  // namespace

void Importer::compute(const NodeProto& node, int batch_axis) {
  OnnxImportOptions options;
  options.batch_axis = false;
  Importer one(model_, options);
  one.batch_ = 1;
  std::vector<double> input;
  for (const std::string_view name : node.inputs) {
    if (name.empty() || one.find(name) != nullptr) continue;
    const ConstantPtr& c = find(name)->constant;
    require<DataError>(!c->batch, "is not supported on the batch size");
    if (!input.empty()) {
      one.define(name, c);
      continue;
    }
    input = c->values();
    require<DataError>(!input.empty(), "is not supported on empty constants");
    const Shape sample = c->dims().empty() ? Shape{1} : Shape(c->dims());
    const Value value = one.builder_.add_input("input", sample, DType::f32);
    Trace t{Expression(one.scope(""), value.id, true), {}, c->type(), 0};
    for (std::size_t i = 0; i < c->dims().size(); ++i) t.axes.push_back({static_cast<int>(i) + 1});
    if (c->dims().empty()) t.e = reshape(t.e, Shape());
    one.define(name, std::move(t));
  }
  require<DataError>(!input.empty(), "is not supported without operands");
  NodeImport import(one, node);
  rules().import_of(node)->import(import);
  import.finish();
  std::vector<Value> asked;
  std::vector<std::pair<std::string_view, Dims>> results;
  for (const std::string_view name : node.outputs) {
    const FileValue* value = one.find(name);
    if (value == nullptr) continue;
    if (value->constant) {
      define(name, *value);
      continue;
    }
    const Trace& t = *value->trace;
    require<DataError>(t.e.dtype() == DType::f32, "is not supported on constants alone");
    std::vector<int> order(t.axes.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = static_cast<int>(i);
    Expression e = arranged(t, order);
    if (e.shape().rank() == 0) e = reshape(e, {1});
    asked.push_back({(e * 1).value()});
    results.emplace_back(name, dims_of(t));
  }
  const std::vector<ReferenceTensor> found =
      computed(*one.definition_, asked, std::move(input), one.weights_);
  for (std::size_t i = 0; i < found.size(); ++i) {
    const Type type = one.find(results[i].first)->type();
    auto result = std::make_shared<Constant>(type, results[i].second, found[i].data);
    result->batch_axis = batch_axis;
    define(results[i].first, ConstantPtr(std::move(result)));
  }
}

}  // namespace linnet::onnx
