// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "onnx/rules.h"
#include "ops/one_hot/one_hot.h"

namespace linnet::onnx {
namespace {

void write_one_hot(Exporter& e, const Node& node, const Op& op) {
  const std::int64_t classes = dynamic_cast<const OneHotOp&>(op).attrs().classes;
  std::vector<std::int32_t> places(static_cast<std::size_t>(classes));
  std::iota(places.begin(), places.end(), 0);
  const std::string ids = e.file().node("Unsqueeze",
                                        {e.in(node.inputs[OneHotOp::In::ids], Form::plain),
                                         e.integers(node, "axis", {-1})},
                                        node.name);
  const std::string same =
      e.file().node("Equal", {ids, e.file().int32s(node.name + ".classes", {classes}, places)},
                    node.name);
  e.set(node.outputs[OneHotOp::Out::y], Form::plain, e.cast(node, same, Type::f32));
}

void read_one_hot(NodeImport& n) {
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

}  // namespace

void register_one_hot_onnx(Rules& all) {
  all.exports["one_hot"] = write_one_hot;
  all.imports["OneHot"] = {read_one_hot, "constant depth and values"};
}

}  // namespace linnet::onnx
