// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>
#include <linnet/layers/embedding.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "nn/expression/support.h"
#include "onnx/node_import.h"

namespace linnet::onnx {
namespace {

/// Returns a single axis of the expression, which functions count without the batch.
std::int64_t place_of(const Trace& t, int axis) {
  return t.axes[static_cast<std::size_t>(axis)].front() - 1;
}

void join(NodeImport& n) {
  const std::vector<Value> all = n.all();
  const auto first = std::ranges::find_if(all, [](const Value& v) { return v.trace.has_value(); });
  const Dims dims = first->dims();
  const int axis = n.axis(n.integer("axis", 1), dims.size());
  const int batch = batch_axis(*first->trace);
  require<DataError>(axis != batch, "would join along the batch");
  require<DataError>(batch < 0 || is_batch(*first->trace, batch),
                     "axis {} combines the batch with other dims", batch);
  // Their order in the first one; ONNX axes of 1 after those that lie in memory.
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
    if (i != batch) order.push_back(i);
  }
  std::ranges::stable_sort(order, {}, [&](int i) {
    const Axis& places = first->trace->axes[static_cast<std::size_t>(i)];
    return places.empty() ? 100 : places.front();
  });
  std::vector<Expression> parts;
  for (const Value& v : all) {
    const Dims own = v.dims();
    bool fits = own.size() == dims.size();
    for (std::size_t i = 0; fits && i < dims.size(); ++i) {
      const bool is_repeated = v.constant && static_cast<int>(i) == batch &&
                               (own[i] == 1 || own[i] == n.network().batch());
      fits = static_cast<int>(i) == axis || own[i] == dims[i] || is_repeated;
    }
    require<DataError>(fits, "expected operands that differ along axis {} alone; got {} and {}",
                       axis, text_of(dims), text_of(own));
    if (v.trace) {
      require<DataError>(batch_axis(*v.trace) == batch && v.trace->e.dtype() == DType::f32,
                         "expected numbers with the batch along one axis");
      parts.push_back(arranged(*v.trace, order));
      continue;
    }
    Layout layout{own, order, {}};
    ConstantPtr same = v.constant;
    if (batch >= 0) {
      const auto axis = static_cast<std::size_t>(batch);
      if (own[axis] != 1) same = without_batch(*same, axis);
      layout.view.erase(layout.view.begin() + batch);
      for (int& i : layout.order) i -= i > batch ? 1 : 0;
    }
    for (const int i : layout.order)
      layout.shape.push_back(layout.view[static_cast<std::size_t>(i)]);
    parts.push_back(
        expanded(n.weight(same, layout), Shape(layout.shape), n.scoped(first->trace->e)));
  }
  const auto place = std::ranges::find(order, axis) - order.begin();
  n.give(from_rows(*first->trace, concat(parts, place), order));
}

void cut(NodeImport& n) {
  const Trace x = n.floats(0);
  const int axis = n.axis(n.integer("axis", 0), x.axes.size());
  const std::int64_t dim = dims_of(x)[static_cast<std::size_t>(axis)];
  std::vector<std::int64_t> sizes;
  if (n.opset() < 13)
    sizes = n.integers("split");
  else if (n.has(1))
    sizes = n.integers(1);
  const auto count = static_cast<std::int64_t>(n.outputs());
  const std::int64_t asked = n.opset() >= 18 ? n.integer("num_outputs", count) : count;
  require<DataError>(asked == count, "expected num_outputs = {1}, as the node has; got {0}", asked,
                     count);
  if (sizes.empty()) {
    const std::int64_t each = (dim + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i) sizes.push_back(std::min(each, dim - i * each));
  }
  require<DataError>(static_cast<std::int64_t>(sizes.size()) == count &&
                         std::ranges::all_of(sizes, [](std::int64_t s) { return s > 0; }) &&
                         std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) == dim,
                     "expected parts that add up to {1}; got {0}", text_of(sizes), dim);
  const Trace one = merged(x, axis);
  const std::vector<Expression> parts = split(one.e, sizes, place_of(one, axis));
  for (std::size_t i = 0; i < parts.size(); ++i) n.give(n.as(one, parts[i]), i);
}

