// SPDX-License-Identifier: Apache-2.0
// Constants that stand for one number, or several, a sample: exporters repeat settings over the
// batch, and count its samples. One sample's are kept, with 1 as the dim of the batch's axis.
#include <linnet/functions.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <numeric>
#include <set>

#include "base/check.h"
#include "onnx/fold.h"

namespace linnet::onnx {
namespace {

using Settings = std::map<std::size_t, ConstantPtr>;

bool is_one_of(std::string_view op, std::initializer_list<std::string_view> some) {
  return std::ranges::find(some, op) != some.end();
}

bool is_elementwise(std::string_view op) {
  return is_one_of(op, {"Add",
                        "Sub",
                        "Mul",
                        "Div",
                        "Mod",
                        "Pow",
                        "Max",
                        "Min",
                        "Equal",
                        "Less",
                        "LessOrEqual",
                        "Greater",
                        "GreaterOrEqual",
                        "And",
                        "Or",
                        "Where",
                        "Not",
                        "Neg",
                        "Abs",
                        "Floor",
                        "Ceil",
                        "Sqrt",
                        "Exp",
                        "Log",
                        "Reciprocal",
                        "Sin",
                        "Cos"});
}

bool keeps_elements(std::string_view op) {
  return is_one_of(op, {"Identity", "Cast", "CastLike", "Dropout"});
}

const Constant& constant(const NodeImport& n, std::size_t i) { return *n.input(i).constant; }

/// Returns the place of the batch among dims of a shape; -1: it is not there.
int place_of_batch(const Constant& shape) {
  if (!shape.batch) return -1;
  const std::vector<std::int64_t> dims = shape.integers();
  const auto is_batch = [](std::int64_t dim) { return dim != 0 && dim % kTemplateBatch == 0; };
  const auto found = std::ranges::find(dims, kTemplateBatch);
  require<DataError>(found != dims.end() && std::ranges::count_if(dims, is_batch) == 1,
                     "a constant of {} depends on the batch size", text_of(dims));
  return static_cast<int>(found - dims.begin());
}

/// A shape for one sample.
ConstantPtr shape_of_one(const Constant& shape, const std::vector<std::int64_t>& dims) {
  return std::make_shared<Constant>(Type::i64, shape.dims(),
                                    std::vector<double>(dims.begin(), dims.end()));
}

int axis_of_elements(const NodeImport& n) {
  std::size_t rank = 0;
  for (std::size_t i = 0; i < n.inputs(); ++i) rank = std::max(rank, constant(n, i).dims().size());
  int axis = -1;
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    const Constant& c = constant(n, i);
    if (c.batch_axis < 0) continue;
    const int here = c.batch_axis + static_cast<int>(rank - c.dims().size());
    require<DataError>(axis < 0 || axis == here, "would combine the batch with another axis");
    axis = here;
  }
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    const Constant& c = constant(n, i);
    const int own = axis - static_cast<int>(rank - c.dims().size());
    require<DataError>(own < 0 || c.dims()[static_cast<std::size_t>(own)] == 1,
                       "expected a constant that is the same for every sample; got {}",
                       text_of(c.dims()));
  }
  return axis;
}

int axis_of_expanded(NodeImport& n, std::size_t shape_input, Settings& settings) {
  const Constant& shape = constant(n, shape_input);
  std::vector<std::int64_t> dims = shape.integers();
  const int asked = place_of_batch(shape);
  if (asked >= 0) dims[static_cast<std::size_t>(asked)] = 1;
  settings[shape_input] = shape_of_one(shape, dims);
  if (shape_input == 0) return asked;  // ConstantOfShape
  const Constant& x = constant(n, 0);
  const std::size_t rank = std::max(dims.size(), x.dims().size());
  const int from_shape = asked < 0 ? -1 : asked + static_cast<int>(rank - dims.size());
  const int from_x =
      x.batch_axis < 0 ? -1 : x.batch_axis + static_cast<int>(rank - x.dims().size());
  const int axis = std::max(from_shape, from_x);
  const auto is_one = [&](const Dims& d) {
    const int own = axis - static_cast<int>(rank - d.size());
    return own < 0 || d[static_cast<std::size_t>(own)] == 1;
  };
  require<DataError>((from_shape < 0 || from_x < 0 || from_shape == from_x) && is_one(dims) &&
                         is_one(x.dims()),
                     "cannot expand {} to {} for every sample", text_of(x.dims()), text_of(dims));
  return axis;
}

