// SPDX-License-Identifier: Apache-2.0
// Elements at places that the inputs or constants say: gathering, scattering, and the largest ones.
#include <linnet/functions.h>

#include <algorithm>
#include <functional>

#include "base/check.h"
#include "core/dims.h"
#include "onnx/node_import.h"

namespace linnet::onnx {
namespace {

constexpr std::int64_t kMostLargest = 256;  // of TopK, which takes one after the other
constexpr double kTaken = -3.4028234663852886e38;
constexpr double kLeast = -3.4e38;

/// Returns 0 for each row of x, which has more of them than the batch where Samples makes them:
/// NodeImport::zero_of_samples() gives a row a sample. With as many axes of 1 as x has.
Expression zero_of(const Expression& x) {
  Expression first = x;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(x.shape().rank()); ++i) {
    first = slice(first, i, 0, 1);
  }
  return (first > 0) * 0;  // for NaN too
}

/// Returns numbers as places along an axis of `dim`, from its end where they are negative.
Expression places_along(const Expression& x, std::int64_t dim) {
  return to_ids(where(x < 0, x + static_cast<double>(dim), x));
}

/// A value with the batch first, or without one, as samples in ONNX's order. Where the first axis
/// holds more than the batch, its rows are the samples.
struct Samples {
  Trace t;
  int batch = -1;
  std::vector<int> order;  ///< ONNX's axes but the batch
  Expression e;

  explicit Samples(const Trace& value) : t(value), batch(batch_axis(value)), e(value.e) {
    require<DataError>(batch <= 0 && (batch < 0 || t.axes[0].front() == 0),
                       "expected the batch as the first axis of {}", text_of(dims_of(t)));
    for (int i = batch + 1; i < static_cast<int>(t.axes.size()); ++i) order.push_back(i);
    e = arranged(t, order, batch);
  }
  /// Returns the result, whose samples have as many axes.
  Trace back(const Expression& y) const {
    Trace all = from_rows(t, y, order, batch);
    all.type = t.type;
    return all;
  }
  Dims dims() const { return dims_of(e.shape()); }
};

Trace numbers_at(NodeImport& n, std::size_t i) { return *n.with_numbers(n.trace(i)).trace; }

/// Returns a constant that all samples share, without the axis of the batch.
ConstantPtr of_one_sample(NodeImport& n, std::size_t i, int batch) {
  const FileValue& value = n.input(i);
  ConstantPtr c = value.constant;
  require<DataError>(c != nullptr && !c->batch && !c->growth, "'{}' differs from sample to sample",
                     c == nullptr ? "" : c->name);
  if (batch < 0) return c;
  Dims dims = c->dims();
  require<DataError>(!dims.empty() &&
                         (c->batch_axis == 0 || dims[0] == 1 || dims[0] == n.network().batch()),
                     "'{}' of {} does not fit the batch", c->name, text_of(dims));
  if (dims[0] != 1) c = without_batch(*c, 0);
  dims.erase(dims.begin());
  auto other = std::make_shared<Constant>(c->type(), dims, c->values(), c->elements());
  other->name = n.network().name_of_made(fmt::format("{}.{}", n.name(), c->name));
  return other;
}

/// Returns an input as samples: a constant is repeated for each.
Expression samples_at(NodeImport& n, std::size_t i, const Samples& like) {
  if (!n.is_constant(i)) {
    const Samples own(numbers_at(n, i));
    require<DataError>(own.batch == like.batch, "would combine the samples of a batch");
    return own.e;
  }
  const ConstantPtr c = of_one_sample(n, i, like.batch);
  const Expression w = n.weight(c, as_is(c->dims()));
  return reshape(zero_of(like.e), Shape(Dims(c->dims().size(), 1))) + w;
}

/// Throws DataError unless constant places lie along an axis of `dim`.
void check_places(NodeImport& n, std::size_t input, std::int64_t dim) {
  if (!n.is_constant(input)) return;
  for (const double id : n.input(input).constant->values()) {
    require<DataError>(id >= -static_cast<double>(dim) && id < static_cast<double>(dim),
                       "expected indices in [{}, {}); got {}", -dim, dim, id);
  }
}

/// Places of GatherElements and ScatterElements: one for each element.
struct Elements {
  Samples x;
  std::int64_t place;  ///< of the axis in a sample
  std::int64_t dim;
  Expression ids;

