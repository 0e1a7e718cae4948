// SPDX-License-Identifier: Apache-2.0
#include "onnx/exporter.h"

#include <linnet/onnx.h>
#include <linnet/table_transform.h>

#include <fmt/ranges.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "core/dims.h"
#include "model/model_file.h"
#include "model/model_state.h"
#include "model/training_record.h"
#include "onnx/constant.h"
#include "onnx/rules.h"
#include "ops/bias_add/bias_add.h"
#include "ops/conv2d/conv2d.h"
#include "ops/quantize/quantize.h"
#include "ops/reshape/reshape.h"

namespace linnet::onnx {
namespace {

/// Returns the last axis as the second one, and back.
std::vector<std::int64_t> channels_second(std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + 1, order.end() - 1, order.end());
  return order;
}
std::vector<std::int64_t> channels_last(std::size_t rank) {
  std::vector<std::int64_t> order(rank);
  std::iota(order.begin(), order.end(), 0);
  std::rotate(order.begin() + 1, order.begin() + 2, order.end());
  return order;
}

/// Returns the dims of a value in the file. `channels`: they are the second axis.
Dims dims_in_file(const Shape& shape, bool channels) {
  Dims dims = dims_of(shape);
  dims[0] = kBatch;
  if (channels) std::rotate(dims.begin() + 1, dims.end() - 1, dims.end());
  return dims;
}

/// Returns the dims of samples in the order that a file had.
Dims dims_in_file(const KeptPort& port, const Shape& sample) {
  Dims dims(port.axes.size(), kBatch);
  for (std::size_t i = 1; i < port.axes.size(); ++i) {
    dims[static_cast<std::size_t>(port.axes[i])] = sample[static_cast<int>(i) - 1];
  }
  return dims;
}

/// Returns what the file had under this name; null: nothing that fits such samples.
const KeptPort* find_kept(const std::vector<KeptPort>& ports, const std::string& name,
                          const Shape& sample) {
  const auto port = std::ranges::find(ports, name, &KeptPort::name);
  if (port == ports.end() || port->type == Type::undefined) return nullptr;
  const bool fits =
      port->axes.size() == sample.rank() + 1 || (port->axes.size() == 1 && sample == Shape{1});
  return fits ? &*port : nullptr;
}

std::string as_type(GraphWriter& file, const std::string& x, const std::string& layer, Type type) {
  return file.node("Cast", {x}, layer, {{"to", static_cast<std::int64_t>(type)}});
}

}  // namespace

Exporter::Exporter(const Model& model, std::int64_t opset)
    : model_(model),
      definition_(model.network().definition()),
      kept_(kept_ports(model.state().onnx_ports)),
      file_(opset),
      names_(definition_.graph.value_count()) {}

void Exporter::run() {
  for (const NetworkInput& input : definition_.inputs) file_.reserve(input.name);
  for (const NetworkOutput& output : definition_.outputs) file_.reserve(output.name);
  for (const NetworkOutput& output : definition_.outputs) {
    const auto same = [&](const NetworkInput& input) { return input.name == output.name; };
    require(std::ranges::none_of(definition_.inputs, same),
            "expected different names of inputs and outputs for ONNX; '{}' is both", output.name);
  }
  find_volumes();
  add_inputs();
  const NetworkDefinition needed =
      pruned(definition_, std::vector<bool>(definition_.outputs.size(), true));
  for (const Node& node : needed.graph.nodes()) {
    const auto own = std::ranges::find_if(definition_.graph.nodes(), [&](const Node& other) {
      return other.outputs[0] == node.outputs[0];
    });
    if (is_skipped(*own)) continue;
    const OpPtr op = own->op->at_inference(own->op);
    if (op == nullptr) {
      alias(own->outputs[0], own->inputs[0]);
      continue;
    }
    const auto found = rules().exports.find(op->name());
    if (found == rules().exports.end()) refuse(*own, "ONNX has no such operator");
    found->second(*this, *own, *op);
  }
  add_outputs();
  add_metadata();
}

void Exporter::add_metadata() {
  std::map<std::string, std::string> facts = facts_of(model_);
  facts.erase(kOnnxKey);
  if (model_.class_names().empty()) facts.erase(kClassesKey);
  TrainingRecord record = model_.training_record();
  record.seen.clear();  // which tell of samples
  facts.erase(kTrainingKey);
  if (record != TrainingRecord()) facts[kTrainingKey] = to_json(record);
  if (auto errors = facts.extract(kErrorsKey)) {
    errors.key() = kIntervalsKey;
    facts.insert(std::move(errors));
  }
  // The graph takes transformed numbers: names tell which number is which.
  if (!model_.table().empty()) {
    facts["linnet.features"] = nlohmann::json(model_.table().feature_names()).dump();
  }
  for (const auto& [key, text] : facts) file_.add_metadata(key, text);
}