int axis_of_tiled(NodeImport& n, Settings& settings) {
  const Constant& x = constant(n, 0);
  const Constant& repeats = constant(n, 1);
  std::vector<std::int64_t> all = repeats.integers();
  require<DataError>(all.size() == x.dims().size(), "expected a number for each axis");
  const int asked = place_of_batch(repeats);
  if (asked >= 0) all[static_cast<std::size_t>(asked)] = 1;
  settings[1] = shape_of_one(repeats, all);
  const int axis = std::max(asked, x.batch_axis);
  const auto is_one = [&](std::size_t at) { return x.dims()[at] == 1 && all[at] == 1; };
  require<DataError>(axis >= 0 && repeats.batch_axis < 0 && (asked < 0 || x.batch_axis < 0) &&
                         is_one(static_cast<std::size_t>(axis)),
                     "cannot repeat {} for every sample", text_of(x.dims()));
  return axis;
}

/// Returns -1 where the batch becomes a part of an axis.
int axis_of_reshaped(NodeImport& n, Settings& settings) {
  const Constant& x = constant(n, 0);
  const Constant& shape = constant(n, 1);
  std::vector<std::int64_t> dims = shape.integers();
  const bool merges = shape.batch && std::ranges::any_of(dims, [](std::int64_t dim) {
                        return dim > kTemplateBatch && dim % kTemplateBatch == 0;
                      });
  int axis = merges ? -1 : place_of_batch(shape);
  if (axis >= 0) dims[static_cast<std::size_t>(axis)] = 1;
  std::int64_t known = 1;
  std::ptrdiff_t open = -1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && i < x.dims().size()) {
      if (static_cast<int>(i) == x.batch_axis) axis = x.batch_axis;
      dims[i] = x.dims()[i];
    }
    if (dims[i] < 0) open = static_cast<std::ptrdiff_t>(i);
    if (dims[i] > 0 && known <= kMostComputed / dims[i]) known *= dims[i];
  }
  if (open >= 0) dims[static_cast<std::size_t>(open)] = x.elements() / known;
  if (axis < 0 && open >= 0 && dims[static_cast<std::size_t>(open)] == 1) {
    axis = static_cast<int>(open);
  }
  const auto before = [](const Dims& d, int place) {
    return std::accumulate(d.begin(), d.begin() + place, std::int64_t{1}, std::multiplies<>());
  };
  if (merges || axis < 0 || x.batch_axis < 0 ||
      before(dims, axis) != before(x.dims(), x.batch_axis)) {
    require<DataError>(x.batch_axis == 0 && !x.growth && x.dims().size() > 1,
                       "cannot reshape {}, of each sample, to {}", text_of(x.dims()),
                       text_of(dims));
    return -1;
  }
  settings[1] = shape_of_one(shape, dims);
  return axis;
}

/// Axes that come or go before the batch's.
int axis_of_squeezed(NodeImport& n, bool adds) {
  const Constant& x = constant(n, 0);
  const std::vector<std::int64_t> axes = fold_axes(n, 13);
  require<DataError>(!axes.empty(), "expected axes, since the batch is one of them");
  const std::size_t rank = x.dims().size() + (adds ? axes.size() : 0);
  std::set<int> places;
  for (const std::int64_t axis : axes) places.insert(n.axis(axis, rank));
  int axis = x.batch_axis;
  if (adds) {
    for (const int place : places) axis += place <= axis ? 1 : 0;
    return axis;
  }
  require<DataError>(!places.contains(axis), "would drop the batch");
  return axis - static_cast<int>(std::ranges::count_if(places, [&](int p) { return p < axis; }));
}

int axis_of_gathered(NodeImport& n) {
  const Constant& x = constant(n, 0);
  const Constant& ids = constant(n, 1);
  const int axis = n.axis(n.integer("axis", 0), x.dims().size());
  require<DataError>(ids.growth == nullptr && (ids.batch_axis < 0 || x.batch_axis < 0) &&
                         axis != x.batch_axis,
                     "would take elements of other samples");
  if (ids.batch_axis >= 0) return axis + ids.batch_axis;
  return x.batch_axis < axis ? x.batch_axis
                             : x.batch_axis + static_cast<int>(ids.dims().size()) - 1;
}

int axis_of_joined(NodeImport& n) {
  const Constant& x = constant(n, 0);
  const int axis = n.axis(n.integer("axis", 1), x.dims().size());
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    require<DataError>(constant(n, i).batch_axis == x.batch_axis && axis != x.batch_axis,
                       "would join along the batch, or what has it along another axis");
  }
  return x.batch_axis;
}