/// Returns elements first, first + step, ... of an axis, `count` of them.
Trace sliced(const Trace& x, int axis, std::int64_t first, std::int64_t step, std::int64_t count) {
  const std::int64_t dim = dims_of(x)[static_cast<std::size_t>(axis)];
  if (first == 0 && step == 1 && count == dim) return x;
  require<DataError>(count > 0, "empty slices are not supported");
  Trace y = merged(x, axis);
  const std::int64_t place = place_of(y, axis);
  if (step < 0) {
    y.e = flip(y.e, place);
    first = dim - 1 - first;
    step = -step;
  }
  if (first != 0 || step != 1 || count != dim) {
    y.e = slice(y.e, place, first, first + (count - 1) * step + 1, step);
  }
  return y;
}

void slice_axes(NodeImport& n) {
  Trace x = n.trace(0);
  std::vector<std::int64_t> starts;
  std::vector<std::int64_t> ends;
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> steps;
  bool ends_with_batch = false;
  if (n.opset() < 10) {
    starts = n.integers("starts");
    ends = n.integers("ends");
    axes = n.integers("axes");
  } else {
    starts = n.integers(1);
    ends_with_batch = n.constant(2)->batch;
    ends = n.constant(2)->integers();
    if (n.has(3)) axes = n.integers(3);
    if (n.has(4)) steps = n.integers(4);
  }
  require<DataError>(starts.size() == ends.size() &&
                         (axes.empty() || axes.size() == starts.size()) &&
                         (steps.empty() || steps.size() == starts.size()),
                     "expected as many starts as ends, axes and steps");
  for (std::size_t i = 0; i < starts.size(); ++i) {
    const int axis = n.axis(axes.empty() ? static_cast<std::int64_t>(i) : axes[i], x.axes.size());
    const std::int64_t dim = dims_of(x)[static_cast<std::size_t>(axis)];
    const std::int64_t step = steps.empty() ? 1 : steps[i];
    require<DataError>(step != 0 && step > -dim * 2 - 2, "a step of {} is not supported", step);
    if (is_batch(x, axis)) {
      const bool to_end =
          ends[i] >= n.network().batch() &&
          (ends[i] == dim || ends[i] > (1 << 30) || n.network().batch() != kTemplateBatch);
      require<DataError>(starts[i] == 0 && step == 1 && to_end, "would slice the batch");
      continue;
    }
    require<DataError>(!ends_with_batch || ends[i] % kTemplateBatch != 0,
                       "an end depends on the batch size");
    const std::int64_t lowest = step > 0 ? 0 : -1;
    const std::int64_t highest = step > 0 ? dim : dim - 1;
    const auto at = [&](std::int64_t place, std::int64_t low) {
      return std::clamp(place < 0 ? std::max(place, -dim - 1) + dim : place, low, highest);
    };
    const std::int64_t first = at(starts[i], 0);
    const std::int64_t end = ends[i] < -dim ? lowest : at(ends[i], lowest);
    const std::int64_t span = step > 0 ? end - first : first - end;
    const std::int64_t stride = step > 0 ? step : -step;
    require<DataError>(span > 0, "empty slices are not supported");
    x = sliced(x, axis, first, step, (span + stride - 1) / stride);
  }
  n.give(std::move(x));
}

/// Returns a value's elements at these places along an axis.
Trace taken(Trace x, int axis, std::vector<std::int64_t> ids) {
  const std::int64_t dim = dims_of(x)[static_cast<std::size_t>(axis)];
  for (std::int64_t& id : ids) {
    require<DataError>(id >= -dim && id < dim, "expected indices in [{}, {}); got {}", -dim, dim,
                       id);
    id += id < 0 ? dim : 0;
  }
  require<DataError>(!ids.empty() && !is_batch(x, axis), "would slice the batch");
  const std::int64_t step = ids.size() > 1 ? ids[1] - ids[0] : 1;
  bool even = step != 0;
  for (std::size_t i = 1; i < ids.size(); ++i) even = even && ids[i] - ids[i - 1] == step;
  if (even) return sliced(x, axis, ids.front(), step, static_cast<std::int64_t>(ids.size()));
  require<DataError>(ids.size() <= 256,
                     "more than 256 indices without a constant step are not supported");
  x = merged(x, axis);
  std::vector<Expression> parts;
  for (const std::int64_t id : ids) parts.push_back(slice(x.e, place_of(x, axis), id, id + 1));
  x.e = concat(parts, place_of(x, axis));
  return x;
}

/// Constant places of a value along an axis.
void gather_constant(NodeImport& n, int axis) {
  const Trace x = taken(n.trace(0), axis, n.integers(1));
  const Dims ids_dims = n.constant(1)->dims();
  // The places' own axes instead of the one.
  Dims dims = dims_of(x);
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, ids_dims.begin(), ids_dims.end());
  n.give(reshaped(x, dims, kTemplateBatch));
}