  Elements(NodeImport& n, std::size_t indices) : x(numbers_at(n, 0)), place(0), dim(0), ids(x.e) {
    const int axis = n.axis(n.integer("axis", 0), x.t.axes.size());
    require<DataError>(axis != x.batch, "would take elements of other samples");
    place = axis - (x.batch + 1);
    dim = x.dims()[static_cast<std::size_t>(place)];
    check_places(n, indices, dim);
    const Expression numbers = samples_at(n, indices, x);
    require<DataError>(numbers.shape().rank() == x.e.shape().rank(),
                       "expected indices with the axes of {}; got {}", text_of(x.dims()),
                       to_string(numbers.shape()));
    ids = places_along(numbers, dim);
  }
};

void gather_elements(NodeImport& n) {
  Elements at(n, 1);
  Expression e = at.x.e;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(e.shape().rank()); ++i) {
    const std::int64_t wanted = at.ids.shape()[i];
    require<DataError>(i == at.place || wanted <= e.shape()[i], "the indices of {} do not fit {}",
                       to_string(at.ids.shape()), to_string(e.shape()));
    if (i != at.place && wanted < e.shape()[i]) e = slice(e, i, 0, wanted);
  }
  n.give(at.x.back(take_along_axis(e, at.ids, at.place)));
}

/// Throws DataError where constant indices write a place twice that a number replaces: which one
/// stays is open. `key`: makes one number of a place, by the index of its first coordinate in
/// `indices`. Places that the inputs say are not known here.
void check_once(NodeImport& n, int batch, std::size_t width,
                const std::function<std::int64_t(const std::vector<double>&, std::size_t)>& key) {
  if (n.text("reduction", "none") != "none" || !n.is_constant(1)) return;
  const std::vector<double> indices = of_one_sample(n, 1, batch)->values();
  std::vector<std::int64_t> keys;
  for (std::size_t i = 0; i + width <= indices.size(); i += width) keys.push_back(key(indices, i));
  std::ranges::sort(keys);
  const auto twice = std::ranges::adjacent_find(keys);
  require<DataError>(twice == keys.end(),
                     "element {} of its input 0 is written twice; expected reduction 'add'",
                     twice == keys.end() ? 0 : *twice);
}

/// Returns x with updates at places along an axis: instead of what is there, or added to it.
Expression written(NodeImport& n, const Expression& x, const Expression& updates,
                   const Expression& ids, std::int64_t axis, bool along, std::int64_t dim) {
  const std::string reduction = n.text("reduction", "none");
  require<DataError>(reduction == "none" || reduction == "add", "reduction '{}' is not supported",
                     reduction);
  const Expression sums = scattered(updates, ids, axis, along, dim);
  if (reduction == "add") return x + sums;
  const Expression ones = (updates > 0) * 0 + 1;  // for NaN too
  return where(scattered(ones, ids, axis, along, dim) > 0, sums, x);
}

void scatter_elements(NodeImport& n) {
  Elements at(n, 1);
  const Expression updates = samples_at(n, 2, at.x);
  Dims expected = at.x.dims();
  expected[static_cast<std::size_t>(at.place)] = at.ids.shape()[at.place];
  require<DataError>(at.ids.shape() == Shape(expected) && updates.shape() == at.ids.shape(),
                     "expected indices and updates of the dims of {} but along the axis; got {} "
                     "and {}",
                     text_of(at.x.dims()), to_string(at.ids.shape()), to_string(updates.shape()));
  std::int64_t inner = 1;
  for (auto i = at.place + 1; i < std::ssize(expected); ++i) {
    inner *= expected[static_cast<std::size_t>(i)];
  }
  check_once(n, at.x.batch, 1, [&](const std::vector<double>& indices, std::size_t i) {
    const auto index = static_cast<std::int64_t>(i);
    const std::int64_t row = index / inner / at.ids.shape()[at.place];
    const auto id = static_cast<std::int64_t>(indices[i]);
    return (row * at.dim + (id < 0 ? id + at.dim : id)) * inner + index % inner;
  });
  n.give(at.x.back(written(n, at.x.e, updates, at.ids, at.place, true, at.dim)));
}

