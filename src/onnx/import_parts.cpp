// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>
#include <linnet/layers/embedding.h>

#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "nn/expression/support.h"
#include "onnx/node_import.h"

namespace linnet::onnx {
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

namespace {

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
  const ConstantPtr places = n.input(1).constant;
  if (places == nullptr || places->batch_axis < 0) return gather_tuples_of_samples(n);
  const Trace x = n.trace(0);
  const std::int64_t shared = n.integer("batch_dims", 0);
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
  require<DataError>(table->dims().at(static_cast<std::size_t>(axis)) > 0,
                     "the table '{}' of {} has no rows: no id fits", table->name,
                     text_of(table->dims()));
  Trace ids = n.trace(1);
  if (ids.e.dtype() != DType::i32 && !is_float(ids.type)) {
    ids = ids_of_numbers(ids, table->dims().at(static_cast<std::size_t>(axis)));
  }
  require<DataError>(ids.e.dtype() == DType::i32, "expected ids; got numbers of {}",
                     name_of(ids.type));
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
  if (table == nullptr) return gather_elements_of_samples(n);
  require<DataError>(table->batch_axis == 0 && !table->growth && table->dims().size() == 2 &&
                         n.axis(n.integer("axis", 0), table->dims().size()) == 1,
                     "expected numbers that are the same for every sample, along axis 1");
  const std::int64_t rows = table->dims()[1];
  Trace ids = n.trace(1);
  if (ids.e.dtype() != DType::i32) ids = ids_of_numbers(ids, rows);
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

/// Reverses all steps. Sequences with lengths of their own are refused.
void reverse_steps(NodeImport& n) {
  const Trace x = n.trace(0);
  const int steps = n.axis(n.integer("time_axis", 0), x.axes.size());
  const int batch = n.axis(n.integer("batch_axis", 1), x.axes.size());
  const std::int64_t count = dims_of(x)[static_cast<std::size_t>(steps)];
  const Constant& lengths = *n.constant(1);
  require<DataError>(is_batch(x, batch) && steps != batch && !lengths.batch && !lengths.growth &&
                         std::ranges::all_of(lengths.values(),
                                             [&](double length) {
                                               return length == static_cast<double>(count);
                                             }),
                     "expected lengths of {}, which all samples have", count);
  n.give(sliced(x, steps, count - 1, -1, count));
}

void triangle(NodeImport& n) {
  const Trace x = *n.with_numbers(n.trace(0)).trace;
  require_arithmetic(n, x.type);
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

Trace ids_of_numbers(const Trace& numbers, std::int64_t rows) {
  const Expression& x = numbers.e;
  return {to_ids(where(x < 0, x + static_cast<double>(rows), x)), numbers.axes, Type::i64, rows};
}

void add_parts(Operators& all) {
  all["Gather"] = {gather_axis, "constant indices, or ids from 0 of a constant table"};
  all["GatherElements"] = {gather_elements, "not along the batch"};
  all["GatherND"] = {gather_tuples, "indices of each sample"};
  all["ReverseSequence"] = {reverse_steps, "lengths of all steps"};
  all["Trilu"] = {triangle, {}};
}

}  // namespace linnet::onnx
