// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "core/dims.h"
#include "onnx/fold.h"
#include "onnx/node_import.h"

namespace linnet::onnx {
namespace {

/// Dims that a constant gives, with the batch in the size that it has there.
struct Target {
  Dims dims;
  std::int64_t batch;
};

Target target_of(NodeImport& n, std::size_t i) {
  const ConstantPtr& c = n.constant(i);
  return {c->integers(), c->batch ? kTemplateBatch : n.network().batch()};
}

/// Returns the dims of a value where the batch has this size.
Dims dims_at(const Trace& t, std::int64_t batch) {
  Dims dims;
  for (const Axis& axis : t.axes) {
    std::int64_t dim = 1;
    for (const int place : axis) dim *= place == 0 ? batch : dim_of(t, place);
    dims.push_back(dim);
  }
  return dims;
}

void reshape_to(NodeImport& n) { reshape_value(n, n.trace(0)); }

void flatten(NodeImport& n) {
  const Trace x = n.trace(0);
  const std::int64_t given = n.integer("axis", 1);
  const auto rank = static_cast<std::int64_t>(x.axes.size());
  require<DataError>(given >= -rank && given <= rank, "expected an axis of [{}, {}]; got {}", -rank,
                     rank, given);
  Trace y = x;
  y.axes.assign(2, Axis{});
  const auto first = static_cast<std::size_t>(given < 0 ? given + rank : given);
  for (std::size_t i = 0; i < x.axes.size(); ++i) {
    Axis& to = y.axes[i < first ? 0 : 1];
    to.insert(to.end(), x.axes[i].begin(), x.axes[i].end());
  }
  n.give(std::move(y));
}

/// Axes that are an attribute of older opsets and an input of newer ones.
std::optional<std::vector<std::int64_t>> axes_of(NodeImport& n, std::int64_t input_from) {
  if (n.opset() < input_from) {
    if (!n.has_attribute("axes")) return std::nullopt;
    return n.integers("axes");
  }
  if (!n.has(1)) return std::nullopt;
  return n.integers(1);
}

void squeeze(NodeImport& n) {
  const Trace x = squeezed(n.trace(0));
  const bool one_sample = n.network().batch() == 1;
  const auto given = axes_of(n, 13);
  std::vector<bool> drops(x.axes.size(), false);
  if (given) {
    for (const std::int64_t axis : *given) {
      drops[static_cast<std::size_t>(n.axis(axis, x.axes.size()))] = true;
    }
  }
  Trace y = x;
  y.axes.clear();
  for (std::size_t i = 0; i < x.axes.size(); ++i) {
    const Axis& places = x.axes[i];
    const bool one = places.empty() || (places == Axis{0} && one_sample);
    require<DataError>(one || !drops[i], "expected 1 as axis {} of {}", i, text_of(dims_of(x)));
    if (given ? !drops[i] : !one) y.axes.push_back(places);
  }
  n.give(std::move(y));
}

void unsqueeze(NodeImport& n) {
  Trace x = n.trace(0);
  const auto given = axes_of(n, 13);
  require<DataError>(given.has_value(), "expected axes");
  const std::size_t rank = x.axes.size() + given->size();
  std::vector<int> places;
  for (const std::int64_t axis : *given) places.push_back(n.axis(axis, rank));
  std::ranges::sort(places);
  require<DataError>(std::ranges::adjacent_find(places) == places.end(), "expected each axis once");
  for (const int place : places) x.axes.insert(x.axes.begin() + place, Axis{});
  n.give(std::move(x));
}

/// Repeats an axis of 1; the batch's axis is as large as asked for.
Trace repeated(NodeImport& n, Trace t, std::size_t axis, std::int64_t dim) {
  t = merged(t, static_cast<int>(axis));
  Dims sample = dims_of(t.e.shape());
  sample[static_cast<std::size_t>(t.axes[axis].front()) - 1] = dim;
  require<DataError>(t.e.dtype() == DType::f32, "ids cannot be repeated");
  t.e = expand(n.scoped(t.e), Shape(sample));
  return t;
}

void expand_to(NodeImport& n) {
  Trace x = n.trace(0);
  const auto [dims, batch] = target_of(n, 1);
  if (dims.size() > x.axes.size()) {
    x.axes.insert(x.axes.begin(), dims.size() - x.axes.size(), Axis{});
  }
  const std::size_t skipped = x.axes.size() - dims.size();
  for (std::size_t i = 0; i < dims.size(); ++i) {
    const std::int64_t have = dims_at(x, batch)[skipped + i];
    if (dims[i] == have || dims[i] == 1) continue;
    require<DataError>(have == 1 && dims[i] > 0 && dims[i] % kTemplateBatch != 0,
                       "cannot expand {} to {}", text_of(dims_at(x, batch)), text_of(dims));
    x = repeated(n, x, skipped + i, dims[i]);
  }
  n.give(std::move(x));
}

void tile(NodeImport& n) {
  Trace x = n.trace(0);
  const std::vector<std::int64_t> repeats = n.integers(1);
  require<DataError>(repeats.size() == x.axes.size(),
                     "expected a number for each axis of {}; got {}", text_of(dims_of(x)),
                     text_of(repeats));
  for (std::size_t i = 0; i < repeats.size(); ++i) {
    if (repeats[i] == 1) continue;
    require<DataError>(repeats[i] > 0 && !is_batch(x, static_cast<int>(i)),
                       "cannot repeat axis {} of {} {} times", i, text_of(dims_of(x)), repeats[i]);
    // A new axis before those of this one.
    Trace more = x;
    more.axes.push_back({});
    more = repeated(n, more, more.axes.size() - 1, repeats[i]);
    const int place = more.axes.back().front();
    more.axes.pop_back();
    more.axes[i].insert(more.axes[i].begin(), place);
    x = std::move(more);
  }
  n.give(std::move(x));
}

void shape_of(NodeImport& n) { give_shape(n, n.input(0).dims()); }

void size_of(NodeImport& n) {
  const std::int64_t elements = elements_of(n.input(0).dims());
  auto c =
      std::make_shared<Constant>(Type::i64, Dims{}, std::vector{static_cast<double>(elements)});
  c->batch = elements % kTemplateBatch == 0;
  n.give(ConstantPtr(std::move(c)));
}

void constant(NodeImport& n) {
  const auto of = [&](Type type, Dims dims, std::vector<double> values) {
    n.give(ConstantPtr(std::make_shared<Constant>(type, std::move(dims), std::move(values))));
  };
  if (n.has_attribute("value")) {
    n.give(ConstantPtr(std::make_shared<Constant>(n.tensor("value"))));
  } else if (n.has_attribute("value_float")) {
    of(Type::f32, {}, {n.number("value_float", 0)});
  } else if (n.has_attribute("value_int")) {
    of(Type::i64, {}, {static_cast<double>(n.integer("value_int", 0))});
  } else if (n.has_attribute("value_floats")) {
    std::vector<double> values = n.numbers("value_floats");
    const Dims dims{static_cast<std::int64_t>(values.size())};
    of(Type::f32, dims, std::move(values));
  } else if (n.has_attribute("value_ints")) {
    const std::vector<std::int64_t> values = n.integers("value_ints");
    of(Type::i64, {static_cast<std::int64_t>(values.size())}, {values.begin(), values.end()});
  } else {
    n.refuse("expected a value of numbers");
  }
}

/// Both ways between channels and pixels, as a reshape, a transpose and a reshape.
void blocks(NodeImport& n, bool to_space) {
  const Trace x = n.floats(0);
  const std::int64_t size = n.integer("blocksize", 0);
  const std::string mode = n.text("mode", "DCR");
  const Dims dims = dims_of(x);
  require<DataError>(dims.size() == 4 && size > 0, "expected images and a blocksize; got {} and {}",
                     text_of(dims), size);
  require<DataError>(mode == "DCR" || mode == "CRD", "mode '{}' is not supported", mode);
  const auto [c, h, w] = std::array{dims[1], dims[2], dims[3]};
  const auto turn = [&](const Dims& view, const std::vector<int>& order, const Dims& result) {
    const std::int64_t batch = kTemplateBatch;
    const Trace parts = reshaped(x, view, batch);
    Trace turned = parts;
    for (std::size_t i = 0; i < order.size(); ++i) {
      turned.axes[i] = parts.axes[static_cast<std::size_t>(order[i])];
    }
    n.give(reshaped(turned, result, batch));
  };
  if (!to_space) {
    require<DataError>(h % size == 0 && w % size == 0,
                       "expected height and width that are multiples of {1}; got {0}",
                       text_of(dims), size);
    turn({dims[0], c, h / size, size, w / size, size},
         mode == "DCR" ? std::vector{0, 3, 5, 1, 2, 4} : std::vector{0, 1, 3, 5, 2, 4},
         {dims[0], c * size * size, h / size, w / size});
    return;
  }
  require<DataError>(c % (size * size) == 0,
                     "expected channels that are a multiple of {1}; got {0}", c, size);
  const std::int64_t out = c / (size * size);
  const bool deep = mode == "DCR";
  turn(deep ? Dims{dims[0], size, size, out, h, w} : Dims{dims[0], out, size, size, h, w},
       deep ? std::vector{0, 3, 4, 1, 5, 2} : std::vector{0, 1, 4, 2, 5, 3},
       {dims[0], out, h * size, w * size});
}

[[noreturn]] void of_constants_alone(NodeImport& n) { n.refuse("only on constants"); }

}  // namespace

void reshape_value(NodeImport& n, const Trace& x) {
  auto [dims, batch] = target_of(n, 1);
  const bool zeros = n.integer("allowzero", 0) != 0;
  require<DataError>(!zeros || std::ranges::find(dims, 0) == dims.end(),
                     "empty tensors are not supported");
  const Dims from = dims_at(x, batch);
  const std::int64_t whole = elements_of(from);
  std::int64_t known = 1;
  std::ptrdiff_t open = -1;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && i < from.size()) dims[i] = from[i];
    if (dims[i] == -1) {
      require<DataError>(open < 0, "expected at most one -1 in {}", text_of(dims));
      open = static_cast<std::ptrdiff_t>(i);
      continue;
    }
    require<DataError>(dims[i] > 0 && known <= (std::int64_t{1} << 40) / dims[i],
                       "cannot reshape {} to {}", text_of(from), text_of(dims));
    known *= dims[i];
  }
  if (open >= 0 && whole % known == 0) {
    dims[static_cast<std::size_t>(open)] = whole / known;
    known = whole;
  }
  require<DataError>(known == whole, "cannot reshape {} to {}", text_of(from), text_of(dims));
  n.give(reshaped(x, dims, batch));
}

void add_shapes(Operators& all) {
  all["Reshape"] = {reshape_to, "without mixing the samples of a batch"};
  all["Flatten"] = {flatten, "without mixing the samples of a batch"};
  all["Squeeze"] = {squeeze, {}};
  all["Unsqueeze"] = {unsqueeze, {}};
  all["Expand"] = {expand_to, "constant shape"};
  all["Tile"] = {tile, "constant repeats"};
  all["Shape"] = {shape_of, {}};
  all["Size"] = {size_of, {}};
  all["Constant"] = {constant, "numbers, dense"};
  all["ConstantOfShape"] = {of_constants_alone, "only on a constant"};
  all["Range"] = {of_constants_alone, "of constants"};
  all["DepthToSpace"] = {[](NodeImport& n) { blocks(n, true); }, {}};
  all["SpaceToDepth"] = {[](NodeImport& n) { blocks(n, false); }, {}};
}

}  // namespace linnet::onnx