/// Returns elements `rows`, (batch, elements, ...), of the constant places of each sample: under
/// the places' own axes, of which one is the batch.
Trace placed(const Trace& rows, const Dims& places, int batch) {
  const Dims dims = dims_of(rows);
  Dims to{kTemplateBatch};
  for (int i = 0; i < static_cast<int>(places.size()); ++i) {
    if (i != batch) to.push_back(places[static_cast<std::size_t>(i)]);
  }
  to.insert(to.end(), dims.begin() + 2, dims.end());
  Trace y = reshaped(rows, to, kTemplateBatch);
  std::rotate(y.axes.begin(), y.axes.begin() + 1, y.axes.begin() + batch + 1);
  return y;
}

/// Elements of all samples in one axis, of each sample its own, by their numbers in it.
void gather_numbered(NodeImport& n, int axis) {
  const Trace x = n.trace(0);
  const Constant& places = *n.input(1).constant;
  const Dims from = dims_of(x);
  require<DataError>(axis == 0 && batch_axis(x) == 0 && places.batch_axis >= 0,
                     "expected elements of each sample along axis 0");
  Dims flat = from;
  flat[0] /= kTemplateBatch;
  flat.insert(flat.begin(), kTemplateBatch);
  const std::vector<std::int64_t> ids = places.integers();
  for (std::size_t i = 0; i < ids.size(); ++i) {
    require<DataError>((*places.growth)[i] == static_cast<double>(flat[1]) && ids[i] >= 0 &&
                           ids[i] < flat[1],
                       "would take elements of other samples");
  }
  n.give(
      placed(taken(reshaped(x, flat, kTemplateBatch), 1, ids), places.dims(), places.batch_axis));
}

/// Elements at constant places, of each sample its own.
void gather_tuples(NodeImport& n) {
  const Trace x = n.trace(0);
  const std::int64_t shared = n.integer("batch_dims", 0);
  const ConstantPtr places = n.input(1).constant;
  require<DataError>(places != nullptr && places->batch_axis >= 0 && places->dims().size() >= 2 &&
                         (shared == 0 || shared == 1) && is_batch(x, 0),
                     "expected constant indices of each sample");
  const Dims& dims = places->dims();
  const std::size_t columns = static_cast<std::size_t>(dims.back());
  const std::size_t skipped = shared == 0 ? 1 : 0;  // the column of samples
  const Dims from = dims_of(x);
  const std::size_t indexed = columns - skipped;  // axes of x after the batch
  require<DataError>(places->batch_axis + 1 < static_cast<int>(dims.size()) &&
                         (shared == 0 || places->batch_axis == 0) && columns >= skipped &&
                         indexed < from.size(),
                     "the indices of {} do not fit {}", text_of(dims), text_of(from));
  const std::vector<std::int64_t> all = places->integers();
  std::vector<std::int64_t> ids;
  for (std::size_t at = 0; at < all.size(); at += columns) {
    std::int64_t id = 0;
    for (std::size_t c = 0; c < columns; ++c) {
      const double growth = places->growth ? (*places->growth)[at + c] : 0;
      const bool counts = c < skipped;
      require<DataError>(growth == (counts ? 1 : 0) && (!counts || all[at + c] == 0),
                         "would take elements of other samples");
      if (counts) continue;
      const std::int64_t dim = from[c - skipped + 1];
      const std::int64_t own = all[at + c];
      require<DataError>(own >= -dim && own < dim, "expected indices in [{}, {}); got {}", -dim,
                         dim, own);
      id = id * dim + (own < 0 ? own + dim : own);
    }
    ids.push_back(id);
  }
  const auto rest = from.begin() + static_cast<std::ptrdiff_t>(indexed) + 1;
  Dims flat{kTemplateBatch, 1};
  for (auto dim = from.begin() + 1; dim != rest; ++dim) flat[1] *= *dim;
  flat.insert(flat.end(), rest, from.end());
  const Dims own(dims.begin(), dims.end() - 1);
  n.give(placed(taken(reshaped(x, flat, kTemplateBatch), 1, ids), own, places->batch_axis));
}

