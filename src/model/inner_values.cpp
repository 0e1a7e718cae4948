// SPDX-License-Identifier: Apache-2.0
// What is inside a network: values between its layers, and gradients by its inputs.
#include <linnet/model.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/memory.h"
#include "model/derivative_network.h"
#include "model/id_limits.h"
#include "model/inner_values.h"
#include "model/input_batches.h"
#include "model/named_places.h"
#include "model/session.h"
#include "model/step_graph.h"

namespace linnet {
namespace {

using Part = std::shared_ptr<const NetworkDefinition>;

bool is_of(const std::string& name, const std::string& layer) {
  return name == layer || name.starts_with(layer + ".");
}

/// Up to eight names of layers that begin with the same letters; of all, where none does.
std::string names_like(const Graph& graph, const std::string& layer) {
  const std::string kind = layer.substr(0, layer.find_first_of("0123456789_."));
  std::vector<std::string> like;
  std::vector<std::string> all;
  for (const Node& node : graph.nodes()) {
    if (!all.empty() && all.back() == node.name) continue;
    all.push_back(node.name);
    if (!kind.empty() && node.name.starts_with(kind)) like.push_back(node.name);
  }
  const std::vector<std::string>& names = like.empty() ? all : like;
  std::string text;
  for (std::size_t i = 0; i < std::min<std::size_t>(names.size(), 8); ++i) {
    text += fmt::format("{}'{}'", i == 0 ? "" : ", ", names[i]);
  }
  return text + (names.size() > 8 ? ", ..." : "");
}

/// Returns the network with `value` as its one output, without what that does not need.
Part part_for(const NetworkDefinition& network, const std::string& name, Value value) {
  NetworkDefinition cut = network;
  cut.outputs = {{name, value}};
  return std::make_shared<const NetworkDefinition>(pruned(cut, {true}));
}

Part part_of_layer(const NetworkDefinition& network, const std::string& layer) {
  const std::vector<Node>& nodes = network.graph.nodes();
  const auto last = std::find_if(nodes.rbegin(), nodes.rend(),
                                 [&](const Node& node) { return is_of(node.name, layer); });
  require(last != nodes.rend(), "the network has no layer '{}'; it has {}", layer,
          names_like(network.graph, layer));
  const Value value = result_of(network, *last);
  const ValueType& type = network.graph.type(value);
  require(type.dtype == DType::f32 && type.shape.rank() > 0 && type.shape[0] == kTemplateBatch,
          "the layer '{}' gives {}; expected f32 with a row for each sample", layer,
          batch_named(to_string(type)));
  return part_for(network, layer, value);
}

/// Runs a recipe's programs over a data set, one batch after the other. Slots: the inputs of `part`
/// in their own types, `constants` (the same for every batch, rows of it), then the result.
Tensor run(ModelState& model, const NetworkDefinition& part, const Dataset& data,
           std::int64_t batch, const ProgramRecipe& recipe, const std::vector<Tensor>& constants,
           const Shape& result_sample) {
  const std::vector<StepData::Part> parts = step_inputs(part, data);
  std::vector<InputBatches> inputs;
  inputs.reserve(parts.size());
  for (std::size_t i = 0; i < parts.size(); ++i) {
    inputs.emplace_back(parts[i], part.held(part.inputs[i].dtype), data.size(), batch);
  }
  Session session(model);
  DataPass pass = session.add_pass(data.size(), batch, recipe);
  session.attach();
  Tensor result(part.held(), result_sample.batched(data.size()));
  const std::vector<IdLimit> limits = id_limits(part);
  const Backend& backend = *model.backend;
  const bool on_host = backend.capabilities().host_memory;
  std::vector<std::shared_ptr<Buffer>> memory(parts.size() + constants.size() + 1);
  const auto on_device = [&](std::size_t slot, std::size_t bytes) -> Buffer& {
    if (memory[slot] == nullptr || memory[slot]->bytes() < bytes) {
      memory[slot] = backend.allocate(bytes);
    }
    pass.bind(slot, memory[slot]->data());
    return *memory[slot];
  };
  const auto give = [&](std::size_t slot, std::span<const std::byte> bytes) {
    if (on_host) return pass.bind(slot, bytes.data());
    backend.upload(on_device(slot, bytes.size()), 0, bytes);
  };
  for (std::int64_t first = 0; first < data.size(); first += batch) {
    const std::int64_t count = std::min(batch, data.size() - first);
    std::size_t slot = 0;
    std::vector<std::span<const std::byte>> samples;
    for (InputBatches& input : inputs) samples.push_back(input.at(first, count));
    check_ids(part, limits, samples, static_cast<std::uint64_t>(first));
    for (const std::span<const std::byte> bytes : samples) give(slot++, bytes);
    for (const Tensor& constant : constants) give(slot++, constant.rows(0, count).bytes());
    const std::span<std::byte> to = result.rows(first, first + count).writable_bytes();
    Buffer* from = on_host ? nullptr : &on_device(slot, to.size());
    if (on_host) pass.bind(slot, to.data());
    const auto records = static_cast<std::uint64_t>(count);
    const ShardRows rows{{.first_row = static_cast<std::uint64_t>(first), .samples = records},
                         records};
    ProgramQueue queue;
    pass.add_shards(queue, std::span(&rows, 1));
    queue.run();
    if (from != nullptr) backend.download(*from, 0, to);
  }
  return result;
}

/// Returns the recipe of a program that computes the part's one output.
ProgramRecipe prediction_recipe(std::string key, const ModelState& model, const Part& part) {
  const DType first = part->held(part->inputs.empty() ? DType::f32 : part->inputs[0].dtype);
  const Supports supports = supports_of(*model.backend);
  return {.key = std::move(key),
          .graph_of =
              [part, first, supports](std::int64_t n) {
                return prediction_step(*part, first, n, OutputForm::plain, supports);
              },
          .fixed_weights = true};
}

}  // namespace

Tensor values_before(ModelState& model, const std::string& layer, Value read, const Dataset& data) {
  const Part part = part_for(model.definition(), layer, read);
  return run(model, *part, data, data.size(),
             prediction_recipe(fmt::format("values before {}", layer), model, part), {},
             part->output_sample());
}

Tensor Model::value_of(const std::string& layer, const Dataset& data, std::int64_t batch) {
  require(batch > 0, "expected a batch of at least 1; got {}", batch);
  ModelState& model = state();
  const Part part = part_of_layer(model.definition(), layer);
  return run(model, *part, data, batch,
             prediction_recipe(fmt::format("value of {}", layer), model, part), {},
             part->output_sample());
}

Tensor Model::input_gradient(const Dataset& data, const InputGradient& which, std::int64_t batch) {
  require(batch > 0, "expected a batch of at least 1; got {}", batch);
  ModelState& model = state();
  const NetworkDefinition& network = model.definition();
  const NetworkInput& input =
      network.inputs[which.by.empty() ? 0 : place_of(network.inputs, which.by, "input")];
  const NetworkOutput& output =
      network.outputs[which.of.empty() ? 0 : place_of(network.outputs, which.of, "output")];
  require(input.dtype == DType::f32, "the input '{}' holds ids, which have no gradient",
          input.name);
  const Part part = part_for(network, output.name, output.value);
  const auto by = std::ranges::find(part->inputs, input.name, &NetworkInput::name);
  require(by != part->inputs.end(), "the output '{}' does not depend on the input '{}'",
          output.name, input.name);
  const Shape sample = part->output_sample();
  require(which.index >= 0 && which.index < sample.elements(),
          "expected an index below {1} for the output '{0}'; got {2}", output.name,
          sample.elements(), which.index);
  const std::int64_t rows = std::min(batch, data.size());
  std::vector<float> ones(static_cast<std::size_t>(rows * sample.elements()));
  for (std::int64_t row = 0; row < rows; ++row) {
    ones[static_cast<std::size_t>(row * sample.elements() + which.index)] = 1;
  }
  const Tensor weights = Tensor(std::move(ones), sample.batched(rows)).to(part->held());
  const Supports supports = supports_of(*model.backend);
  const auto place = static_cast<std::size_t>(by - part->inputs.begin());
  const ProgramRecipe recipe{.key = fmt::format("gradient of {} by {}", output.name, input.name),
                             .graph_of =
                                 [part, place, supports](std::int64_t n) {
                                   return input_gradient_step(*part, place, n, supports);
                                 },
                             .fixed_weights = true};
  return run(model, *part, data, batch, recipe, {weights}, input.sample);
}

Tensor Model::jacobian(const Dataset& data, const std::string& by, const std::string& of,
                       std::int64_t batch) {
  const NetworkDefinition& network = state().definition();
  const Shape input = network.inputs[by.empty() ? 0 : place_of(network.inputs, by, "input")].sample;
  const Shape output =
      network.output_sample(of.empty() ? 0 : place_of(network.outputs, of, "output"));
  require(1 + output.rank() + input.rank() <= Shape::kMostAxes,
          "the Jacobian of an output {} by an input {} would have more than {} dims",
          to_string(output), to_string(input), Shape::kMostAxes);
  std::vector<std::int64_t> dims{data.size()};
  for (const Shape& shape : {output, input}) {
    dims.insert(dims.end(), shape.dims().begin(), shape.dims().end());
  }
  const DType numbers = state().definition().numbers;
  Tensor all = in_memory("the Jacobian", [&] { return Tensor(numbers, Shape(std::span(dims))); });
  const std::size_t width = static_cast<std::size_t>(input.elements()) * size_of(numbers);
  const std::span<std::byte> to = all.writable_bytes();
  for (std::int64_t element = 0; element < output.elements(); ++element) {
    const Tensor one = input_gradient(data, {.by = by, .of = of, .index = element}, batch);
    const std::span<const std::byte> from = one.bytes();
    for (std::int64_t row = 0; row < data.size(); ++row) {
      const auto at = static_cast<std::size_t>(row * output.elements() + element) * width;
      std::ranges::copy(from.subspan(static_cast<std::size_t>(row) * width, width),
                        to.begin() + static_cast<std::ptrdiff_t>(at));
    }
  }
  return all;
}

Tensor Model::hessian(const Dataset& data, const std::string& by, const std::string& of,
                      std::int64_t batch) {
  require(batch > 0, "expected a batch of at least 1; got {}", batch);
  ModelState& model = state();
  const NetworkDefinition made =
      derivative_network(model.definition(), by, of, Derivatives::jacobian_and_hessian);
  const NetworkOutput& hessian = made.outputs.back();
  const Part part = part_for(made, hessian.name, hessian.value);
  return run(model, *part, data, batch,
             prediction_recipe(fmt::format("hessian of '{}' by '{}'", of, by), model, part), {},
             part->output_sample());
}

}  // namespace linnet
