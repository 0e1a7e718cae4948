// SPDX-License-Identifier: Apache-2.0
#include "onnx/importer.h"

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/ascii.h"
#include "base/check.h"
#include "base/utf8.h"
#include "describe/nearest.h"
#include "onnx/kept_ports.h"
#include "onnx/rules.h"

namespace linnet::onnx {
namespace {

constexpr std::int64_t kOldestOpset = 6;
constexpr std::int64_t kNewestOpset = 28;
constexpr std::int64_t kNewestMlOpset = 5;
constexpr std::size_t kLongestName = 200;

/// Operators whose first operand is channels and pixels.
bool is_of_images(const NodeProto& node, std::size_t input) {
  static const std::set<std::string_view> all = {"Conv",
                                                 "ConvTranspose",
                                                 "MaxPool",
                                                 "AveragePool",
                                                 "LpPool",
                                                 "GlobalMaxPool",
                                                 "GlobalAveragePool",
                                                 "BatchNormalization",
                                                 "InstanceNormalization",
                                                 "GroupNormalization",
                                                 "LRN",
                                                 "Resize",
                                                 "Upsample",
                                                 "DepthToSpace",
                                                 "SpaceToDepth"};
  return input == 0 && all.contains(node.op_type);
}

/// Operators that keep the axes of their operand.
bool keeps_axes(const NodeProto& node) {
  static const std::set<std::string_view> all = {"Add",
                                                 "Sub",
                                                 "Mul",
                                                 "Div",
                                                 "Cast",
                                                 "Identity",
                                                 "Relu",
                                                 "LeakyRelu",
                                                 "Clip",
                                                 "Sigmoid",
                                                 "Tanh",
                                                 "Pad",
                                                 "Dropout",
                                                 "PRelu",
                                                 "Neg",
                                                 "Abs",
                                                 "Sqrt",
                                                 "Pow",
                                                 "Elu",
                                                 "Selu",
                                                 "HardSwish",
                                                 "QuantizeLinear",
                                                 "DequantizeLinear"};
  return all.contains(node.op_type);
}

constexpr int kMostFollowed = 16;  // nodes from an output to what has classes

/// Operators whose results stand for the same classes as their first operand.
bool keeps_classes(const NodeProto& node) {
  static const std::set<std::string_view> all = {"Cast",    "Identity",   "Reshape", "Squeeze",
                                                 "Flatten", "Unsqueeze",  "Softmax", "Sigmoid",
                                                 "ZipMap",  "Normalizer", "Exp"};
  return all.contains(node.op_type);
}

bool takes_ids(const NodeProto& node, std::size_t input) {
  return node.op_type == "Gather" && input == 1;
}

bool keeps_ids(const NodeProto& node) {
  static const std::set<std::string_view> all = {"Cast",    "Identity",  "Reshape",  "Squeeze",
                                                 "Flatten", "Unsqueeze", "Transpose"};
  return all.contains(node.op_type);
}

std::string clean(std::string_view name) {
  std::string out;
  for (const char c : name.substr(0, kLongestName)) {
    out.push_back(static_cast<unsigned char>(c) < 0x20 ? '_' : c);
  }
  return escaped(out);
}

Dims arranged_dims(const Layout& layout) {
  Dims dims;
  for (const int axis : layout.order) dims.push_back(layout.view[static_cast<std::size_t>(axis)]);
  return dims;
}

}  // namespace

Layout as_is(const Dims& dims) {
  std::vector<int> order(dims.size());
  std::iota(order.begin(), order.end(), 0);
  return {dims, std::move(order), dims};
}

Layout in_order(const Dims& dims, const std::vector<int>& order) {
  Layout layout{dims, order, {}};
  layout.shape = arranged_dims(layout);
  return layout;
}

Importer::Importer(const ModelProto& model, const OnnxImportOptions& options)
    : model_(model),
      options_(options),
      definition_(std::make_unique<NetworkDefinition>()),
      builder_(*definition_) {
  definition_->outputs.emplace_back();  // where the builder keeps the current value
}

void Importer::run() {
  const bool has_own = std::ranges::any_of(model_.nodes, &is_of_onnx);
  require<DataError>((model_.opset == 0 && !has_own && model_.ml_opset > 0) ||
                         (model_.opset >= kOldestOpset && model_.opset <= kNewestOpset),
                     "expected opset {} to {} of ONNX's own operators; got {}", kOldestOpset,
                     kNewestOpset, model_.opset);
  require<DataError>(model_.ml_opset >= 0 && model_.ml_opset <= kNewestMlOpset,
                     "expected at most opset {} of the domain ai.onnx.ml; got {}", kNewestMlOpset,
                     model_.ml_opset);
  for (const TensorProto& tensor : model_.initializers) add_initializer(tensor);
  count_uses(model_.nodes);
  for (const ValueProto& output : model_.outputs) ++uses_[std::string(output.name)].count;
  add_inputs();
  for (const NodeProto& node : model_.nodes) add_node(node);
  for (const std::string_view condition : model_.conditions) {
    const FileValue* value = find(condition);
    require<DataError>(value != nullptr && value->constant && !value->constant->batch &&
                           value->constant->elements() == 1 && value->constant->values()[0] != 0,
                       "the condition '{}' of a Loop is not constant and true; expected a constant "
                       "number of iterations",
                       clean(condition));
  }
  for (const auto& [loss, scores, weights] : model_.class_weights) {
    const FileValue* of = find(scores);
    const FileValue* given = find(weights);
    if (of == nullptr || given == nullptr) continue;  // not read
    const Dims classes = of->dims();
    const Dims dims = given->dims();
    require<DataError>(classes.size() > 1 && dims == Dims{classes[1]},
                       "{} expected a weight for each of {} classes; got weights {}", loss,
                       classes.size() > 1 ? classes[1] : 0, text_of(dims));
  }
  require<DataError>(!model_.outputs.empty(), "the graph has no outputs");
  add_outputs();
}

Network Importer::take_network() {
  definition_->outputs.clear();
  for (auto& [name, value] : results_) definition_->outputs.push_back({name, value});
  check_instances(*definition_);
  return Network(std::move(definition_));
}

std::string Importer::unique_name(std::string wanted) {
  wanted = clean(wanted);
  std::string name = wanted;
  for (int i = 2; !names_.insert(name).second; ++i) name = fmt::format("{}_{}", wanted, i);
  return name;
}

std::shared_ptr<const ExpressionScope> Importer::scope(const std::string& name) {
  return std::make_shared<const ExpressionScope>(
      ExpressionScope{builder_.graph(), &builder_, name});
}

bool Importer::reaches(std::string_view name,
                       const std::function<bool(const NodeProto&, std::size_t)>& is,
                       const std::function<bool(const NodeProto&)>& passes) const {
  std::set<std::string_view> values = {name};
  for (const NodeProto& node : model_.nodes) {  // in the order in which they run
    for (std::size_t i = 0; i < node.inputs.size(); ++i) {
      if (!values.contains(node.inputs[i])) continue;
      if (is(node, i)) return true;
      if (passes(node)) values.insert(node.outputs.begin(), node.outputs.end());
    }
  }
  return false;
}

std::int64_t Importer::rows_for(std::string_view ids) const {
  std::int64_t least = 0;
  const auto look = [&](const NodeProto& node, std::size_t input) {
    const FileValue* table = takes_ids(node, input) ? find(node.inputs[0]) : nullptr;
    if (table == nullptr || !table->constant || table->constant->elements() == 0) return false;
    const auto axis = std::ranges::find(node.attributes, "axis", &Attribute::name);
    if (axis != node.attributes.end() && axis->i != 0) return false;
    const Dims& dims = table->constant->dims();
    if (dims.empty()) return false;
    const std::int64_t rows = dims[0];
    least = least == 0 ? rows : std::min(least, rows);
    return false;
  };
  reaches(ids, look, keeps_ids);
  return least;
}

void Importer::add_initializer(const TensorProto& tensor) {
  if (tensor.type == Type::string) texts_.emplace(tensor.name, &tensor);
  if (bytes_of(tensor.type) == 0) return;  // refused where it is used
  auto constant = std::make_shared<Constant>(tensor);
  constant->trains = is_float(tensor.type);
  read_elements_ += constant->elements();
  define(tensor.name, ConstantPtr(std::move(constant)));
}

void Importer::add_inputs() {
  std::vector<std::string> names;
  for (const ValueProto& input : model_.inputs) {
    if (find(input.name) != nullptr) continue;  // an initializer, before IR 4
    names.push_back(clean(input.name));
  }
  require<DataError>(!names.empty(), "the graph has no inputs");
  for (const auto& [name, shape] : options_.shapes) {
    require<DataError>(std::ranges::find(names, name) != names.end(),
                       "a shape {} is given for '{}', which is not an input; the inputs are {}",
                       to_string(shape), name, some_of(names));
  }
  for (const auto& [name, value] : options_.constants) {
    require<DataError>(std::ranges::find(names, name) != names.end(),
                       "a constant {} is given for '{}', which is not an input; the inputs are {}",
                       value, name, some_of(names));
  }
  for (const ValueProto& input : model_.inputs) {
    if (find(input.name) == nullptr) add_input(input);
  }
}

std::size_t Importer::batch_of(const ValueProto& input) const {
  const auto is_open = [](const DimProto& dim) { return dim.value <= 0; };
  const bool fixed = !options_.shapes.contains(clean(input.name)) && input.dims.size() >= 3 &&
                     !is_open(input.dims[0]) && std::ranges::count_if(input.dims, is_open) == 1;
  if (!fixed) return 0;
  const auto open = std::ranges::find_if(input.dims, is_open);
  const auto is_batch = [&](const ValueProto& other) {
    return !other.dims.empty() && is_open(other.dims[0]) && other.dims[0].name == open->name;
  };
  const std::string name = lower_ascii(std::string(open->name));
  const bool named = name == "n" || name.find("batch") != std::string::npos;
  if (!named && std::ranges::none_of(model_.inputs, is_batch)) return 0;
  return static_cast<std::size_t>(open - input.dims.begin());
}

void Importer::add_constant_input(const ValueProto& input, const Dims& dims, double value) {
  require<DataError>(std::ranges::all_of(dims, [](std::int64_t dim) { return dim > 0; }),
                     "the file leaves dims of the constant input '{}' open: give it a shape",
                     clean(input.name));
  const std::int64_t count = elements_of(dims);
  require<DataError>(count <= kMostComputed, "the constant input '{}' has {} elements",
                     clean(input.name), count);
  require<DataError>(is_float(input.type) || value == std::trunc(value),
                     "the constant input '{}' is a whole number; got {}", clean(input.name), value);
  define(input.name,
         ConstantPtr(std::make_shared<Constant>(
             input.type, dims, std::vector<double>(static_cast<std::size_t>(count), value))));
}

void Importer::add_input(const ValueProto& input) {
  const std::string name = clean(input.name);
  require<DataError>(input.type != Type::string,
                     "the input '{}' holds strings, which a network does not take: encode them as "
                     "numbers before the model, and export the rest of it",
                     name);
  require<DataError>(
      bytes_of(input.type) > 0,
      "the input '{}' of {} is not supported: expected floats, whole numbers or BOOL", name,
      name_of(input.type));
  Dims dims;
  const auto given = options_.shapes.find(name);
  if (given != options_.shapes.end()) {
    dims.assign(given->second.dims().begin(), given->second.dims().end());
    require<DataError>(!input.has_shape || dims.size() == input.dims.size(),
                       "the input '{}' has {} axes; the given shape has {}", name,
                       input.dims.size(), dims.size());
  } else {
    require<DataError>(input.has_shape || options_.constants.contains(name),
                       "the input '{}' has no shape: give it one", name);
    for (const DimProto& dim : input.dims) dims.push_back(dim.value);
  }
  if (const auto constant = options_.constants.find(name); constant != options_.constants.end()) {
    return add_constant_input(input, dims, constant->second);
  }
  const bool has_batch = options_.batch_axis;
  const std::size_t batch = has_batch ? batch_of(input) : 0;
  require<DataError>(!has_batch || !dims.empty(), "the input '{}' has no batch axis", name);
  std::vector<int> order;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (has_batch && i == batch) continue;
    order.push_back(static_cast<int>(i));
    require<DataError>(given != options_.shapes.end() || i >= input.dims.size() ||
                           !input.dims[i].none,
                       "the dim {} of the input '{}' is 0: an input has at least one element", i,
                       name);
    require<DataError>(dims[i] > 0,
                       "the file leaves the dim {} of the input '{}' {}open: give it a shape", i,
                       name,
                       i < input.dims.size() && !input.dims[i].name.empty()
                           ? fmt::format("('{}') ", clean(input.dims[i].name))
                           : "");
  }
  if (has_batch && input.has_shape && input.dims[batch].value > 0) {
    const std::int64_t fixed = input.dims[batch].value;
    require<DataError>(batch_ == kTemplateBatch || batch_ == fixed,
                       "the inputs have batches of {} and {}: expected the same first dim", batch_,
                       fixed);
    batch_ = fixed;
  }
  if (!has_batch) batch_ = 1;
  const bool is_ids = !is_float(input.type) && input.type != Type::boolean &&
                      reaches(input.name, takes_ids, keeps_ids);
  const bool images =
      !is_ids && batch == 0 && dims.size() >= 3 && reaches(input.name, is_of_images, keeps_axes);
  // Channels are the last axis of an image; ONNX has them first.
  if (images)
    std::rotate(order.begin(), order.end() - static_cast<std::ptrdiff_t>(dims.size() - 2),
                order.end());
  Dims sample;
  Trace t{{scope(""), -1, true}, std::vector<Axis>(dims.size()), input.type, 0};
  for (const int axis : order) {
    sample.push_back(dims[static_cast<std::size_t>(axis)]);
    t.axes[static_cast<std::size_t>(axis)] = {static_cast<int>(sample.size())};
  }
  if (has_batch) t.axes[batch] = {0};
  const Shape shape = sample.empty() ? Shape{1} : Shape(sample);
  names_.insert(name);
  const Value value = builder_.add_input(name, shape, is_ids ? DType::i32 : DType::f32);
  t.e = Expression(scope(""), value.id, true);
  if (is_ids) t.below = rows_for(input.name);
  if (sample.empty()) t.e = reshape(t.e, Shape());
  if (has_batch) dims[batch] = batch_in_file();
  inputs_.push_back({name, shape, sample.empty() ? std::vector<int>{-1} : order,
                     has_batch ? static_cast<int>(batch) : -1, name_of(input.type), std::move(dims),
                     t.below});
  define(input.name, std::move(t));
}