/// Places of GatherND and ScatterND: tuples along the first axes of a sample.
struct Tuples {
  Samples x;
  std::int64_t rows = 1;  ///< elements of the axes that tuples go along
  Dims rest;              ///< the axes after them
  Expression ids;
  Dims places;  ///< dims of the tuples of a sample

  Tuples(NodeImport& n, const Samples& value, const Expression& numbers) : x(value), ids(value.e) {
    const Dims own = dims_of(numbers.shape());
    const Dims dims = x.dims();
    require<DataError>(!own.empty() && own.back() > 0 && own.back() <= std::ssize(dims),
                       "indices of {} do not fit {}", text_of(own), text_of(dims));
    const auto count = static_cast<std::size_t>(own.back());
    std::vector<double> sizes(dims.begin(), dims.begin() + own.back());
    std::vector<double> strides(count, 1);
    for (std::size_t i = count; i-- > 0;) {
      if (i + 1 < count) strides[i] = strides[i + 1] * sizes[i + 1];
      rows *= dims[i];
    }
    require<DataError>(rows < kMostComputed, "places along {} elements are not supported", rows);
    rest.assign(dims.begin() + own.back(), dims.end());
    places.assign(own.begin(), own.end() - 1);
    const Expression size = made_weight(n, "dims", {own.back()}, sizes);
    const Expression from_start = where(numbers < 0, numbers + size, numbers);
    const Expression outside = maximum(from_start < 0, from_start >= size);
    const Expression place =
        sum(from_start * made_weight(n, "strides", {own.back()}, strides), {-1});
    ids = to_ids(where(max(outside, {-1}) > 0, -1, place));
  }
  Expression flat() const {
    Dims dims = rest;
    dims.insert(dims.begin(), rows);
    return reshape(x.e, Shape(dims));
  }
};

/// Constant tuples along axes before the batch's.
void gather_constant_tuples(NodeImport& n, const Trace& t, int batch) {
  const ConstantPtr& c = n.input(1).constant;
  Trace first = t;  // with the batch as the first axis
  std::rotate(first.axes.begin(), first.axes.begin() + batch, first.axes.begin() + batch + 1);
  const Samples x(first);
  const Expression w = n.weight(c, as_is(c->dims()));
  const Tuples at(n, x, reshape(zero_of(x.e), Shape(Dims(c->dims().size(), 1))) + w);
  Trace y{gather(at.flat(), at.ids, 0), {}, t.type, 0};
  int axis = 0;
  while (axis < static_cast<int>(at.places.size())) y.axes.push_back({++axis});
  for (int i = static_cast<int>(c->dims().back()); i < static_cast<int>(t.axes.size()); ++i) {
    y.axes.push_back({i == batch ? 0 : ++axis});
  }
  n.give(std::move(y));
}

void gather_tuples(NodeImport& n) {
  const std::int64_t shared = n.integer("batch_dims", 0);
  const Trace t = numbers_at(n, 0);
  const int batch = batch_axis(t);
  if (shared == 0 && n.is_constant(1) && batch > 0 && is_batch(t, batch)) {
    const ConstantPtr& c = n.input(1).constant;
    const bool before = !c->dims().empty() && c->dims().back() <= batch;
    if (before && !c->batch && c->batch_axis < 0) return gather_constant_tuples(n, t, batch);
  }
  const Samples x(t);
  require<DataError>(shared == x.batch + 1, "batch_dims {} is not supported here: expected {}",
                     shared, x.batch + 1);
  require<DataError>(x.batch < 0 || is_batch(x.t, 0), "expected the batch alone as the first axis");
  const Tuples at(n, x, samples_at(n, 1, x));
  Trace y{gather(at.flat(), at.ids, 0), {}, x.t.type, 0};
  if (x.batch == 0) y.axes.push_back({0});
  for (int i = 1; i <= static_cast<int>(y.e.shape().rank()); ++i) y.axes.push_back({i});
  n.give(std::move(y));
}