/// Rows of a table by ids that depend on the inputs.
void look_up(NodeImport& n, int axis) {
  const ConstantPtr table = n.constant(0);
  Trace ids = n.trace(1);
  if (ids.e.dtype() != DType::i32 && !is_float(ids.type)) {
    ids = ids_of_numbers(n, ids, table->dims().at(static_cast<std::size_t>(axis)));
  }
  require<DataError>(ids.e.dtype() == DType::i32, "expected ids; got numbers of {}",
                     name_of(ids.type));
  require<DataError>(is_float(table->type()), "a table of {} is not supported",
                     name_of(table->type()));
  const Dims& dims = table->dims();
  std::vector<int> order = {axis};
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
    if (i != axis) order.push_back(i);
  }
  const Layout layout = in_order(dims, order);
  Expression y = ids.e;
  if (dims.size() == 2 && table->trains && !n.network().is_weight(*table) &&
      ids.e.shape().rank() > 0) {
    const std::string layer = n.layer_name(*table);
    y = ids.e |
        Embedding{.vocabulary = layout.shape[0], .features = layout.shape[1], .name = layer};
    n.network().set_weight(layer, "weight", table, layout);
  } else {
    y = gather(n.weight(table, layout), ids.e, 0);
  }
  Trace out{y, {}, table->type(), 0};
  const auto own = static_cast<int>(ids.e.shape().rank());
  int next = own;
  for (int i = 0; i < static_cast<int>(dims.size()); ++i) {
    if (i == axis) {
      out.axes.insert(out.axes.end(), ids.axes.begin(), ids.axes.end());
    } else {
      out.axes.push_back({++next});
    }
  }
  n.give(std::move(out));
}

/// Numbers of a constant that is the same for every sample, by ids of each.
void gather_elements(NodeImport& n) {
  const ConstantPtr table = n.input(0).constant;
  require<DataError>(table != nullptr && table->batch_axis == 0 && !table->growth &&
                         table->dims().size() == 2 &&
                         n.axis(n.integer("axis", 0), table->dims().size()) == 1,
                     "expected numbers that are the same for every sample, along axis 1");
  const std::int64_t rows = table->dims()[1];
  Trace ids = n.trace(1);
  if (ids.e.dtype() != DType::i32) ids = ids_of_numbers(n, ids, rows);
  auto column = std::make_shared<Constant>(*table, Dims{rows, 1});
  column->batch_axis = -1;
  const Expression y = gather(n.weight(column, as_is({rows, 1})), ids.e, 0);
  n.give(Trace{reshape(y, ids.e.shape()), ids.axes, table->type(), 0});
}

void gather_axis(NodeImport& n) {
  const int axis = n.axis(n.integer("axis", 0), n.input(0).dims().size());
  if (n.is_constant(1) && n.input(1).constant->growth)
    gather_numbered(n, axis);
  else if (n.is_constant(1))
    gather_constant(n, axis);
  else if (n.is_constant(0))
    look_up(n, axis);
  else
    n.refuse("expected a constant table or constant indices");
}

Expression edge(const Expression& e, std::int64_t place, std::int64_t at, std::int64_t count) {
  const Expression one = slice(e, place, at, at + 1);
  return concat(std::vector<Expression>(static_cast<std::size_t>(count), one), place);
}

void pad_axes(NodeImport& n) {
  Trace x = n.floats(0);
  const std::string mode = n.text("mode", "constant");
  std::vector<std::int64_t> pads = n.opset() < 11 ? n.integers("pads") : n.integers(1);
  double value = 0;
  if (n.opset() < 11)
    value = n.number("value", 0);
  else if (n.has(2))
    value = n.scalar(2);
  std::vector<int> axes;
  if (n.opset() >= 18 && n.has(3)) {
    for (const std::int64_t axis : n.integers(3)) axes.push_back(n.axis(axis, x.axes.size()));
  } else {
    for (int i = 0; i < static_cast<int>(x.axes.size()); ++i) axes.push_back(i);
  }
  require<DataError>(pads.size() == 2 * axes.size(), "expected {} pads; got {}", 2 * axes.size(),
                     pads.size());
  require<DataError>(mode == "constant" || mode == "reflect" || mode == "edge",
                     "mode '{}' is not supported", mode);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t before = pads[i];
    std::int64_t after = pads[axes.size() + i];
    if (before == 0 && after == 0) continue;
    const int axis = axes[i];
    const std::int64_t dim = dims_of(x)[static_cast<std::size_t>(axis)];
    require<DataError>(before > -dim && after > -dim && before < (1 << 24) && after < (1 << 24),
                       "cannot pad {} by {} and {}", text_of(dims_of(x)), before, after);
    if (before < 0 || after < 0) {
      const std::int64_t first = std::max<std::int64_t>(-before, 0);
      x = sliced(x, axis, first, 1, dim - first - std::max<std::int64_t>(-after, 0));
      before = std::max<std::int64_t>(before, 0);
      after = std::max<std::int64_t>(after, 0);
    }
    x = merged(x, axis);
    const std::int64_t place = place_of(x, axis);
    if (mode == "constant") {
      x.e = pad(x.e, place, before, after, value);
      continue;
    }
    const std::int64_t now = dims_of(x)[static_cast<std::size_t>(axis)];
    require<DataError>(mode == "edge" ? std::max(before, after) <= 256
                                      : std::max(before, after) < now,
                       "cannot pad {} by {} and {} in mode '{}'", now, before, after, mode);
    std::vector<Expression> parts = {x.e};
    if (before > 0) {
      parts.insert(parts.begin(), mode == "edge" ? edge(x.e, place, 0, before)
                                                 : flip(slice(x.e, place, 1, before + 1), place));
    }
    if (after > 0) {
      parts.push_back(mode == "edge" ? edge(x.e, place, now - 1, after)
                                     : flip(slice(x.e, place, now - 1 - after, now - 1), place));
    }
    x.e = concat(parts, place);
  }
  n.give(std::move(x));
}