void Importer::add_node(const NodeProto& node) {
  if (passed_over_.contains(&node)) return;
  const std::string shown = clean(node.op_type);
  std::string called = clean(node.name);
  if (called.empty() && !node.outputs.empty()) called = clean(node.outputs[0]);
  try {
    if (is_if(node)) return add_branch(node);
    const Operator* found = rules().import_of(node);
    require<DataError>(found != nullptr || is_of_onnx(node) || node.domain == kMlDomain,
                       "operators of the domain '{}' are not supported", clean(node.domain));
    require<DataError>(found != nullptr,
                       "this operator is not supported; OnnxImportOptions::until (--until) reads "
                       "the file up to a value before it");
    NodeImport import(*this, node);
    bool constant = node.op_type != "Constant";
    for (std::size_t i = 0; i < import.inputs(); ++i) {
      const FileValue* value = import.has(i) ? find(node.inputs[i]) : nullptr;
      constant = constant && (!import.has(i) || (value != nullptr && value->constant != nullptr));
    }
    with_batch_named([&] { constant ? fold(import) : found->import(import); });
    import.finish();
  } catch (const Error& error) {
    fail_again<DataError>(error, "[{} '{}'] {}", shown, called, batch_named(error.what()));
  } catch (const InternalError& error) {  // an operator met what no builder would have made
    fail<DataError>("[{} '{}'] the operands do not fit", shown, called);
  }
  for (std::size_t i = 0; i < node.outputs.size(); ++i) {
    if (find(node.outputs[i]) != nullptr) continue;
    unsupported_[std::string(node.outputs[i])] =
        fmt::format("output {} of [{} '{}']", i, shown, called);
  }
}