/// Returns the axis that the batch has in the results. `settings`: inputs that depend on its size,
/// for one sample.
int axis_after(NodeImport& n, Settings& settings) {
  const std::string_view op = n.op();
  if (is_elementwise(op)) return axis_of_elements(n);
  if (op == "ConstantOfShape") return axis_of_expanded(n, 0, settings);
  if (op == "Expand") return axis_of_expanded(n, 1, settings);
  if (op == "Tile") return axis_of_tiled(n, settings);
  if (op == "Reshape") return axis_of_reshaped(n, settings);
  if (op == "Unsqueeze" || op == "Squeeze") return axis_of_squeezed(n, op == "Unsqueeze");
  if (op == "Gather") return axis_of_gathered(n);
  if (op == "Concat") return axis_of_joined(n);
  const int axis = constant(n, 0).batch_axis;
  if (keeps_elements(op)) return axis;
  const std::size_t rank = constant(n, 0).dims().size();
  if (op == "Transpose") {
    const std::vector<std::int64_t> order = n.integers("perm");
    const auto found = std::ranges::find(order, axis);
    require<DataError>(found != order.end(), "expected the order of all axes");
    return static_cast<int>(found - order.begin());
  }
  if (op == "Split") {
    require<DataError>(n.axis(n.integer("axis", 0), rank) != axis, "would split the batch");
    return axis;
  }
  if (op == "Slice" && n.opset() >= 10) {
    const std::vector<std::int64_t> cut = n.has(3) ? n.integers(3) : std::vector<std::int64_t>{0};
    require<DataError>(std::ranges::none_of(cut, [&](auto at) { return n.axis(at, rank) == axis; }),
                       "would slice the batch");
    return axis;
  }
  n.refuse("is not supported on a constant that depends on the batch size");
}

/// The constant as if samples had the same.
ConstantPtr first_of(const Constant& c) {
  auto first = std::make_shared<Constant>(c);
  first->growth = nullptr;
  return first;
}

/// What a constant grows by, as one.
ConstantPtr growth_of(const Constant& c) {
  return std::make_shared<Constant>(Type::f64, c.dims(),
                                    c.growth ? *c.growth
                                             : std::vector<double>(
                                                   static_cast<std::size_t>(c.elements())));
}

/// Returns what the results grow by: linear operators do the same with what their operands grow by.
std::vector<ConstantPtr> growths(NodeImport& n, Settings settings,
                                 const std::function<void(NodeImport&)>& fold_one,
                                 const std::vector<ConstantPtr>& given) {
  const std::string_view op = n.op();
  if (is_one_of(op, {"Max", "Min"})) {
    return {std::make_shared<Constant>(
        Type::f64, given[0]->dims(),
        std::vector<double>(static_cast<std::size_t>(given[0]->elements()),
                            std::numeric_limits<double>::quiet_NaN()))};
  }
  if (keeps_elements(op)) {
    require<DataError>(given[0]->type() != Type::boolean, "is not known for every sample");
    return {growth_of(constant(n, 0))};
  }
  const bool all = is_one_of(op, {"Add", "Sub", "Concat"});
  const bool scales = op == "Mul" && !(constant(n, 0).growth && constant(n, 1).growth);
  require<DataError>(all || scales ||
                         is_one_of(op, {"Unsqueeze", "Squeeze", "Reshape", "Transpose", "Slice",
                                        "Split", "Gather", "Expand", "Tile"}),
                     "is not supported on the numbers of samples");
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    if (!n.is_constant(i)) continue;
    const Constant& c = constant(n, i);
    if (all || c.growth) settings[i] = growth_of(c);
  }
  return n.given_with(settings, fold_one);
}

}  // namespace

bool is_of_samples(const NodeImport& n) {
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    if (n.is_constant(i) && constant(n, i).batch_axis >= 0) return true;  // CastLike has a trace
  }
  const bool takes_shape = is_one_of(n.op(), {"Expand", "ConstantOfShape", "Range", "Tile"});
  return takes_shape && constant(n, n.op() == "ConstantOfShape" ? 0 : 1).batch;
}

int axis_of_computed(const NodeImport& n) {
  if (!is_of_samples(n)) return -1;
  bool alone = n.is_constant(0) && constant(n, 0).batch_axis >= 0 && !constant(n, 0).growth;
  for (std::size_t i = 1; i < n.inputs(); ++i) {
    alone = alone && (!n.is_constant(i) || constant(n, i).batch_axis < 0);
  }
  const int axis = alone ? constant(n, 0).batch_axis : -1;
  const bool sums =
      n.op() == "CumSum" && alone && n.axis(n.whole(1), constant(n, 0).dims().size()) != axis;
  const bool images =
      axis == 0 &&
      is_one_of(n.op(), {"Conv", "ConvTranspose", "MaxPool", "AveragePool", "GlobalAveragePool",
                         "GlobalMaxPool", "InstanceNormalization", "GroupNormalization"});
  require<DataError>(sums || images,
                     "is not supported on a constant that depends on the batch size");
  return axis;
}