void hot(NodeImport& n) {
  const Trace ids = n.trace(0);
  const std::vector<double> values = n.constant(2)->values();
  require<DataError>(values.size() == 2, "expected two values");
  const std::int64_t depth = n.whole(1);
  require<DataError>(depth > 0 && depth <= kMostComputed, "expected a depth above 0; got {}",
                     depth);
  const int axis = n.axis(n.integer("axis", -1), ids.axes.size() + 1);
  const Type type = n.constant(2)->type();
  const auto scaled = [&](const Expression& hot) {
    return hot * (values[1] - values[0]) + values[0];
  };
  Trace y{ids.e, ids.axes, type, 0};
  if (ids.e.dtype() == DType::i32) {  // from 0 on: of ArgMax
    y.e = scaled(one_hot(ids.e, depth));
    y.axes.push_back({static_cast<int>(ids.e.shape().rank()) + 1});
  } else {
    const Aligned both = beside_numbers(n, y, depth);
    const Expression& x = both.operands[0];
    y = Trace{scaled(maximum(equal(x, both.operands[1]),
                             equal(x + static_cast<double>(depth), both.operands[1]))),
              both.axes, type, 0};
  }
  std::rotate(y.axes.begin() + axis, y.axes.end() - 1, y.axes.end());
  n.give(std::move(y));
}

void triangle(NodeImport& n) {
  const Trace x = n.floats(0);
  const bool upper = n.integer("upper", 1) != 0;
  const std::int64_t k = n.has(1) ? n.whole(1) : 0;
  const Dims dims = dims_of(x);
  require<DataError>(dims.size() >= 2 && dims.back() != kTemplateBatch &&
                         dims[dims.size() - 2] != kTemplateBatch,
                     "expected matrices; got {}", text_of(dims));
  const Dims matrix(dims.end() - 2, dims.end());
  std::vector<double> kept;
  require<DataError>(elements_of(matrix) <= kMostComputed, "matrices of {} are too large",
                     text_of(matrix));
  for (std::int64_t i = 0; i < matrix[0]; ++i) {
    for (std::int64_t j = 0; j < matrix[1]; ++j) kept.push_back((upper ? j - i >= k : j - i <= k));
  }
  auto mask = std::make_shared<Constant>(Type::boolean, matrix, std::move(kept));
  mask->name = n.network().name_of_made(n.name() + ".triangle");
  const Aligned both = n.align({ConstantPtr(mask), x});
  n.give(Trace{where(both.operands[0], both.operands[1], 0), both.axes, x.type});
}

}  // namespace

void add_parts(Operators& all) {
  all["Concat"] = {join, "not along the batch"};
  all["Split"] = {cut, "not along the batch"};
  all["Slice"] = {slice_axes, "constant indices, not along the batch"};
  all["Gather"] = {gather_axis, "constant indices, or ids from 0 of a constant table"};
  all["GatherElements"] = {gather_elements, "of constants that are the same for every sample"};
  all["GatherND"] = {gather_tuples, "constant indices, of each sample"};
  all["Pad"] = {pad_axes, "modes constant, reflect and edge; constant pads"};
  all["OneHot"] = {hot, "constant depth and values"};
  all["Trilu"] = {triangle, {}};
}

}  // namespace linnet::onnx