void Importer::add_outputs() {
  std::vector<std::string> names;
  for (const auto& [key, text] : model_.metadata) {
    if (key == kOutputsKey) names = names_from(text);
  }
  // The outputs keep the order of the network that was exported. In other files labels come last,
  // so that the first output is the scores that have class names.
  const auto place = [&](const ValueProto* output) {
    const Classes* classes = classes_of(output->name);
    const auto found = std::ranges::find(names, output->name);
    const bool last = found == names.end() && classes != nullptr && classes->are_labels;
    return found - names.begin() + (last ? 1 : 0);
  };
  std::vector<const ValueProto*> outputs;
  for (const ValueProto& output : model_.outputs) outputs.push_back(&output);
  std::ranges::stable_sort(outputs, {}, place);
  for (const ValueProto* output : outputs) add_output(*output);
}

std::vector<OnnxPort> Importer::outputs_in_file() const {
  std::vector<OnnxPort> all;
  for (const ValueProto& output : model_.outputs) {
    all.push_back(*std::ranges::find(outputs_, clean(output.name), &OnnxPort::name));
  }
  return all;
}

void Importer::add_output(const ValueProto& output) {
  const std::string name = clean(output.name);
  const FileValue* value = find(output.name);
  if (value == nullptr) {
    const auto other = unsupported_.find(output.name);
    require<DataError>(other == unsupported_.end(), "the output '{}', {}, is not supported", name,
                       other->second);
    fail<DataError>("the output '{}' is computed by no node", name);
  }
  require<DataError>(value->trace.has_value(), "the output '{}' does not depend on the inputs",
                     name);
  Trace t = *value->trace;
  t.e = Expression(scope(unique_name("output_" + name)), t.e.value(), true);
  const int batch = batch_axis(t);
  require<DataError>(batch < 0 || is_batch(t, batch),
                     "the output '{}' of {} combines the batch with other dims in one axis", name,
                     batch_named(text_of(dims_of(t))));
  Dims dims = dims_of(t);
  if (batch >= 0) dims[static_cast<std::size_t>(batch)] = batch_in_file();
  const bool is_ids = t.e.dtype() == DType::i32;
  if (is_ids) t.e = as_numbers(t.e, t.below, name);
  const int rank = static_cast<int>(t.axes.size());
  std::vector<int> order;
  for (int i = 0; i < rank; ++i) {
    if (i != batch) order.push_back(i);
  }
  // Images in the network stay images.
  bool image = batch == 0 && rank >= 3 && t.axes[1] == Axis{rank - 1};
  for (int i = 2; i < rank; ++i)
    image = image && t.axes[static_cast<std::size_t>(i)] == Axis{i - 1};
  if (image) std::rotate(order.begin(), order.begin() + 1, order.end());
  Expression e = arranged(t, order);
  if (e.shape().rank() == 0) {
    e = reshape(e, {1});
    order = {-1};
  }
  const ValueInfo& info = definition_->graph.info({e.value()});
  if (info.producer < 0) e = e * 1;  // an input itself
  for (const OnnxPort& other : outputs_) {
    require<DataError>(other.name != name, "two outputs are named '{}'", name);
  }
  const Type type = output.type == Type::undefined ? t.type : output.type;
  outputs_.push_back(
      {name, e.shape(), order, batch, name_of(type), std::move(dims), is_ids ? t.below : 0});
  results_.emplace_back(name, Value{e.value()});
}

