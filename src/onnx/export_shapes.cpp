// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>

#include "base/check.h"
#include "core/dims.h"
#include "onnx/exporter.h"
#include "ops/arg_reduce/arg_reduce.h"
#include "ops/concat/concat.h"
#include "ops/cumsum/cumsum.h"
#include "ops/expand/expand.h"
#include "ops/gather_axis/gather_axis.h"
#include "ops/one_hot/one_hot.h"
#include "ops/pad/pad.h"
#include "ops/reduce/reduce.h"
#include "ops/reshape/reshape.h"
#include "ops/slice/slice.h"
#include "ops/strided_slice/strided_slice.h"
#include "ops/transpose/transpose.h"

namespace linnet::onnx {
namespace {

using Ints = std::vector<std::int64_t>;

/// Returns the place of an axis where the channels are second.
std::int64_t axis_in(Form form, std::int64_t axis, std::size_t rank) {
  if (form != Form::channels || axis == 0) return axis;
  return axis + 1 == static_cast<std::int64_t>(rank) ? 1 : axis + 1;
}

Form rank_form(Exporter& e, Value x) {
  const bool images = e.parameter(x) == nullptr && e.has(x, Form::channels);
  return images ? Form::channels : Form::plain;
}

std::string ints(Exporter& e, const Node& node, const char* name, const Ints& values) {
  return e.file().integers(fmt::format("{}.{}", node.name, name),
                           {static_cast<std::int64_t>(values.size())}, values);
}

std::string numbers(Exporter& e, const Node& node, const std::string& x, Type type) {
  return e.file().node("Cast", {x}, node.name, {{"to", static_cast<std::int64_t>(type)}});
}

void reshape(Exporter& e, const Node& node, const Op& op) {
  const Value x = node.inputs[0];
  const Value y = node.outputs[0];
  const Shape& from = e.shape(x);
  const Shape& to = e.shape(y);
  if (from.rank() == 4 && to.rank() == 2 && to[0] == from[0] && e.parameter(x) == nullptr &&
      e.has(x, Form::channels)) {
    e.set(y, Form::flat, e.file().node("Flatten", {e.in(x, Form::channels)}, node.name));
    e.set_image(y, {from[1], from[2], from[3]});
    return;
  }
  const Ints dims = dynamic_cast<const ReshapeOp&>(op).attrs().shape;
  e.set(y, Form::plain,
        e.file().node("Reshape", {e.in(x, Form::plain), ints(e, node, "shape", dims)}, node.name));
}

void transpose(Exporter& e, const Node& node, const Op& op) {
  e.set(node.outputs[0], Form::plain,
        e.file().node("Transpose", {e.in(node.inputs[0], Form::plain)}, node.name,
                      {{"perm", dynamic_cast<const TransposeOp&>(op).attrs().permutation}}));
}

void concat(Exporter& e, const Node& node, const Op& op) {
  Form form = Form::channels;
  for (const Value x : node.inputs) {
    if (rank_form(e, x) != form) form = Form::plain;
  }
  std::vector<std::string> parts;
  for (const Value x : node.inputs) parts.push_back(e.in(x, form));
  const auto axis = axis_in(form, dynamic_cast<const ConcatOp&>(op).attrs().axis,
                            e.shape(node.outputs[0]).rank());
  e.set(node.outputs[0], form, e.file().node("Concat", parts, node.name, {{"axis", axis}}));
}

void slice_from(Exporter& e, const Node& node, std::int64_t axis, std::int64_t begin,
                std::int64_t end, std::int64_t step) {
  const Value x = node.inputs[0];
  const Form form = rank_form(e, x);
  const std::string y =
      e.file().node("Slice",
                    {e.in(x, form), ints(e, node, "begin", {begin}), ints(e, node, "end", {end}),
                     ints(e, node, "axis", {axis_in(form, axis, e.shape(x).rank())}),
                     ints(e, node, "step", {step})},
                    node.name);
  e.set(node.outputs[0], form, y);
}

void pad(Exporter& e, const Node& node, const Op& op) {
  const PadAttrs& a = dynamic_cast<const PadOp&>(op).attrs();
  const Value x = node.inputs[0];
  const Form form = rank_form(e, x);
  const std::size_t rank = e.shape(x).rank();
  Ints pads(2 * rank, 0);
  const auto axis = static_cast<std::size_t>(axis_in(form, a.axis, rank));
  pads[axis] = a.before;
  pads[rank + axis] = a.after;
  e.set(node.outputs[0], form,
        e.file().node("Pad",
                      {e.in(x, form), ints(e, node, "pads", pads),
                       e.file().number(node.name + ".value", a.value)},
                      node.name));
}

void expand(Exporter& e, const Node& node, const Op& op) {
  const Ints& sample = dynamic_cast<const ExpandOp&>(op).attrs().shape;
  Ints dims = sample;
  std::string shape;
  if (node.inputs.size() == 1) {
    dims.insert(dims.begin(), 1);
    shape = ints(e, node, "shape", dims);
  } else {
    const std::string rows = e.file().node("Shape", {e.as_it_is(node.inputs[1])}, node.name,
                                           {{"start", std::int64_t{0}}, {"end", std::int64_t{1}}});
    shape = e.file().node("Concat", {rows, ints(e, node, "shape", dims)}, node.name,
                          {{"axis", std::int64_t{0}}});
  }
  e.set(node.outputs[0], Form::plain,
        e.file().node("Expand", {e.in(node.inputs[0], Form::plain), shape}, node.name));
}

void reduce(Exporter& e, const Node& node, const Op& op) {
  const ReduceAttrs& a = dynamic_cast<const ReduceOp&>(op).attrs();
  const Value x = node.inputs[0];
  // Without the channels among what stays in place, the order of the rest differs.
  const Form form = a.keep_dims ? rank_form(e, x) : Form::plain;
  Ints axes;
  for (const std::int64_t axis : a.axes) axes.push_back(axis_in(form, axis, e.shape(x).rank()));
  std::ranges::sort(axes);
  const auto keep = static_cast<std::int64_t>(a.keep_dims);
  const std::string in = e.in(x, form);
  if (a.kind == Reduction::sum) {
    e.set(node.outputs[0], form,
          e.file().node("ReduceSum", {in, ints(e, node, "axes", axes)}, node.name,
                        {{"keepdims", keep}}));
    return;
  }
  const std::string_view name = a.kind == Reduction::mean  ? "ReduceMean"
                                : a.kind == Reduction::max ? "ReduceMax"
                                                           : "ReduceMin";
  e.set(node.outputs[0], form,
        e.file().node(name, {in}, node.name, {{"axes", axes}, {"keepdims", keep}}));
}

void arg_reduce(Exporter& e, const Node& node, const Op& op) {
  const ArgReduceAttrs& a = dynamic_cast<const ArgReduceOp&>(op).attrs();
  const std::string y =
      e.file().node(a.kind == ArgReduction::max ? "ArgMax" : "ArgMin",
                    {e.in(node.inputs[0], Form::plain)}, node.name,
                    {{"axis", std::int64_t{a.axis}}, {"keepdims", std::int64_t{0}}});
  e.set(node.outputs[0], Form::plain, numbers(e, node, y, Type::i32));
}

void one_hot(Exporter& e, const Node& node, const Op& op) {
  const std::int64_t classes = dynamic_cast<const OneHotOp&>(op).attrs().classes;
  std::vector<std::int32_t> places(static_cast<std::size_t>(classes));
  std::iota(places.begin(), places.end(), 0);
  const std::string ids =
      e.file().node("Unsqueeze", {e.in(node.inputs[0], Form::plain), ints(e, node, "axis", {-1})},
                    node.name);
  const std::string same =
      e.file().node("Equal", {ids, e.file().int32s(node.name + ".classes", {classes}, places)},
                    node.name);
  e.set(node.outputs[0], Form::plain, numbers(e, node, same, Type::f32));
}

void gather_axis(Exporter& e, const Node& node, const Op& op) {
  const GatherAxisAttrs& a = dynamic_cast<const GatherAxisOp&>(op).attrs();
  const std::string x = e.in(node.inputs[0], Form::plain);
  const std::string ids = numbers(e, node, e.in(node.inputs[1], Form::plain), Type::i64);
  if (a.along) {
    e.set(node.outputs[0], Form::plain,
          e.file().node("GatherElements", {x, ids}, node.name, {{"axis", std::int64_t{a.axis}}}));
    return;
  }
  if (a.axis != 1) Exporter::refuse(node, "ids of each sample along axis {}", a.axis - 1);
  const std::string places =
      e.file().node("Unsqueeze", {ids, ints(e, node, "axis", {-1})}, node.name);
  e.set(node.outputs[0], Form::plain,
        e.file().node("GatherND", {x, places}, node.name, {{"batch_dims", std::int64_t{1}}}));
}

void cumsum(Exporter& e, const Node& node, const Op& op) {
  const CumsumAttrs& a = dynamic_cast<const CumsumOp&>(op).attrs();
  e.set(node.outputs[0], Form::plain,
        e.file().node("CumSum",
                      {e.in(node.inputs[0], Form::plain),
                       e.file().integers(node.name + ".axis", {}, {a.axis})},
                      node.name, {{"reverse", static_cast<std::int64_t>(a.reverse)}}));
}

}  // namespace

void add_shape_export(ExportOperators& all) {
  all["reshape"] = reshape;
  all["transpose"] = transpose;
  all["concat"] = concat;
  all["slice"] = [](Exporter& e, const Node& node, const Op& op) {
    const SliceAttrs& a = dynamic_cast<const SliceOp&>(op).attrs();
    slice_from(e, node, a.axis, a.begin, a.end, 1);
  };
  all["strided_slice"] = [](Exporter& e, const Node& node, const Op& op) {
    const StridedSliceAttrs& a = dynamic_cast<const StridedSliceOp&>(op).attrs();
    const std::int64_t last = a.begin + (a.count - 1) * a.step;
    const std::int64_t before = std::numeric_limits<std::int64_t>::min() / 2;
    slice_from(e, node, a.axis, a.begin,
               a.step > 0  ? last + 1
               : last == 0 ? before
                           : last - 1,
               a.step);
  };
  all["pad"] = pad;
  all["expand"] = expand;
  all["reduce"] = reduce;
  all["arg_reduce"] = arg_reduce;
  all["one_hot"] = one_hot;
  all["gather_axis"] = gather_axis;
  all["cumsum"] = cumsum;
}

}  // namespace linnet::onnx
