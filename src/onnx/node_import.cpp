// SPDX-License-Identifier: Apache-2.0
#include "onnx/node_import.h"

#include <linnet/functions.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "base/utf8.h"

namespace linnet::onnx {
namespace {

std::string shown(std::string_view name) { return escaped(name); }

/// Sizes that both lists are products of neighbours of; both have the same product. Throws
/// DataError where there are none.
std::vector<std::int64_t> refined(std::vector<std::int64_t> a, std::vector<std::int64_t> b) {
  std::vector<std::int64_t> sizes;
  std::size_t i = 0;
  std::size_t k = 0;
  while (i < a.size() && k < b.size()) {
    const std::int64_t small = std::min(a[i], b[k]);
    require<DataError>(small > 0 && a[i] % small == 0 && b[k] % small == 0,
                       "expected operands whose axes are products of the same dims");
    sizes.push_back(small);
    if ((a[i] /= small) == 1) ++i;
    if ((b[k] /= small) == 1) ++k;
  }
  for (; i < a.size(); ++i) require<DataError>(a[i] == 1, "expected operands of one shape");
  for (; k < b.size(); ++k) require<DataError>(b[k] == 1, "expected operands of one shape");
  return sizes;
}

std::int64_t product(const std::vector<std::int64_t>& sizes) {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

/// A part of an ONNX axis that several operands share: the axis, and which part of it.
struct Part {
  std::size_t axis;
  std::size_t index;
  bool operator==(const Part&) const = default;
  auto operator<=>(const Part&) const = default;
};

}  // namespace

ConstantPtr without_batch(const Constant& c, std::size_t axis) {
  Dims one = c.dims();
  const std::int64_t dim = std::exchange(one[axis], 1);
  const std::vector<double> values = c.values();
  const std::int64_t inner =
      std::accumulate(c.dims().begin() + static_cast<std::ptrdiff_t>(axis) + 1, c.dims().end(),
                      std::int64_t{1}, std::multiplies<>());
  std::vector<double> first;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const std::int64_t at = static_cast<std::int64_t>(i) / inner % dim;
    if (at == 0) first.push_back(values[i]);
    const std::size_t same = i - static_cast<std::size_t>(at * inner);
    require<DataError>(values[i] == values[same] || (values[i] != values[i]),
                       "'{}' of {} differs from sample to sample of a batch", c.name,
                       text_of(c.dims()));
  }
  auto other = std::make_shared<Constant>(c.type(), std::move(one), std::move(first), c.elements());
  other->name = c.name + ".first";
  return other;
}

NodeImport::NodeImport(Importer& importer, const NodeProto& node)
    : importer_(importer), node_(node) {
  std::string wanted = shown(node.name);
  if (wanted.empty() && !node.outputs.empty()) wanted = shown(node.outputs[0]);
  name_ = importer.unique_name(wanted);
  scope_ = importer.scope(name_);
}

bool NodeImport::has(std::size_t input) const {
  return input < node_.inputs.size() && !node_.inputs[input].empty();
}

bool NodeImport::wants(std::size_t output) const {
  return output < node_.outputs.size() && !node_.outputs[output].empty() &&
         importer_.uses(node_.outputs[output]) > 0;
}

const FileValue& NodeImport::input(std::size_t i) const {
  require<DataError>(has(i), "expected at least {} inputs; got {}", i + 1, node_.inputs.size());
  const FileValue* value = importer_.find(node_.inputs[i]);
  require<DataError>(importer_.find_texts(node_.inputs[i]) == nullptr,
                     "its input '{}' holds strings, which are supported as class labels alone",
                     shown(node_.inputs[i]));
  require<DataError>(value != nullptr, "its input '{}' is unknown: no earlier node computes it",
                     shown(node_.inputs[i]));
  return *value;
}

const ConstantPtr& NodeImport::constant(std::size_t i) const {
  if (others_ != nullptr) {
    const auto other = others_->find(i);
    if (other != others_->end()) return other->second;
  }
  const FileValue& value = input(i);
  require<DataError>(value.constant != nullptr,
                     "expected a constant for input {}; '{}' depends on the inputs", i,
                     shown(node_.inputs[i]));
  require<DataError>(value.constant->growth == nullptr, "'{}' differs from sample to sample",
                     shown(node_.inputs[i]));
  return value.constant;
}

std::vector<std::int64_t> NodeImport::integers(std::size_t i) const {
  const ConstantPtr& c = constant(i);
  require<DataError>(!c->batch, "its input '{}' depends on the batch size", c->name);
  return c->integers();
}

double NodeImport::scalar(std::size_t i) const {
  const ConstantPtr& c = constant(i);
  require<DataError>(c->elements() == 1 && !c->batch,
                     "expected a single number for input {}; got {}", i, text_of(c->dims()));
  return c->values().front();
}

std::int64_t NodeImport::whole(std::size_t i) const {
  scalar(i);  // checks that it is one
  return constant(i)->integers().front();
}

Trace NodeImport::trace(std::size_t i) const {
  const FileValue& value = input(i);
  require<DataError>(value.trace.has_value(),
                     "'{}' is a constant, which is not supported for input {}",
                     shown(node_.inputs[i]), i);
  Trace t = *value.trace;
  t.e = scoped(t.e);
  return t;
}

Trace NodeImport::floats(std::size_t i) const {
  Trace t = trace(i);
  require<DataError>(is_float(t.type) && t.e.dtype() == DType::f32,
                     "expected floats for input {}; got {}", i, name_of(t.type));
  return t;
}

std::vector<FileValue> NodeImport::all() const {
  std::vector<FileValue> values;
  for (std::size_t i = 0; i < inputs(); ++i) {
    values.push_back(input(i));
    if (values.back().trace) values.back().trace->e = scoped(values.back().trace->e);
  }
  return values;
}

bool NodeImport::has_attribute(std::string_view name) const {
  return std::ranges::find(node_.attributes, name, &Attribute::name) != node_.attributes.end();
}

const Attribute* NodeImport::attribute(std::string_view name, AttributeKind kind) {
  read_.insert(std::string(name));
  const auto found = std::ranges::find(node_.attributes, name, &Attribute::name);
  if (found == node_.attributes.end()) return nullptr;
  require<DataError>(found->kind == kind, "its attribute '{}' has another type", name);
  return &*found;
}

std::int64_t NodeImport::integer(std::string_view name, std::int64_t otherwise) {
  const Attribute* a = attribute(name, AttributeKind::i);
  return a == nullptr ? otherwise : a->i;
}

bool NodeImport::flag(std::string_view name, bool otherwise) {
  const std::int64_t value = integer(name, otherwise ? 1 : 0);
  require<DataError>(value == 0 || value == 1, "its attribute '{}' is {}; expected 0 or 1", name,
                     value);
  return value == 1;
}

double NodeImport::number(std::string_view name, double otherwise) {
  const Attribute* a = attribute(name, AttributeKind::f);
  return a == nullptr ? otherwise : static_cast<double>(a->f);
}

std::string NodeImport::text(std::string_view name, std::string_view otherwise) {
  const Attribute* a = attribute(name, AttributeKind::s);
  return shown(a == nullptr ? otherwise : a->s);
}

std::vector<std::int64_t> NodeImport::integers(std::string_view name,
                                               const std::vector<std::int64_t>& otherwise) {
  const Attribute* a = attribute(name, AttributeKind::ints);
  return a == nullptr ? otherwise : a->ints;
}

std::vector<double> NodeImport::numbers(std::string_view name) {
  const Attribute* a = attribute(name, AttributeKind::floats);
  if (a == nullptr) return {};
  return {a->floats.begin(), a->floats.end()};
}

std::vector<std::string> NodeImport::texts(std::string_view name) {
  const Attribute* a = attribute(name, AttributeKind::strings);
  std::vector<std::string> texts;
  if (a != nullptr) {
    for (const std::string_view text : a->strings) texts.push_back(shown(text));
  }
  return texts;
}

const TensorProto& NodeImport::tensor(std::string_view name) {
  const Attribute* a = attribute(name, AttributeKind::t);
  require<DataError>(a != nullptr, "its attribute '{}' is missing", name);
  return *a->t;
}

int NodeImport::axis(std::int64_t axis, std::size_t rank) const {
  const auto axes = static_cast<std::int64_t>(rank);
  require<DataError>(axis >= -axes && axis < axes, "expected an axis of [{}, {}); got {}", -axes,
                     axes, axis);
  return static_cast<int>(axis < 0 ? axis + axes : axis);
}

Expression NodeImport::scoped(const Expression& e) const {
  return {scope_, e.value(), e.batched()};
}

Expression NodeImport::weight(const ConstantPtr& constant, const Layout& layout) {
  return importer_.weight(constant, layout, scope_);
}

Expression NodeImport::zero_of_samples(std::size_t rank) const {
  const FileValue* first = nullptr;
  for (const ValueProto& input : importer_.model().inputs) {
    const FileValue* value = importer_.find(input.name);
    if (first == nullptr && value != nullptr && value->trace) first = value;
  }
  require<DataError>(first != nullptr, "expected an input");
  const Expression e = scoped(first->trace->e);
  Expression number = reshape(e, {e.shape().elements()});
  if (e.dtype() == DType::i32) number = one_hot(number, 1);
  number = slice(number, 0, 0, 1);
  return reshape((number > 0) * 0, Shape(Dims(rank, 1)));  // for NaN too
}

std::string NodeImport::layer_name(const Constant& weight) const {
  const std::string from = shown(weight.name);
  for (const std::string_view end :
       {".weight", "_weight", ".kernel", "_kernel", ".W", "_W", ".w", "_w", ".gamma", "_gamma",
        ".scale", "_scale", ".bias", "_bias", ".b", "_b"}) {
    if (from.size() > end.size() && from.ends_with(end)) {
      return importer_.unique_name(from.substr(0, from.size() - end.size()));
    }
  }
  return importer_.unique_name(name_);
}

Aligned NodeImport::align(std::vector<FileValue> operands, std::size_t last) {
  std::size_t rank = 0;
  bool same = last == 0;
  for (FileValue& v : operands) {
    const std::size_t own = v.dims().size();
    require<DataError>(own >= last, "expected at least {} axes; got {}", last, text_of(v.dims()));
    rank = std::max(rank, own - last);
    if (v.trace) v.trace->e = scoped(v.trace->e);
    same = same && v.trace && v.trace->axes == operands[0].trace->axes &&
           v.trace->e.shape() == operands[0].trace->e.shape();
  }
  Aligned aligned;
  if (same) {
    for (const FileValue& v : operands) aligned.operands.push_back(v.trace->e);
    aligned.axes = operands[0].trace->axes;
    return aligned;
  }
  // Axis `a` of all operands is this one of `v`; negative: it has none.
  const auto own_axis = [&](const FileValue& v, std::size_t a) {
    return static_cast<std::ptrdiff_t>(a + v.dims().size()) -
           static_cast<std::ptrdiff_t>(rank + last);
  };
  const auto places_of = [&](FileValue& v, std::size_t a) -> Axis* {
    const auto own = own_axis(v, a);
    return own < 0 ? nullptr : &v.trace->axes[static_cast<std::size_t>(own)];
  };
  // What the axes are made of, from the operands that have them.
  std::vector<std::vector<std::int64_t>> parts(rank);
  std::size_t batch = rank;
  for (FileValue& v : operands) {
    if (!v.trace) continue;
    v.trace = squeezed(*v.trace);
    for (std::size_t i = 0; i < last; ++i) {
      v.trace = merged(*v.trace, static_cast<int>(v.trace->axes.size() - 1 - i));
    }
    for (std::size_t a = 0; a < rank; ++a) {
      const Axis* places = places_of(v, a);
      if (places == nullptr || places->empty()) continue;
      std::vector<std::int64_t> sizes;
      for (const int place : *places) {
        sizes.push_back(dim_of(*v.trace, place));
        if (place != 0) continue;
        require<DataError>(batch == rank || batch == a, "would combine the samples of a batch");
        batch = a;
      }
      parts[a] = parts[a].empty() ? sizes : refined(parts[a], sizes);
    }
  }
  for (FileValue& v : operands) {
    for (std::size_t a = 0; !v.trace && a < rank; ++a) {
      const auto own = own_axis(v, a);
      if (own < 0) continue;
      const std::int64_t dim = v.constant->dims()[static_cast<std::size_t>(own)];
      if (dim == 1) continue;
      if (a == batch) {
        require<DataError>(parts[a] == std::vector{kTemplateBatch} && dim == importer_.batch(),
                           "'{}' of {} does not fit the batch", v.constant->name,
                           text_of(v.constant->dims()));
        v.constant = without_batch(*v.constant, static_cast<std::size_t>(own));
        continue;
      }
      if (parts[a].empty()) parts[a] = {dim};
      require<DataError>(product(parts[a]) == dim, "expected operands of one shape; got {}",
                         text_of(v.constant->dims()));
    }
  }
  for (FileValue& v : operands) {
    for (std::size_t a = 0; v.trace && a < rank; ++a) {
      if (places_of(v, a) == nullptr || places_of(v, a)->empty()) continue;
      for (std::size_t i = 0; i < parts[a].size(); ++i) {
        const int place = (*places_of(v, a))[i];
        if (dim_of(*v.trace, place) != parts[a][i]) v.trace = split(*v.trace, place, parts[a][i]);
      }
    }
  }
  // The order in which the operand of most axes has them; what it lacks, before the next one.
  std::vector<Part> all;
  for (std::size_t a = 0; a < rank; ++a) {
    for (std::size_t i = 0; i < parts[a].size(); ++i) {
      if (parts[a][i] != kTemplateBatch) all.push_back({a, i});
    }
  }
  const auto place_of = [&](FileValue& v, const Part& part) {
    const Axis* places = places_of(v, part.axis);
    return places == nullptr || places->empty() ? 0 : (*places)[part.index];
  };
  std::vector<Part> order;
  for (FileValue& v : operands) {
    if (!v.trace) continue;
    std::vector<std::pair<int, Part>> own;
    for (const Part& part : all) {
      if (const int place = place_of(v, part); place > 0) own.emplace_back(place, part);
    }
    std::ranges::sort(own);
    if (own.size() <= order.size()) continue;
    order.clear();
    for (const auto& [place, part] : own) order.push_back(part);
  }
  for (const Part& part : all) {
    if (std::ranges::find(order, part) != order.end()) continue;
    order.insert(std::ranges::find_if(order, [&](const Part& other) { return part < other; }),
                 part);
  }
  aligned.axes.resize(rank);
  for (std::size_t a = 0; a < rank; ++a) {
    for (std::size_t i = 0; i < parts[a].size(); ++i) {
      const auto found = std::ranges::find(order, Part{a, i});
      aligned.axes[a].push_back(found == order.end() ? 0
                                                     : static_cast<int>(found - order.begin()) + 1);
    }
  }
  for (FileValue& v : operands) {
    if (v.trace) {
      Dims sample;
      std::vector<int> places;
      for (const Part& part : order) {
        const int place = place_of(v, part);
        sample.push_back(place > 0 ? dim_of(*v.trace, place) : 1);
        if (place > 0) places.push_back(place);
      }
      for (std::size_t i = last; i-- > 0;) {
        places.push_back(v.trace->axes[v.trace->axes.size() - 1 - i].front());
        sample.push_back(dim_of(*v.trace, places.back()));
      }
      const Expression e = reordered(*v.trace, places).e;
      aligned.operands.push_back(e.shape() == Shape(sample) ? e : reshape(e, Shape(sample)));
      continue;
    }
    Layout layout;
    std::vector<std::pair<Part, int>> own;  // parts, and where the view has them
    for (std::size_t a = 0; a < rank; ++a) {
      const auto at = own_axis(v, a);
      if (at < 0 || v.constant->dims()[static_cast<std::size_t>(at)] == 1) continue;
      for (std::size_t i = 0; i < parts[a].size(); ++i) {
        own.emplace_back(Part{a, i}, static_cast<int>(layout.view.size()));
        layout.view.push_back(parts[a][i]);
      }
    }
    for (const Part& part : order) {
      const auto found = std::ranges::find(own, part, &std::pair<Part, int>::first);
      if (found != own.end()) {
        layout.order.push_back(found->second);
        layout.shape.push_back(layout.view[static_cast<std::size_t>(found->second)]);
      } else if (!layout.shape.empty()) {
        layout.shape.push_back(1);
      }
    }
    for (std::size_t i = last; i-- > 0;) {
      const std::int64_t dim = v.constant->dims()[v.constant->dims().size() - 1 - i];
      layout.order.push_back(static_cast<int>(layout.view.size()));
      layout.view.push_back(dim);
      layout.shape.push_back(dim);
    }
    if (layout.shape.empty()) layout = {{1}, {0}, {1}};
    const Expression w = weight(v.constant, layout);
    aligned.operands.push_back(order.empty() && last == 0 ? reshape(w, Shape()) : w);
  }
  return aligned;
}

FileValue NodeImport::with_numbers(const FileValue& value) {
  if (!value.trace || value.trace->e.dtype() != DType::i32) return value;
  Trace t = *value.trace;
  t.e = importer_.as_numbers(scoped(t.e), t.below, name_);
  return t;
}

void NodeImport::give(FileValue value, std::size_t output) {
  if (output >= node_.outputs.size()) return;
  if (given_ != nullptr) {
    LINNET_ASSERT(value.constant != nullptr);
    given_->at(output) = std::move(value.constant);
    return;
  }
  importer_.define(node_.outputs[output], std::move(value));
}

std::vector<ConstantPtr> NodeImport::given_with(const std::map<std::size_t, ConstantPtr>& others,
                                                const std::function<void(NodeImport&)>& import) {
  std::vector<ConstantPtr> given(outputs());
  others_ = &others;
  given_ = &given;
  import(*this);
  others_ = nullptr;
  given_ = nullptr;
  return given;
}

std::optional<NodeImport::Bias> NodeImport::bias_after() const {
  const std::string_view sum = node_.outputs.empty() ? std::string_view() : node_.outputs[0];
  const NodeProto* add = importer_.only_reader(sum);
  if (add == nullptr || add->op_type != "Add" || !add->domain.empty() || add->inputs.size() != 2 ||
      add->outputs.size() != 1 || !add->attributes.empty()) {
    return {};
  }
  const FileValue* other = importer_.find(add->inputs[add->inputs[0] == sum ? 1 : 0]);
  if (other == nullptr || other->constant == nullptr) return {};
  return Bias{add, other->constant};
}

void NodeImport::finish() const {
  for (const Attribute& a : node_.attributes) {
    require<DataError>(read_.contains(a.name), "its attribute '{}' is not supported",
                       shown(a.name));
  }
}

void require_arithmetic(const NodeImport& n, Type type) {
  const bool wide = type != Type::string && bytes_of(type) >= 4;
  if (is_float(type) || wide) return;
  n.refuse("arithmetic of {} is not supported", name_of(type));
}

Aligned beside_numbers(NodeImport& n, Trace value, std::int64_t count) {
  std::vector<double> numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0.0);
  auto all = std::make_shared<Constant>(Type::f32, Dims{count}, std::move(numbers));
  all->name = n.network().name_of_made(n.name() + ".places");
  value.axes.emplace_back();
  return n.align({std::move(value), ConstantPtr(std::move(all))});
}

ConstantPtr made_constant(NodeImport& n, std::string_view role, Dims dims,
                          std::vector<double> values, bool trains) {
  require<DataError>(std::ranges::all_of(values, [](double x) { return std::isfinite(x); }),
                     "expected finite numbers ({})", role);
  auto made = std::make_shared<Constant>(Type::f32, std::move(dims), std::move(values));
  made->name = n.network().name_of_made(fmt::format("{}.{}", n.name(), role));
  made->trains = trains;
  return made;
}

Expression made_weight(NodeImport& n, std::string_view role, Dims dims, std::vector<double> values,
                       bool trains) {
  const Layout layout = as_is(dims);
  return n.weight(made_constant(n, role, std::move(dims), std::move(values), trains), layout);
}

}  // namespace linnet::onnx