std::string Importer::name_of_made(std::string wanted) const {
  while (find(wanted) != nullptr) wanted += '_';
  return wanted;
}

Expression Importer::as_numbers(const Expression& ids, std::int64_t below,
                                const std::string& name) {
  require<DataError>(below > 0 && below <= kMostComputed,
                     "expected numbers; got ids, which are read as numbers only where Gather reads "
                     "them too, along the first axis of a constant table");
  ConstantPtr& all = numbers_[below];
  if (!all) {
    std::vector<double> numbers(static_cast<std::size_t>(below));
    std::iota(numbers.begin(), numbers.end(), 0.0);
    auto made = std::make_shared<Constant>(Type::f32, Dims{below, 1}, std::move(numbers));
    made->name = name_of_made(name + ".ids");
    all = std::move(made);
  }
  return reshape(gather(weight(all, as_is({below, 1}), ids.scope()), ids, 0), ids.shape());
}

bool Importer::is_weight(const Constant& constant) const { return held_.contains(constant.name); }

Expression Importer::natural(const Held& held, const Constant& constant,
                             const std::shared_ptr<const ExpressionScope>& scope) {
  const Expression e(scope, held.e.value(), false);
  Axes inverse(held.layout.order.size());
  for (std::size_t i = 0; i < inverse.size(); ++i) {
    inverse[static_cast<std::size_t>(held.layout.order[i])] = static_cast<std::int64_t>(i);
  }
  const Expression view = reshape(e, Shape(arranged_dims(held.layout)));
  const Expression turned = std::ranges::is_sorted(inverse) ? view : transpose(view, inverse);
  return reshape(turned, Shape(constant.dims()));
}

