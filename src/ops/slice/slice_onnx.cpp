// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include <algorithm>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "onnx/rules.h"
#include "ops/slice/slice.h"
#include "ops/strided_slice/strided_slice.h"

namespace linnet::onnx {
namespace {

constexpr std::int64_t kNoEnd = 1'000'000'000;  // tf2onnx writes it for an axis that is whole

void slice_from(Exporter& e, const Node& node, std::int64_t axis, std::int64_t begin,
                std::int64_t end, std::int64_t step) {
  const Value x = node.inputs.front();
  const Form form = e.images_or_plain(x);
  const std::string y =
      e.file().node("Slice",
                    {e.in(x, form), e.integers(node, "begin", {begin}),
                     e.integers(node, "end", {end}),
                     e.integers(node, "axis", {axis_in(form, axis, e.shape(x).rank())}),
                     e.integers(node, "step", {step})},
                    node.name);
  e.set(node.outputs.front(), form, y);
}

void read_split(NodeImport& n) {
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

void read_slice(NodeImport& n) {
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
      const std::int64_t batch = n.network().batch();
      const bool to_end = ends[i] == dim || ends[i] >= kNoEnd || batch != kTemplateBatch;
      require<DataError>(starts[i] == 0 && step == 1 && ends[i] >= batch && to_end,
                         "would slice the batch");
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

}  // namespace

void register_slice_onnx(Rules& all) {
  all.exports["slice"] = [](Exporter& e, const Node& node, const Op& op) {
    const SliceAttrs& a = dynamic_cast<const SliceOp&>(op).attrs();
    slice_from(e, node, a.axis, a.begin, a.end, 1);
  };
  all.exports["strided_slice"] = [](Exporter& e, const Node& node, const Op& op) {
    const StridedSliceAttrs& a = dynamic_cast<const StridedSliceOp&>(op).attrs();
    const std::int64_t last = a.begin + (a.count - 1) * a.step;
    const std::int64_t before = std::numeric_limits<std::int64_t>::min() / 2;
    slice_from(e, node, a.axis, a.begin,
               a.step > 0  ? last + 1
               : last == 0 ? before
                           : last - 1,
               a.step);
  };
  all.imports["Split"] = {read_split, "not along the batch"};
  all.imports["Slice"] = {read_slice, "constant indices, not along the batch"};
}

}  // namespace linnet::onnx
