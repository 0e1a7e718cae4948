// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "base/check.h"
#include "core/dims.h"
#include "onnx/rules.h"
#include "ops/transpose/transpose.h"

namespace linnet::onnx {
namespace {

void write_transpose(Exporter& e, const Node& node, const Op& op) {
  e.set(node.outputs[TransposeOp::Out::y], Form::plain,
        e.file().node("Transpose", {e.in(node.inputs[TransposeOp::In::x], Form::plain)}, node.name,
                      {{"perm", dynamic_cast<const TransposeOp&>(op).attrs().permutation}}));
}

void read_transpose(NodeImport& n) {
  const Trace x = n.trace(0);
  std::vector<std::int64_t> reversed(x.axes.size());
  std::iota(reversed.rbegin(), reversed.rend(), 0);
  const std::vector<std::int64_t> order = n.integers("perm", reversed);
  std::vector<std::int64_t> sorted = order;
  std::ranges::sort(sorted);
  std::ranges::reverse(reversed);
  require<DataError>(sorted == reversed, "expected each axis of {1} once in perm; got {0}",
                     text_of(order), text_of(dims_of(x)));
  Trace y = x;
  for (std::size_t i = 0; i < order.size(); ++i) {
    y.axes[i] = x.axes[static_cast<std::size_t>(order[i])];
  }
  n.give(std::move(y));
}

}  // namespace

void register_transpose_onnx(Rules& all) {
  all.exports["transpose"] = write_transpose;
  all.imports["Transpose"] = {read_transpose, {}};
}

}  // namespace linnet::onnx
