// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/check.h"
#include "onnx/fold.h"

namespace linnet::onnx {
namespace {

void squeeze(NodeImport& n) {
  const ConstantPtr& c = n.constant(0);
  const std::vector<std::int64_t> axes = fold_axes(n, 13);
  std::vector<bool> drops(c->dims().size(), false);
  for (std::size_t i = 0; i < drops.size(); ++i) drops[i] = axes.empty() && c->dims()[i] == 1;
  for (const std::int64_t axis : axes) {
    const auto i = static_cast<std::size_t>(n.axis(axis, drops.size()));
    require<DataError>(c->dims()[i] == 1, "expected 1 as axis {} of {}", i, text_of(c->dims()));
    drops[i] = true;
  }
  Dims dims;
  for (std::size_t i = 0; i < drops.size(); ++i) {
    if (!drops[i]) dims.push_back(c->dims()[i]);
  }
  n.give(reshaped(*c, dims));
}

void unsqueeze(NodeImport& n) {
  const ConstantPtr& c = n.constant(0);
  const std::vector<std::int64_t> axes = fold_axes(n, 13);
  std::vector<int> places;
  for (const std::int64_t axis : axes)
    places.push_back(n.axis(axis, axes.size() + c->dims().size()));
  std::ranges::sort(places);
  Dims dims = c->dims();
  for (const int place : places) {
    require<DataError>(place <= static_cast<int>(dims.size()), "expected each axis once");
    dims.insert(dims.begin() + place, 1);
  }
  n.give(reshaped(*c, dims));
}

void reshape(NodeImport& n) {
  const ConstantPtr& c = n.constant(0);
  Dims dims = n.integers(1);
  const bool zeros = n.integer("allowzero", 0) != 0;
  std::int64_t known = 1;
  std::int64_t* open = nullptr;
  for (std::size_t i = 0; i < dims.size(); ++i) {
    if (dims[i] == 0 && !zeros && i < c->dims().size()) dims[i] = c->dims()[i];
    if (dims[i] == -1)
      open = &dims[i];
    else {
      require<DataError>(dims[i] >= 0 &&
                             known <= (std::int64_t{1} << 40) / std::max<std::int64_t>(dims[i], 1),
                         "cannot reshape to {}", text_of(dims));
      known *= dims[i];
    }
  }
  if (open != nullptr && known > 0) *open = c->elements() / known;
  require<DataError>(std::ranges::all_of(dims, [](std::int64_t d) { return d >= 0; }) &&
                         elements_of(dims) == c->elements(),
                     "cannot reshape {} to {}", text_of(c->dims()), text_of(dims));
  n.give(reshaped(*c, dims));
}

void transpose(NodeImport& n) {
  const ConstantPtr& c = n.constant(0);
  std::vector<std::int64_t> order(c->dims().size());
  std::iota(order.rbegin(), order.rend(), 0);
  std::vector<int> permutation;
  for (const std::int64_t axis : n.integers("perm", order)) {
    permutation.push_back(n.axis(axis, c->dims().size()));
  }
  std::vector<int> sorted = permutation;
  std::ranges::sort(sorted);
  for (std::size_t i = 0; i < sorted.size(); ++i) {
    require<DataError>(sorted[i] == static_cast<int>(i), "expected each axis once in perm");
  }
  require<DataError>(sorted.size() == c->dims().size(), "expected each axis once in perm");
  n.give(transposed(*c, permutation));
}

void join(NodeImport& n) {
  const int axis = n.axis(n.integer("axis", 1), n.constant(0)->dims().size());
  Dims dims = n.constant(0)->dims();
  const auto at = static_cast<std::size_t>(axis);
  std::int64_t outer = 1;
  for (std::size_t i = 0; i < at; ++i) outer *= dims[i];
  std::int64_t total = 0;
  bool batch = false;
  std::vector<std::vector<double>> parts;
  for (std::size_t i = 0; i < n.inputs(); ++i) {
    const Constant& c = *n.constant(i);
    Dims own = c.dims();
    require<DataError>(own.size() == dims.size(), "expected operands of {} axes", dims.size());
    total += own[at];
    own[at] = dims[at];
    require<DataError>(own == dims, "expected a shape that fits {1}; got {0}", text_of(own),
                       text_of(dims));
    parts.push_back(c.values());
    batch = batch || c.batch;
  }
  require<DataError>(outer > 0, "cannot join empty constants of {}", text_of(dims));
  dims[at] = total;
  require<DataError>(elements_of(dims) <= kMostComputed, "a constant of {} is too large",
                     text_of(dims));
  std::vector<double> out;
  for (std::int64_t row = 0; row < outer; ++row) {
    for (const std::vector<double>& part : parts) {
      const auto size = static_cast<std::ptrdiff_t>(part.size()) / outer;
      out.insert(out.end(), part.begin() + row * size, part.begin() + (row + 1) * size);
    }
  }
  give(n, n.constant(0)->type(), dims, std::move(out), batch);
}

/// Elements of `c` at these places along an axis, whose dims are `own`.
void take(NodeImport& n, const Constant& c, int axis, const std::vector<std::int64_t>& places,
          const Dims& own, std::size_t output = 0) {
  const auto at = static_cast<std::size_t>(axis);
  const std::int64_t dim = c.dims()[at];
  std::int64_t outer = 1;
  std::int64_t inner = 1;
  for (std::size_t i = 0; i < c.dims().size(); ++i)
    (i < at ? outer : inner) *= i == at ? 1 : c.dims()[i];
  require<DataError>(outer * inner * static_cast<std::int64_t>(places.size()) <= kMostComputed,
                     "a constant is too large");
  const std::vector<double> values = c.values();
  std::vector<double> out;
  bool batch = false;
  for (std::int64_t row = 0; row < outer; ++row) {
    for (const std::int64_t place : places) {
      require<DataError>(place >= -dim && place < dim, "expected indices in [{}, {}); got {}", -dim,
                         dim, place);
      const std::int64_t from = (row * dim + (place < 0 ? place + dim : place)) * inner;
      out.insert(out.end(), values.begin() + from, values.begin() + from + inner);
    }
  }
  if (c.batch) {
    batch = std::ranges::any_of(out, is_of_batch);
  }
  Dims dims = c.dims();
  dims.erase(dims.begin() + axis);
  dims.insert(dims.begin() + axis, own.begin(), own.end());
  give(n, c.type(), dims, std::move(out), batch, output);
}

void gather(NodeImport& n) {
  const Constant& c = *n.constant(0);
  const int axis = n.axis(n.integer("axis", 0), c.dims().size());
  take(n, c, axis, n.integers(1), n.constant(1)->dims());
}

void gather_elements(NodeImport& n) {
  const Constant& c = *n.constant(0);
  const Constant& places = *n.constant(1);
  const auto axis = static_cast<std::size_t>(n.axis(n.integer("axis", 0), c.dims().size()));
  Dims fits = c.dims();
  bool inside = places.dims().size() == fits.size();
  for (std::size_t i = 0; inside && i < fits.size(); ++i) {
    inside = i == axis || places.dims()[i] <= fits[i];
  }
  require<DataError>(inside, "indices of {} do not fit {}", text_of(places.dims()),
                     text_of(c.dims()));
  std::vector<std::int64_t> strides(fits.size(), 1);
  for (std::size_t i = fits.size(); i-- > 1;) strides[i - 1] = strides[i] * fits[i];
  const std::vector<double> values = c.values();
  const std::int64_t dim = fits[axis];
  std::vector<double> out;
  Dims at(fits.size(), 0);
  for (const std::int64_t place : n.integers(1)) {
    require<DataError>(place >= -dim && place < dim, "expected indices in [{}, {}); got {}", -dim,
                       dim, place);
    std::int64_t from = 0;
    for (std::size_t i = 0; i < at.size(); ++i) {
      from += strides[i] * (i != axis ? at[i] : place < 0 ? place + dim : place);
    }
    out.push_back(values[static_cast<std::size_t>(from)]);
    for (std::size_t i = at.size(); i-- > 0;) {
      if (++at[i] < places.dims()[i]) break;
      at[i] = 0;
    }
  }
  give(n, c.type(), places.dims(), std::move(out));
}

/// Every `step`-th place of an axis.
struct Places {
  std::int64_t first = 0;
  std::int64_t step = 1;
  std::int64_t count = 0;
};

/// Returns the places from `start` on before `end`, as a slice counts them in an axis.
Places places_of_slice(std::int64_t start, std::int64_t end, std::int64_t step, std::int64_t dim) {
  require<DataError>(step != 0, "a step of 0");
  if (dim == 0) return {};
  const bool up = step > 0;
  const auto at = [&](std::int64_t place, std::int64_t low) {
    if (place < -dim) place = -dim - 1;
    return std::clamp(place < 0 ? place + dim : place, low, up ? dim : dim - 1);
  };
  step = std::clamp(step, -dim, dim);
  const std::int64_t first = at(start, 0);
  const std::int64_t last = at(end, up ? 0 : -1);
  const std::int64_t count = (last - first + step - (up ? 1 : -1)) / step;
  return {first, step, std::max<std::int64_t>(count, 0)};
}

void slice(NodeImport& n) {
  ConstantPtr c = n.constant(0);
  const bool old = n.opset() < 10;
  const std::vector<std::int64_t> starts = old ? n.integers("starts") : n.integers(1);
  const std::vector<std::int64_t> ends = old ? n.integers("ends") : n.integers(2);
  std::vector<std::int64_t> axes;
  std::vector<std::int64_t> steps;
  if (old)
    axes = n.integers("axes");
  else if (n.has(3))
    axes = n.integers(3);
  if (!old && n.has(4)) steps = n.integers(4);
  if (axes.empty()) {
    axes.resize(starts.size());
    std::iota(axes.begin(), axes.end(), std::int64_t{0});
  }
  if (steps.empty()) steps.assign(starts.size(), 1);
  require<DataError>(!starts.empty() && ends.size() == starts.size() &&
                         axes.size() == starts.size() && steps.size() == starts.size(),
                     "expected a start and an end for each axis");
  std::vector<bool> seen(c->dims().size(), false);
  int cut = 0;
  Places kept;
  bool found = false;
  for (std::size_t i = 0; i < axes.size(); ++i) {
    const int axis = n.axis(axes[i], c->dims().size());
    const auto place = static_cast<std::size_t>(axis);
    require<DataError>(!seen[place], "expected each axis once");
    seen[place] = true;
    const std::int64_t dim = c->dims()[place];
    const Places own = places_of_slice(starts[i], ends[i], steps[i], dim);
    const bool whole = own.step == 1 && own.count == dim;
    require<DataError>(whole || !found, "expected one axis that a slice of a constant cuts");
    if (whole && i > 0) continue;
    if (!whole) found = true;
    cut = axis;
    kept = own;
  }
  require<DataError>(kept.count <= kMostComputed, "a constant is too large");
  std::vector<std::int64_t> places;
  for (std::int64_t i = 0; i < kept.count; ++i) places.push_back(kept.first + i * kept.step);
  take(n, *c, cut, places, {kept.count});
}

void parts(NodeImport& n) {
  const Constant& c = *n.constant(0);
  const int axis = n.axis(n.integer("axis", 0), c.dims().size());
  const std::int64_t dim = c.dims()[static_cast<std::size_t>(axis)];
  std::vector<std::int64_t> sizes = n.opset() < 13 ? n.integers("split")
                                    : n.has(1)     ? n.integers(1)
                                                   : std::vector<std::int64_t>{};
  const auto count = static_cast<std::int64_t>(n.outputs());
  n.ignore("num_outputs");
  if (sizes.empty()) {
    const std::int64_t every = (dim + count - 1) / count;
    for (std::int64_t i = 0; i < count; ++i) sizes.push_back(std::min(every, dim - i * every));
  }
  require<DataError>(static_cast<std::int64_t>(sizes.size()) == count &&
                         std::ranges::all_of(sizes, [](std::int64_t s) { return s >= 0; }) &&
                         std::accumulate(sizes.begin(), sizes.end(), std::int64_t{0}) == dim,
                     "expected parts that add up to {}", dim);
  std::int64_t from = 0;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    std::vector<std::int64_t> places(static_cast<std::size_t>(sizes[i]));
    std::iota(places.begin(), places.end(), from);
    take(n, c, axis, places, {sizes[i]}, i);
    from += sizes[i];
  }
}

void spread(NodeImport& n, const Dims& dims, const Constant& value) {
  for (const std::int64_t dim : dims) {
    require<DataError>(dim >= 0, "a constant of {} is not supported", text_of(dims));
  }
  const Dims all = common(value.dims(), dims);
  auto c =
      std::make_shared<Constant>(value.type(), all, broadcast(value.values(), value.dims(), all));
  if (value.trains && all == value.dims()) {
    c->name = value.name;
    c->trains = true;
  }
  n.give(ConstantPtr(std::move(c)));
}

void constant_of_shape(NodeImport& n) {
  Constant value(Type::f32, {}, {0.0});
  if (n.has_attribute("value")) {
    const TensorProto& tensor = n.tensor("value");
    require<DataError>(elements_of(tensor.dims) == 1, "expected a value of one number");
    value = Constant(tensor.type, {}, doubles_of(tensor));
  }
  spread(n, n.constant(0)->integers(), value);
}

void range(NodeImport& n) {
  const double first = n.scalar(0);
  const double end = n.scalar(1);
  const double step = n.scalar(2);
  const double count = step == 0 ? -1 : std::ceil((end - first) / step);
  require<DataError>(count >= 0 && count <= static_cast<double>(kMostComputed),
                     "expected a range with a step other than 0 and at most 2^24 elements; got one "
                     "from {} to {} by {}",
                     first, end, step);
  std::vector<double> values;
  for (std::int64_t i = 0; i < static_cast<std::int64_t>(count); ++i) {
    values.push_back(first + static_cast<double>(i) * step);
  }
  give(n, n.constant(0)->type(), {static_cast<std::int64_t>(count)}, std::move(values));
}

void triangle(NodeImport& n) {
  const Constant& c = *n.constant(0);
  const bool upper = n.integer("upper", 1) != 0;
  const std::int64_t k = n.has(1) ? n.whole(1) : 0;
  require<DataError>(c.dims().size() >= 2 && !c.batch, "expected matrices; got {}",
                     text_of(c.dims()));
  const std::int64_t rows = c.dims()[c.dims().size() - 2];
  const std::int64_t columns = c.dims().back();
  std::vector<double> values = c.values();
  for (std::size_t at = 0; at < values.size(); ++at) {
    const std::int64_t i = static_cast<std::int64_t>(at) / columns % rows;
    const std::int64_t j = static_cast<std::int64_t>(at) % columns;
    if (upper ? j - i < k : j - i > k) values[at] = 0;
  }
  give(n, c.type(), c.dims(), std::move(values));
}

}  // namespace