void Exporter::add_input_as(const NetworkInput& input, const KeptPort& port) {
  const std::size_t rank = port.axes.size();
  const bool numbers = input.dtype == DType::f32;
  const Type own = numbers ? Type::f32 : Type::i32;
  file_.add_input(input.name, port.type, dims_in_file(port, input.sample));
  std::string x = input.name;
  if (port.type != own) x = as_type(file_, x, input.name, own);
  if (rank == 1) {
    x = file_.node("Reshape", {x, file_.integers(input.name + ".shape", {2}, {-1, 1})}, input.name);
  } else if (numbers && rank >= 3 && port.axes == channels_last(rank)) {
    return set(input.value, Form::channels, x);
  } else if (!std::ranges::is_sorted(port.axes)) {
    x = file_.node("Transpose", {x}, input.name, {{"perm", port.axes}});
  }
  set(input.value, Form::plain, x);
}

void Exporter::find_volumes() {
  for (const Node& node : graph().nodes()) {
    if (node.op->name() != Conv2dOp::kName) continue;
    std::optional<CoveredPlanes> planes = covered_planes(graph(), node);
    if (!planes) continue;
    const Node* bias = only_reader(node.outputs[0], BiasAddOp::kName);
    const Value y = (bias == nullptr ? node : *bias).outputs[0];
    const Node* result = only_reader(y, ReshapeOp::kName);
    if (result == nullptr || shape(result->outputs[0]).rank() != 5) continue;
    for (const Node* made : planes->nodes) skip(*made);
    skip(*result);
    volumes_[&node] = {std::move(*planes), result};
  }
}

const Exporter::Volumes* Exporter::volumes(const Node& conv) const {
  const auto found = volumes_.find(&conv);
  return found == volumes_.end() ? nullptr : &found->second;
}

void Exporter::add_inputs() {
  for (const NetworkInput& input : definition_.inputs) {
    if (const KeptPort* port = find_kept(kept_.inputs, input.name, input.sample)) {
      add_input_as(input, *port);
      continue;
    }
    const Shape& whole = shape(input.value);
    const bool image = is_image(whole) && input.dtype == DType::f32;
    file_.add_input(input.name, input.dtype == DType::f32 ? Type::f32 : Type::i32,
                    dims_in_file(whole, image));
    set(input.value, image ? Form::channels : Form::plain, input.name);
  }
}

std::string Exporter::output_as(const NetworkOutput& output, const KeptPort& port) {
  const std::size_t rank = port.axes.size();
  std::vector<std::int64_t> order(rank);  // of the network's axes in the file
  for (std::size_t i = 0; i < rank; ++i) {
    order[static_cast<std::size_t>(port.axes[i])] = static_cast<std::int64_t>(i);
  }
  std::string y;
  if (rank >= 3 && order == channels_second(rank)) {
    y = in(output.value, Form::channels);
  } else {
    y = in(output.value, Form::plain);
    if (rank == 1) {
      y = file_.node("Reshape", {y, file_.integers(output.name + ".shape", {1}, {-1})},
                     output.name);
    } else if (!std::ranges::is_sorted(order)) {
      y = file_.node("Transpose", {y}, output.name, {{"perm", order}});
    }
  }
  return port.type == Type::f32 ? y : as_type(file_, y, output.name, port.type);
}

void Exporter::add_outputs() {
  std::vector<const NetworkOutput*> outputs;
  for (const NetworkOutput& output : definition_.outputs) outputs.push_back(&output);
  std::ranges::stable_sort(outputs, {}, [&](const NetworkOutput* output) {
    return std::ranges::find(kept_.outputs, output->name, &KeptPort::name) - kept_.outputs.begin();
  });
  for (const NetworkOutput* output : outputs) {
    const Shape& whole = shape(output->value);
    const KeptPort* port = find_kept(kept_.outputs, output->name, whole.sample());
    const bool image = is_image(whole);
    const std::string value = port != nullptr
                                  ? output_as(*output, *port)
                                  : in(output->value, image ? Form::channels : Form::plain);
    file_.name_output(value, output->name);
    for (Names& names : names_) {  // others may read it under its new name
      for (auto& [form, name] : names.forms) {
        if (name == value) name = output->name;
      }
    }
    file_.add_output(output->name, port != nullptr ? port->type : Type::f32,
                     port != nullptr ? dims_in_file(*port, whole.sample())
                                     : dims_in_file(whole, image));
  }
  if (std::ranges::is_sorted(outputs)) return;
  std::vector<std::string> names;
  for (const NetworkOutput& output : definition_.outputs) names.push_back(output.name);
  file_.add_metadata(kOutputsKey, nlohmann::json(names).dump());
}