std::pair<ConstantPtr, Layout> Importer::untransposed(const ConstantPtr& constant,
                                                      const Layout& layout) const {
  if (!constant->base) return {constant, layout};
  if (layout.view != constant->dims()) {  // a weight of its own
    auto other = std::make_shared<Constant>(*constant);
    other->base = nullptr;
    other->name += ".turned";
    return {other, layout};
  }
  Layout of_base{constant->base->dims(), {}, layout.shape};
  for (const int axis : layout.order) {
    of_base.order.push_back(constant->turned[static_cast<std::size_t>(axis)]);
  }
  return {constant->base, of_base};
}

Expression Importer::weight(const ConstantPtr& given, const Layout& wanted,
                            const std::shared_ptr<const ExpressionScope>& scope) {
  const auto [constant, layout] = untransposed(given, wanted);
  require<DataError>(!constant->batch, "'{}' depends on the batch size; expected a weight",
                     constant->name);
  require<DataError>(constant->growth == nullptr, "'{}' differs from sample to sample",
                     constant->name);
  LINNET_ASSERT(elements_of(layout.view) == constant->elements());
  const auto found = held_.find(constant->name);
  if (found != held_.end()) {
    const Held& held = found->second;
    if (held.layout == layout) return {scope, held.e.value(), false};
    const Expression all = natural(held, *constant, scope);
    const Expression view = reshape(all, Shape(layout.view));
    const Expression turned = std::ranges::is_sorted(layout.order)
                                  ? view
                                  : transpose(view, Axes(layout.order.begin(), layout.order.end()));
    return reshape(turned, Shape(layout.shape));
  }
  std::string name = clean(constant->name);
  const std::size_t dot = name.rfind('.');
  if (dot == std::string::npos || dot == 0 || dot + 1 == name.size()) {
    name += constant->trains ? ".weight" : ".value";
  }
  name = unique_name(name);
  const std::string layer = name.substr(0, name.rfind('.'));
  const std::string role = name.substr(name.rfind('.') + 1);
  const Shape shape(layout.shape);
  const Value value = constant->trains ? builder_.weight(layer, role, shape, kZeros, 1, 1)
                                       : builder_.statistic(layer, role, shape, kZeros);
  std::vector<float> values = constant->floats();
  if (!std::ranges::is_sorted(layout.order)) values = permuted(values, layout.view, layout.order);
  weights_.set(name, Tensor(std::move(values), shape));
  const Expression e(scope, value.id, false);
  if (!constant->name.empty()) held_.insert_or_assign(constant->name, Held{e, layout});
  return e;
}

