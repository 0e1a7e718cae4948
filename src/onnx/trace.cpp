// SPDX-License-Identifier: Apache-2.0
#include "onnx/trace.h"

#include <algorithm>
#include <numeric>
#include <optional>

#include "base/check.h"
#include "core/dims.h"
#include "nn/expression_scope.h"
#include "ops/reshape/reshape.h"

namespace linnet::onnx {
namespace {

Dims sample_of(const Trace& t) { return dims_of(t.e.shape()); }

/// f of every axis of the expression that stands in `axes`.
template <class F>
std::vector<Axis> renamed(std::vector<Axis> axes, F f) {
  for (Axis& axis : axes) {
    for (int& place : axis) place = f(place);
  }
  return axes;
}

Expression under(const Expression& x, const Dims& sample) {
  if (dims_of(x.shape()) == sample) return x;
  return reshape(x, Shape(sample));
}

/// Returns the same with the first axes taken into the batch, or out of it.
Expression with_rows(const Expression& x, const Dims& sample) {
  Dims whole = sample;
  whole.insert(whole.begin(), -1);
  return emit(ReshapeOp({.shape = std::move(whole)}), {x});
}

/// Describes how the axes of a value go into other dims, axis by axis.
struct Regrouping {
  Trace t;
  std::vector<Axis> axes;
};

/// Returns the axes taken one after the other; none where a dim would need a part of two.
std::optional<Regrouping> regrouped(Trace t, const Dims& dims, std::int64_t batch) {
  std::vector<int> rest;  // axes of the expression, in ONNX's order
  for (const Axis& axis : t.axes) rest.insert(rest.end(), axis.begin(), axis.end());
  const bool hides = batch == 1;
  std::vector<Axis> axes;
  std::size_t next = 0;
  const auto size = [&](int axis) { return axis == 0 ? batch : dim_of(t, axis); };
  for (const std::int64_t dim : dims) {
    Axis axis;
    std::int64_t product = 1;
    if (dim == 1 && hides && next < rest.size() && rest[next] == 0) {
      axis.push_back(rest[next++]);
    }
    while (product < dim) {
      if (next >= rest.size()) return std::nullopt;
      const int from = rest[next];
      const std::int64_t wanted = dim / product;
      if (dim % product != 0) return std::nullopt;
      if (from == 0 && hides) {  // of one sample; no dim of 1 stands for it any more
        ++next;
        continue;
      }
      if (wanted % size(from) == 0) {
        product *= size(from);
        axis.push_back(from);
        ++next;
        continue;
      }
      if (from == 0 || size(from) % wanted != 0) return std::nullopt;
      t = split(t, from, wanted);
      for (int& other : rest) other += other > from ? 1 : 0;
      rest.insert(rest.begin() + static_cast<std::ptrdiff_t>(next) + 1, from + 1);
      for (Axis& other : axes) {
        for (int& place : other) place += place > from ? 1 : 0;
      }
      for (int& place : axis) place += place > from ? 1 : 0;
    }
    if (product != dim) return std::nullopt;
    axes.push_back(std::move(axis));
  }
  for (; next < rest.size(); ++next) {
    if (rest[next] == 0 && hides) continue;
    if (rest[next] == 0 || size(rest[next]) != 1 || axes.empty()) return std::nullopt;
    axes.back().push_back(rest[next]);
  }
  return Regrouping{std::move(t), std::move(axes)};
}

}  // namespace

std::int64_t dim_of(const Trace& t, int axis) {
  return axis == 0 ? kTemplateBatch : t.e.shape()[axis - 1];
}

Dims dims_of(const Trace& t) {
  Dims dims;
  for (const Axis& axis : t.axes) {
    std::int64_t dim = 1;
    for (const int place : axis) dim *= dim_of(t, place);
    dims.push_back(dim);
  }
  return dims;
}

int batch_axis(const Trace& t) {
  for (std::size_t i = 0; i < t.axes.size(); ++i) {
    if (std::ranges::find(t.axes[i], 0) != t.axes[i].end()) return static_cast<int>(i);
  }
  return -1;
}

bool is_batch(const Trace& t, int axis) {
  return t.axes[static_cast<std::size_t>(axis)] == Axis{0};
}

Trace reordered(const Trace& t, const std::vector<int>& order) {
  if (std::ranges::is_sorted(order)) return t;
  Axes permutation;
  std::vector<int> to(order.size() + 1, 0);
  for (std::size_t i = 0; i < order.size(); ++i) {
    permutation.push_back(order[i] - 1);
    to[static_cast<std::size_t>(order[i])] = static_cast<int>(i) + 1;
  }
  return {transpose(t.e, permutation),
          renamed(t.axes, [&](int place) { return to[static_cast<std::size_t>(place)]; }), t.type,
          t.below};
}

Trace split(const Trace& t, int axis, std::int64_t outer) {
  Dims sample = sample_of(t);
  std::int64_t& dim = sample[static_cast<std::size_t>(axis) - 1];
  const std::int64_t inner = dim / outer;
  LINNET_ASSERT(axis > 0 && outer * inner == dim);
  dim = outer;
  sample.insert(sample.begin() + axis, inner);
  Trace parts{under(t.e, sample), {}, t.type, t.below};
  for (const Axis& from : t.axes) {
    Axis to;
    for (const int place : from) {
      to.push_back(place > axis ? place + 1 : place);
      if (place == axis) to.push_back(axis + 1);
    }
    parts.axes.push_back(std::move(to));
  }
  return parts;
}

Trace squeezed(const Trace& t) {
  const Dims from = sample_of(t);
  if (std::ranges::find(from, 1) == from.end()) return t;
  Dims sample;
  std::vector<int> to = {0};
  for (const std::int64_t dim : from) {
    if (dim != 1) sample.push_back(dim);
    to.push_back(dim != 1 ? static_cast<int>(sample.size()) : -1);
  }
  Trace out{under(t.e, sample), {}, t.type, t.below};
  for (const Axis& axis : t.axes) {
    out.axes.emplace_back();
    for (const int place : axis) {
      const int kept = to[static_cast<std::size_t>(place)];
      if (kept >= 0) out.axes.back().push_back(kept);
    }
  }
  return out;
}

Trace merged(const Trace& t, int axis) {
  const Axis& places = t.axes[static_cast<std::size_t>(axis)];
  require<DataError>(std::ranges::find(places, 0) == places.end(),
                     "axis {} is the batch, whose samples cannot be mixed", axis);
  if (places.size() == 1) return t;
  if (places.empty()) {
    Dims sample = sample_of(t);
    sample.push_back(1);
    Trace more{under(t.e, sample), t.axes, t.type, t.below};
    more.axes[static_cast<std::size_t>(axis)] = {static_cast<int>(sample.size())};
    return more;
  }
  // Next to each other, where the last one of them stands.
  const int last = *std::ranges::max_element(places);
  std::vector<int> order;
  for (int place = 1; place <= static_cast<int>(sample_of(t).size()); ++place) {
    if (place == last) order.insert(order.end(), places.begin(), places.end());
    if (std::ranges::find(places, place) == places.end()) order.push_back(place);
  }
  Trace next = reordered(t, order);
  const int first = next.axes[static_cast<std::size_t>(axis)].front();
  const auto count = static_cast<int>(places.size());
  Dims sample = sample_of(next);
  for (int i = 1; i < count; ++i) {
    sample[static_cast<std::size_t>(first) - 1] *= sample[static_cast<std::size_t>(first)];
    sample.erase(sample.begin() + first);
  }
  Trace one{under(next.e, sample), {}, t.type, t.below};
  next.axes[static_cast<std::size_t>(axis)] = {first};
  one.axes = renamed(std::move(next.axes),
                     [&](int place) { return place > first ? place - count + 1 : place; });
  return one;
}

Expression arranged(const Trace& t, const std::vector<int>& order, int rows) {
  std::vector<int> places;
  Dims sample;
  std::size_t extra = 0;
  if (rows >= 0) {
    for (const int place : t.axes[static_cast<std::size_t>(rows)]) {
      if (place != 0) places.push_back(place);
    }
    extra = places.size();
  }
  for (const int axis : order) {
    const Axis& from = t.axes[static_cast<std::size_t>(axis)];
    std::int64_t dim = 1;
    for (const int place : from) {
      require<DataError>(place != 0, "axis {} is the batch, whose samples cannot be mixed", axis);
      places.push_back(place);
      dim *= dim_of(t, place);
    }
    sample.push_back(dim);
  }
  LINNET_ASSERT(places.size() == sample_of(t).size());
  const Expression x = reordered(t, places).e;
  return extra > 0 ? with_rows(x, sample) : under(x, sample);
}

Trace from_rows(const Trace& t, const Expression& y, const std::vector<int>& order, int rows) {
  Trace out{y, std::vector<Axis>(t.axes.size()), t.type};
  int extra = 0;
  if (rows >= 0) {
    Dims sample;
    for (const int place : t.axes[static_cast<std::size_t>(rows)]) {
      if (place != 0) sample.push_back(dim_of(t, place));
      out.axes[static_cast<std::size_t>(rows)].push_back(place == 0 ? 0 : ++extra);
    }
    if (extra > 0) {
      for (const std::int64_t dim : dims_of(y.shape())) sample.push_back(dim);
      out.e = with_rows(y, sample);
    }
  }
  const int batch = batch_axis(t);
  if (batch >= 0 && batch != rows) out.axes[static_cast<std::size_t>(batch)] = {0};
  for (std::size_t i = 0; i < order.size(); ++i) {
    out.axes[static_cast<std::size_t>(order[i])] = {static_cast<int>(i) + 1 + extra};
  }
  return out;
}

Trace reshaped(const Trace& t, const Dims& dims, std::int64_t batch) {
  if (auto same = regrouped(t, dims, batch)) {
    Trace out{same->t.e, std::move(same->axes), t.type, t.below};
    const int rows = batch_axis(out);
    return rows < 0 || is_batch(out, rows) ? out : squeezed(out);  // axes of 1 beside the batch
  }
  const int from = batch_axis(t);
  const bool first = from <= 0 && (from < 0 || is_batch(t, 0));
  require<DataError>(first && (from < 0 || (!dims.empty() && dims[0] == batch)),
                     "reshaping {} to {} would mix the samples of a batch", text_of(dims_of(t)),
                     text_of(dims));
  std::vector<int> order;
  for (int i = from < 0 ? 0 : 1; i < static_cast<int>(t.axes.size()); ++i) order.push_back(i);
  const Dims sample(dims.begin() + (from < 0 ? 0 : 1), dims.end());
  Trace out{under(arranged(t, order), sample), {}, t.type, t.below};
  if (from == 0) out.axes.push_back({0});
  for (std::size_t i = 0; i < sample.size(); ++i) out.axes.push_back({static_cast<int>(i) + 1});
  return out;
}

std::int64_t place_of(const Trace& t, int axis) {
  return t.axes[static_cast<std::size_t>(axis)].front() - 1;
}

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

Trace without(const Trace& x, const Expression& y, const std::vector<bool>& reduced, bool keep,
              Type type) {
  std::vector<int> gone;
  for (std::size_t i = 0; i < x.axes.size(); ++i) {
    if (reduced[i]) gone.insert(gone.end(), x.axes[i].begin(), x.axes[i].end());
  }
  Trace out{y, {}, type, 0};
  for (std::size_t i = 0; i < x.axes.size(); ++i) {
    if (reduced[i] && !keep) continue;
    out.axes.emplace_back();
    for (const int place : x.axes[i]) {
      if (reduced[i]) continue;
      const auto before = std::ranges::count_if(gone, [&](int other) { return other < place; });
      out.axes.back().push_back(place - static_cast<int>(before));
    }
  }
  return out;
}

}  // namespace linnet::onnx