void scatter_tuples(NodeImport& n) {
  const Samples x(numbers_at(n, 0));
  require<DataError>(x.batch < 0, "would write to other samples of a batch");
  const Tuples at(n, x, samples_at(n, 1, x));
  const Expression updates = samples_at(n, 2, x);
  Dims wanted = at.places;
  wanted.insert(wanted.end(), at.rest.begin(), at.rest.end());
  require<DataError>(updates.shape() == Shape(wanted), "expected updates of {}; got {}",
                     text_of(wanted), to_string(updates.shape()));
  const Dims dims = x.dims();
  const std::size_t width = dims.size() - at.rest.size();
  check_once(n, x.batch, width, [&](const std::vector<double>& indices, std::size_t first) {
    std::int64_t place = 0;
    for (std::size_t i = 0; i < width; ++i) {
      const double id = indices[first + i];
      const auto dim = static_cast<double>(dims[i]);
      require<DataError>(id >= -dim && id < dim, "expected indices in [{}, {}); got {}", -dim, dim,
                         id);
      place = place * dims[i] + static_cast<std::int64_t>(id < 0 ? id + dim : id);
    }
    return place;
  });
  const Expression y = written(n, at.flat(), updates, at.ids, 0, false, at.rows);
  n.give(x.back(reshape(y, x.e.shape())));
}

/// The largest elements of an axis, one after the other.
void take_largest(NodeImport& n) {
  const Trace x = numbers_at(n, 0);
  require_arithmetic(n, x.type);
  const std::int64_t k = n.opset() < 10 ? n.integer("k", 0) : n.whole(1);
  const bool largest = n.flag("largest", true);
  n.ignore("sorted");  // they are
  const int axis = n.axis(n.integer("axis", -1), x.axes.size());
  const int batch = batch_axis(x);
  const std::int64_t dim = dims_of(x)[static_cast<std::size_t>(axis)];
  require<DataError>(axis != batch && (batch < 0 || is_batch(x, batch)),
                     "would compare the samples of a batch");
  require<DataError>(k >= 1 && k <= dim && k <= kMostLargest,
                     "expected 1 to {} elements of {}; got {}", kMostLargest, dim, k);
  std::vector<int> order;
  for (int i = 0; i < static_cast<int>(x.axes.size()); ++i) {
    if (i != batch && i != axis) order.push_back(i);
  }
  order.push_back(axis);
  const Expression e = arranged(x, order);
  const auto last = static_cast<std::int64_t>(e.shape().rank()) - 1;
  Dims one = dims_of(e.shape());
  one.back() = 1;
  Expression left = maximum(largest ? e : -e, kLeast);
  std::vector<Expression> values;
  std::vector<Expression> places;
  for (std::int64_t i = 0; i < k; ++i) {
    const Expression at = argmax(left, last);
    values.push_back(take_along_axis(e, reshape(at, Shape(one)), last));
    if (n.wants(1)) {
      places.push_back(reshape(n.network().as_numbers(at, dim, n.name()), Shape(one)));
    }
    if (i + 1 < k) left = where(one_hot(at, dim), kTaken, left);
  }
  const auto all = [&](const std::vector<Expression>& parts, Type type) {
    Trace y = from_rows(x, parts.size() == 1 ? parts[0] : concat(parts, last), order);
    y.type = type;
    return y;
  };
  n.give(all(values, x.type));
  if (n.wants(1)) n.give(all(places, Type::i64), 1);
}

}  // namespace

void gather_elements_of_samples(NodeImport& n) { gather_elements(n); }
void gather_tuples_of_samples(NodeImport& n) { gather_tuples(n); }

void add_places(Operators& all) {
  all["ScatterElements"] = {scatter_elements,
                            "reduction none and add, each place once; not along the batch"};
  all["ScatterND"] = {scatter_tuples, "without a batch; reduction none, each place once, and add"};
  all["TopK"] = {take_largest, "a constant number of at most 256; not along the batch"};
}

}  // namespace linnet::onnx