void Importer::set_weight(const std::string& layer, const std::string& role,
                          const ConstantPtr& given, const Layout& wanted) {
  const auto [constant, layout] = untransposed(given, wanted);
  require<DataError>(!constant->batch, "'{}' depends on the batch size; expected a weight",
                     constant->name);
  require<DataError>(constant->growth == nullptr, "'{}' differs from sample to sample",
                     constant->name);
  const std::string name = fmt::format("{}.{}", layer, role);
  const auto spec = std::ranges::find(definition_->parameters, name, &ParameterSpec::name);
  LINNET_ASSERT(spec != definition_->parameters.end());
  require<DataError>(elements_of(layout.view) == constant->elements() &&
                         spec->shape == Shape(layout.shape),
                     "expected {} for '{}'; got {}", to_string(spec->shape), constant->name,
                     text_of(constant->dims()));
  std::vector<float> values = constant->floats();
  if (!std::ranges::is_sorted(layout.order)) values = permuted(values, layout.view, layout.order);
  weights_.set(name, Tensor(std::move(values), spec->shape));
  names_.insert(name);
  if (!constant->name.empty()) {
    held_.insert_or_assign(constant->name,
                           Held{Expression(scope(""), spec->value.id, false), layout});
  }
}

void Importer::set_weight(const std::string& layer, const std::string& role,
                          std::vector<float> values) {
  const std::string name = fmt::format("{}.{}", layer, role);
  const auto spec = std::ranges::find(definition_->parameters, name, &ParameterSpec::name);
  LINNET_ASSERT(spec != definition_->parameters.end());
  weights_.set(name, Tensor(std::move(values), spec->shape));
  names_.insert(name);
}

