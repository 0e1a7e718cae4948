// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include <utility>
#include <vector>

#include "base/check.h"
#include "onnx/rules.h"
#include "ops/arg_reduce/arg_reduce.h"

namespace linnet::onnx {
namespace {

void write_arg_reduce(Exporter& e, const Node& node, const Op& op) {
  const ArgReduceAttrs& a = dynamic_cast<const ArgReduceOp&>(op).attrs();
  const std::string y =
      e.file().node(a.kind == ArgReduction::max ? "ArgMax" : "ArgMin",
                    {e.in(node.inputs[ArgReduceOp::In::x], Form::plain)}, node.name,
                    {{"axis", std::int64_t{a.axis}}, {"keepdims", std::int64_t{0}}});
  e.set(node.outputs[ArgReduceOp::Out::y], Form::plain, e.cast(node, y, Type::i32));
}

void read_arg(NodeImport& n, bool largest) {
  const Trace x = n.floats(0);
  const int axis = n.axis(n.integer("axis", 0), x.axes.size());
  const bool keep = n.flag("keepdims", true);
  const bool last = n.flag("select_last_index", false);  // of equal ones
  const Trace one = merged(x, axis);
  const std::int64_t place = place_of(one, axis);
  std::vector<bool> reduced(x.axes.size(), false);
  reduced[static_cast<std::size_t>(axis)] = true;
  const Expression from = last ? flip(one.e, place) : one.e;
  const Expression found = largest ? argmax(from, place) : argmin(from, place);
  Trace y = without(one, found, reduced, keep, Type::i64);
  y.below = dims_of(x)[static_cast<std::size_t>(axis)];
  if (last) {
    const double end = static_cast<double>(y.below - 1);
    y.e = to_ids(end - n.network().as_numbers(y.e, y.below, n.name()));
  }
  n.give(std::move(y));
}

}  // namespace

void register_arg_reduce_onnx(Rules& all) {
  all.exports["arg_reduce"] = write_arg_reduce;
  all.imports["ArgMax"] = {[](NodeImport& n) { read_arg(n, true); }, "not over the batch"};
  all.imports["ArgMin"] = {[](NodeImport& n) { read_arg(n, false); }, "not over the batch"};
}

}  // namespace linnet::onnx