const ParameterSpec* Exporter::parameter(Value v) const {
  const auto found = std::ranges::find(definition_.parameters, v, &ParameterSpec::value);
  return found == definition_.parameters.end() ? nullptr : &*found;
}

bool Exporter::is_batched(Value v) const {
  const Shape& s = shape(v);
  return parameter(v) == nullptr && graph().info(v).storage != Storage::constant && s.rank() > 0 &&
         s[0] % kTemplateBatch == 0;
}

bool Exporter::has(Value v, Form form) const {
  return names_[static_cast<std::size_t>(v.id)].forms.contains(form);
}

Form Exporter::form_of(Value v) const {
  const auto& forms = names_[static_cast<std::size_t>(v.id)].forms;
  for (const Form form : {Form::channels, Form::flat}) {
    if (forms.contains(form)) return form;
  }
  return Form::plain;
}

Shape Exporter::image_of(Value v) const { return names_[static_cast<std::size_t>(v.id)].image; }

void Exporter::set(Value v, Form form, const std::string& name) { names(v).forms[form] = name; }

void Exporter::alias(Value v, Value from) {
  if (parameter(from) != nullptr) {
    set(v, Form::plain, in(from, Form::plain));
    return;
  }
  names(v) = names(from);
}

void Exporter::set_image(Value v, const Shape& image) { names(v).image = image; }

std::string Exporter::as_it_is(Value v) { return in(v, form_of(v)); }

std::string Exporter::in(Value v, Form form) {
  auto& forms = names(v).forms;
  if (const auto found = forms.find(form); found != forms.end()) return found->second;
  if (parameter(v) != nullptr || rounded_weight(v) != nullptr) {
    LINNET_ASSERT(form == Form::plain);
    const Dims dims = dims_of(shape(v));
    std::vector<std::int64_t> order(dims.size());
    std::iota(order.begin(), order.end(), 0);
    return forms[form] = weight(v, dims, order, dims);
  }
  if (const ValueInfo& info = graph().info(v); info.storage == Storage::constant) {
    LINNET_ASSERT(form == Form::plain);
    std::vector<float> values(info.elements.begin(), info.elements.end());
    values.resize(static_cast<std::size_t>(info.type.shape.elements()),
                  static_cast<float>(info.fill));
    return forms[form] = file_.floats(fmt::format("constant_{}", v.id), dims_of(shape(v)), values);
  }
  const std::string layer = definition_.graph.info(v).name;
  const std::size_t rank = shape(v).rank();
  if (form == Form::channels) {
    LINNET_ASSERT(rank >= 3);
    return forms[form] = file_.node("Transpose", {in(v, Form::plain)}, layer,
                                    {{"perm", channels_second(rank)}});
  }
  LINNET_ASSERT(form == Form::plain && !forms.empty());
  if (forms.contains(Form::channels)) {
    return forms[form] = file_.node("Transpose", {forms[Form::channels]}, layer,
                                    {{"perm", channels_last(rank)}});
  }
  const Shape image = names(v).image;
  const std::string view =
      file_.integers(layer + ".image", {4}, {-1, image[2], image[0], image[1]});
  const std::string last =
      file_.node("Transpose", {file_.node("Reshape", {forms[Form::flat], view}, layer)}, layer,
                 {{"perm", channels_last(4)}});
  const std::string to = file_.integers(layer + ".features", {2}, {-1, image.elements()});
  return forms[form] = file_.node("Reshape", {last, to}, layer);
}

const ParameterSpec* Exporter::rounded_weight(Value v) const {
  const Node* node = graph().producer(v);
  return node != nullptr && node->op->name() == QuantizeWeightsOp::kName
             ? parameter(node->inputs[QuantizeWeightsOp::In::w])
             : nullptr;
}

std::string Exporter::write_rounded(const ParameterSpec& spec, const Dims& dims,
                                    const std::vector<float>& values) {
  const auto rows = static_cast<std::size_t>(dims.front());
  const std::size_t width = values.size() / rows;
  std::vector<float> steps;
  std::vector<std::int8_t> rounded;
  for (std::size_t r = 0; r < rows; ++r) {
    const std::span row = std::span(values).subspan(r * width, width);
    steps.push_back(weight_step(row));
    for (const float w : row) rounded.push_back(steps_of(w, steps.back()));
  }
  return file_.node("DequantizeLinear",
                    {file_.int8s(spec.name, dims, rounded),
                     file_.floats(spec.name + ".steps", {dims.front()}, steps)},
                    spec.name, {{"axis", std::int64_t{0}}});
}

std::vector<float> Exporter::numbers(Value v) const {
  const Tensor tensor = model_.parameter(parameter(v)->name);
  const auto span = tensor.as<float>();
  return {span.begin(), span.end()};
}