const TensorProto* Importer::find_texts(std::string_view name) const {
  const auto found = texts_.find(name);
  return found == texts_.end() ? nullptr : found->second;
}

void Importer::name_classes(std::string_view value, std::vector<std::string> names,
                            bool are_labels) {
  classes_.insert_or_assign(std::string(value), Classes{std::move(names), are_labels});
}

const Importer::Classes* Importer::classes_of(std::string_view name) const {
  for (int i = 0; i < kMostFollowed; ++i) {
    const auto found = classes_.find(name);
    if (found != classes_.end()) return &found->second;
    const NodeProto* node = producer(name);
    if (node == nullptr || node->inputs.empty() || !keeps_classes(*node)) return nullptr;
    name = node->inputs[0];
  }
  return nullptr;
}

std::vector<std::string> Importer::class_names() const {
  if (outputs_.empty() || outputs_[0].sample.rank() == 0) return {};
  const std::int64_t count = outputs_[0].sample[outputs_[0].sample.rank() - 1];
  for (const bool labels : {false, true}) {
    for (const ValueProto& output : model_.outputs) {
      const Classes* classes = classes_of(output.name);
      if (classes == nullptr || classes->are_labels != labels) continue;
      if (std::ssize(classes->names) == count) return classes->names;
    }
  }
  return {};
}

const FileValue* Importer::find(std::string_view name) const {
  const auto found = values_.find(name);
  return found == values_.end() ? nullptr : &found->second;
}

void Importer::define(std::string_view name, FileValue value) {
  if (name.empty()) return;
  if (value.constant && value.constant->name.empty()) {
    auto named = std::make_shared<Constant>(*value.constant);
    named->name = name;
    value.constant = std::move(named);
  }
  if (value.constant && value.constant->computed() != nullptr &&
      computed_.insert(value.constant->computed()).second) {
    computed_elements_ += value.constant->elements();
    require<DataError>(computed_elements_ - read_elements_ <= kMostComputedInAll,
                       "the constants that nodes compute have more than {} elements in all",
                       kMostComputedInAll + read_elements_);
  }
  require<DataError>(values_.emplace(name, std::move(value)).second, "two values are named '{}'",
                     name);
}

int Importer::uses(std::string_view name) const {
  const auto found = uses_.find(name);
  return found == uses_.end() ? 0 : found->second.count;
}

bool Importer::goes_through(std::string_view name,
                            std::span<const std::string_view> operators) const {
  std::set<std::string_view> values = {name};
  for (const NodeProto& node : model_.nodes) {  // in the order in which they run
    const auto reads = [&](std::string_view input) { return values.contains(input); };
    if (std::ranges::find(operators, node.op_type) != operators.end() ||
        std::ranges::none_of(node.inputs, reads)) {
      continue;
    }
    values.insert(node.outputs.begin(), node.outputs.end());
  }
  return std::ranges::none_of(model_.outputs, [&](const ValueProto& output) {
    return values.contains(output.name);
  });
}

const NodeProto* Importer::producer(std::string_view name) const {
  const auto gives = [&](const NodeProto& node) {
    return std::ranges::find(node.outputs, name) != node.outputs.end();
  };
  const auto found = std::ranges::find_if(model_.nodes, gives);
  return found == model_.nodes.end() ? nullptr : &*found;
}

const NodeProto* Importer::only_reader(std::string_view name) const {
  const auto found = uses_.find(name);
  return found == uses_.end() || found->second.count != 1 ? nullptr : found->second.reader;
}

void Importer::define_for(const NodeProto& later, FileValue value) {
  passed_over_.insert(&later);
  define(later.outputs.at(0), std::move(value));
}

}  // namespace linnet::onnx