void give_shape(NodeImport& n, const Dims& dims) {
  const auto rank = static_cast<std::int64_t>(dims.size());
  const auto clamp = [&](std::int64_t at) {
    return std::clamp<std::int64_t>(at < 0 ? at + rank : at, 0, rank);
  };
  const std::int64_t begin = clamp(n.integer("start", 0));
  const std::int64_t end = std::max(begin, clamp(n.integer("end", rank)));
  std::vector<double> values;
  bool batch = false;
  for (std::int64_t i = begin; i < end; ++i) {
    const std::int64_t dim = dims[static_cast<std::size_t>(i)];
    batch = batch || dim % kTemplateBatch == 0;
    values.push_back(static_cast<double>(dim));
  }
  auto c = std::make_shared<Constant>(Type::i64, Dims{end - begin}, std::move(values));
  c->batch = batch;
  n.give(ConstantPtr(std::move(c)));
}

void add_shape_folds(Folds& f) {
  f["Squeeze"] = squeeze;
  f["Unsqueeze"] = unsqueeze;
  f["Reshape"] = reshape;
  f["Flatten"] = [](NodeImport& n) {
    const ConstantPtr& c = n.constant(0);
    const std::int64_t rank = static_cast<std::int64_t>(c->dims().size());
    std::int64_t axis = n.integer("axis", 1);
    axis += axis < 0 ? rank : 0;
    require<DataError>(axis >= 0 && axis <= rank, "the axis {} is out of range", axis);
    Dims dims{1, 1};
    for (std::int64_t i = 0; i < rank; ++i)
      dims[i < axis ? 0 : 1] *= c->dims()[static_cast<std::size_t>(i)];
    n.give(reshaped(*c, dims));
  };
  f["Transpose"] = transpose;
  f["Concat"] = join;
  f["Gather"] = gather;
  f["GatherElements"] = gather_elements;
  f["Slice"] = slice;
  f["Split"] = parts;
  f["Trilu"] = triangle;
  f["Range"] = range;
  f["ConstantOfShape"] = constant_of_shape;
  f["Expand"] = [](NodeImport& n) { spread(n, n.integers(1), *n.constant(0)); };
  f["Tile"] = [](NodeImport& n) {
    const Constant& c = *n.constant(0);
    const std::vector<std::int64_t> repeats = n.integers(1);
    require<DataError>(repeats.size() == c.dims().size(), "expected a number for each axis");
    Dims split;
    Dims to;
    Dims dims;
    for (std::size_t i = 0; i < repeats.size(); ++i) {
      require<DataError>(repeats[i] > 0 && repeats[i] <= kMostComputed, "cannot repeat {} times",
                         repeats[i]);
      split.insert(split.end(), {1, c.dims()[i]});
      to.insert(to.end(), {repeats[i], c.dims()[i]});
      dims.push_back(repeats[i] * c.dims()[i]);
    }
    require<DataError>(elements_of(to) <= kMostComputed, "a constant of {} is too large",
                       text_of(dims));
    give(n, c.type(), dims, broadcast(c.values(), split, to), c.batch);
  };
  f["Shape"] = [](NodeImport& n) { give_shape(n, n.constant(0)->dims()); };
  f["Size"] = [](NodeImport& n) {
    give(n, Type::i64, {}, {static_cast<double>(n.constant(0)->elements())});
  };
}

}  // namespace linnet::onnx
