// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include <algorithm>
#include <vector>

#include "base/check.h"
#include "nn/expression/support.h"
#include "onnx/rules.h"
#include "ops/concat/concat.h"

namespace linnet::onnx {
namespace {

void write_concat(Exporter& e, const Node& node, const Op& op) {
  Form form = Form::channels;
  for (const Value x : node.inputs) {
    if (e.images_or_plain(x) != form) form = Form::plain;
  }
  std::vector<std::string> parts;
  for (const Value x : node.inputs) parts.push_back(e.in(x, form));
  const auto axis = axis_in(form, dynamic_cast<const ConcatOp&>(op).attrs().axis,
                            e.shape(node.outputs[ConcatOp::Out::y]).rank());
  e.set(node.outputs[ConcatOp::Out::y], form,
        e.file().node("Concat", parts, node.name, {{"axis", axis}}));
}

void read_concat(NodeImport& n) {
  const std::vector<FileValue> all = n.all();
  const auto first =
      std::ranges::find_if(all, [](const FileValue& v) { return v.trace.has_value(); });
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
  for (const FileValue& v : all) {
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

}  // namespace

void register_concat_onnx(Rules& all) {
  all.exports["concat"] = write_concat;
  all.imports["Concat"] = {read_concat, "not along the batch"};
}

}  // namespace linnet::onnx