std::string Exporter::weight(Value v, const Dims& view, const std::vector<std::int64_t>& order,
                             const Dims& dims) {
  const bool turns = !std::ranges::is_sorted(order);
  const std::string key =
      fmt::format("{} {} {}", text_of(view), fmt::join(order, ","), text_of(dims));
  std::string& name = weights_[{v.id, key}];
  if (!name.empty()) return name;
  const ParameterSpec* rounded = rounded_weight(v);
  if (const ParameterSpec* spec = rounded != nullptr ? rounded : parameter(v)) {
    std::vector<float> values = numbers(spec->value);
    if (turns) values = permuted(values, view, std::vector<int>(order.begin(), order.end()));
    LINNET_ASSERT(rounded == nullptr || order.front() == 0);
    return name = rounded != nullptr ? write_rounded(*spec, dims, values)
                                     : file_.floats(spec->name, dims, values);
  }
  const std::string layer = definition_.graph.info(v).name;
  std::string value = in(v, Form::plain);
  const auto reshaped = [&](const Dims& to) {
    const Dims count{static_cast<std::int64_t>(to.size())};
    value = file_.node("Reshape", {value, file_.integers(layer + ".shape", count, to)}, layer);
  };
  if (view != dims_of(shape(v))) reshaped(view);
  if (turns) value = file_.node("Transpose", {value}, layer, {{"perm", order}});
  Dims turned;
  for (const std::int64_t axis : order) turned.push_back(view[static_cast<std::size_t>(axis)]);
  if (turned != dims) reshaped(dims);
  return name = value;
}

const Node* Exporter::only_reader(Value v, std::string_view op) const {
  const auto is = [&](const NetworkOutput& output) { return output.value == v; };
  if (definition_.graph.uses(v) != 1 || std::ranges::any_of(definition_.outputs, is))
    return nullptr;
  for (const Node& node : definition_.graph.nodes()) {
    if (!node.inputs.empty() && node.inputs[0] == v) return node.op->name() == op ? &node : nullptr;
  }
  return nullptr;
}

Value Exporter::with_bias(const Node& product, std::vector<std::string>& inputs) {
  const Value y = product.outputs[0];
  const Node* bias = only_reader(y, "bias_add");
  if (bias == nullptr || parameter(bias->inputs[1]) == nullptr) return y;
  inputs.push_back(in(bias->inputs[1], Form::plain));
  skip(*bias);
  return bias->outputs[0];
}

Form Exporter::images_or_plain(Value v) const {
  return parameter(v) == nullptr && has(v, Form::channels) ? Form::channels : Form::plain;
}

std::string Exporter::integers(const Node& node, std::string_view name,
                               const std::vector<std::int64_t>& values) {
  return file_.integers(fmt::format("{}.{}", node.name, name),
                        {static_cast<std::int64_t>(values.size())}, values);
}

std::string Exporter::reduced(const Node& node, std::string_view op, const std::string& x,
                              const std::vector<std::int64_t>& axes, bool keep) {
  AttributeList list = {{"keepdims", static_cast<std::int64_t>(keep)}};
  if (op == "ReduceSum" || file_.opset() >= 18) {  // ReduceSum has been so since 13
    return file_.node(op, {x, integers(node, "axes", axes)}, node.name, std::move(list));
  }
  list.emplace_back("axes", axes);
  return file_.node(op, {x}, node.name, std::move(list));
}

std::string Exporter::first_dims(const Node& node, const std::string& x, std::int64_t count) {
  if (file_.opset() >= 15) {
    return file_.node("Shape", {x}, node.name, {{"start", std::int64_t{0}}, {"end", count}});
  }
  return file_.node("Slice",
                    {file_.node("Shape", {x}, node.name), integers(node, "begin", {0}),
                     integers(node, "end", {count})},
                    node.name);
}

bool Exporter::is_skipped(const Node& node) const {
  return std::ranges::find(skipped_, &node) != skipped_.end();
}

std::string Exporter::cast(const Node& node, const std::string& x, Type type) {
  return as_type(file_, x, node.name, type);
}

std::int64_t axis_in(Form form, std::int64_t axis, std::size_t rank) {
  if (form != Form::channels || axis == 0) return axis;
  return axis + 1 == static_cast<std::int64_t>(rank) ? 1 : axis + 1;
}

}  // namespace linnet::onnx

namespace linnet {

void export_onnx(const Model& model, const std::filesystem::path& path,
                 const OnnxExportOptions& options) {
  std::optional<onnx::Exporter> exporter;
  try {
    refuse_f64(model, "an ONNX file");
    exporter.emplace(model, options.opset);
    exporter->run();
  } catch (const Error& error) {
    fail_again(error, "cannot write '{}': {}", path.string(), error.what());
  }
  exporter->file().write(path, path.stem().string());
}

}  // namespace linnet