bool repeats_for_samples(const NodeImport& n) {
  if (!is_one_of(n.op(), {"Tile", "Expand"}) || !constant(n, 1).batch) return false;
  const Constant& c = constant(n, 0);
  if (c.batch || c.batch_axis >= 0) return false;
  const std::vector<std::int64_t> all = constant(n, 1).integers();
  if (all.empty() || all[0] % kTemplateBatch != 0 || all[0] <= 0 ||
      std::ranges::any_of(all.begin() + 1, all.end(),
                          [](std::int64_t x) { return x <= 0 || x % kTemplateBatch == 0; })) {
    return false;
  }
  return n.op() == "Tile" ? all.size() == c.dims().size() && c.dims()[0] > 1
                          : all[0] > kTemplateBatch;
}

void repeat_for_samples(NodeImport& n) {
  const ConstantPtr& c = n.constant(0);
  std::vector<std::int64_t> all = n.input(1).constant->integers();
  Dims own = c->dims();
  all[0] /= kTemplateBatch;
  Dims to;
  if (n.op() == "Tile") {
    require<DataError>(std::ranges::all_of(all, [](std::int64_t x) { return x == 1; }),
                       "can repeat only along the batch, once for each sample; got repeats {}",
                       text_of(all));
    to = own;
  } else {
    require<DataError>(own.size() <= all.size(), "cannot expand {} to {}", text_of(own),
                       text_of(all));
    own.insert(own.begin(), all.size() - own.size(), 1);
    to = common(own, all);
    require<DataError>(own[0] == 1, "cannot expand {} to {}", text_of(own), text_of(all));
  }
  const Expression rows = n.weight(reshaped(*c, own), as_is(own));
  Trace y{expand(n.zero_of_samples(own.size()) + rows, Shape(to)), {{0, 1}}, c->type(), 0};
  for (int i = 2; i <= static_cast<int>(to.size()); ++i) y.axes.push_back({i});
  n.give(std::move(y));
}

Trace value_of_samples(NodeImport& n, const Constant& c) {
  require<DataError>(c.batch_axis == 0 && !c.growth && c.dims().size() > 1,
                     "expected a constant that is the same for every sample along axis 0; got {}",
                     text_of(c.dims()));
  const Dims own(c.dims().begin() + 1, c.dims().end());
  Trace y{n.zero_of_samples(own.size()) + made_weight(n, "rows", own, c.values()),
          {{0}},
          c.type(),
          0};
  for (int i = 1; i <= static_cast<int>(own.size()); ++i) y.axes.push_back({i});
  return y;
}

void fold_samples(NodeImport& n, const std::function<void(NodeImport&)>& fold_one) {
  if (n.op() == "Shape") {
    Dims dims = constant(n, 0).dims();
    dims[static_cast<std::size_t>(constant(n, 0).batch_axis)] = kTemplateBatch;
    return give_shape(n, dims);
  }
  if (n.op() == "Range") {
    require<DataError>(n.scalar(0) == 0 && place_of_batch(constant(n, 1)) == 0 && n.scalar(2) == 1,
                       "expected a range of all samples where it depends on the batch size");
    auto numbers = std::make_shared<Constant>(constant(n, 1).type(), Dims{1}, std::vector{0.0});
    numbers->batch_axis = 0;
    numbers->growth = std::make_shared<const std::vector<double>>(1, 1.0);
    return n.give(ConstantPtr(std::move(numbers)));
  }
  Settings settings;
  const int axis = axis_after(n, settings);
  if (axis < 0 && n.op() == "Reshape") {
    return reshape_value(n, value_of_samples(n, constant(n, 0)));
  }
  bool grows = false;
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    if (!n.is_constant(i) || constant(n, i).growth == nullptr) continue;
    grows = true;
    settings.emplace(i, first_of(constant(n, i)));
  }
  const std::vector<ConstantPtr> given = n.given_with(settings, fold_one);
  const std::vector<ConstantPtr> growth =
      grows ? growths(n, settings, fold_one, given) : std::vector<ConstantPtr>(given.size());
  for (std::size_t i = 0; i < given.size(); ++i) {
    if (given[i] == nullptr) continue;
    auto c = std::make_shared<Constant>(*given[i]);
    c->batch_axis = axis;
    if (growth[i]) c->growth = std::make_shared<const std::vector<double>>(growth[i]->values());
    n.give(ConstantPtr(std::move(c)), i);
  }
}

}  // namespace linnet::onnx
