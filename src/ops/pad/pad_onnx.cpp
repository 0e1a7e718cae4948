// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include <algorithm>
#include <utility>
#include <vector>

#include "base/check.h"
#include "onnx/rules.h"
#include "ops/pad/pad.h"

namespace linnet::onnx {
namespace {

void write_pad(Exporter& e, const Node& node, const Op& op) {
  const PadAttrs& a = dynamic_cast<const PadOp&>(op).attrs();
  const Value x = node.inputs[PadOp::In::x];
  const Form form = e.images_or_plain(x);
  const std::size_t rank = e.shape(x).rank();
  Dims pads(2 * rank, 0);
  const auto axis = static_cast<std::size_t>(axis_in(form, a.axis, rank));
  pads[axis] = a.before;
  pads[rank + axis] = a.after;
  e.set(node.outputs[PadOp::Out::y], form,
        e.file().node("Pad",
                      {e.in(x, form), e.integers(node, "pads", pads),
                       e.file().number(node.name + ".value", a.value)},
                      node.name));
}

Expression edge(const Expression& e, std::int64_t place, std::int64_t at, std::int64_t count) {
  const Expression one = slice(e, place, at, at + 1);
  return concat(std::vector<Expression>(static_cast<std::size_t>(count), one), place);
}

void read_pad(NodeImport& n) {
  Trace x = *n.with_numbers(n.trace(0)).trace;
  const std::string mode = n.text("mode", "constant");
  std::vector<std::int64_t> pads = n.opset() < 11 ? n.integers("pads") : n.integers(1);
  double value = 0;
  if (n.opset() < 11)
    value = n.number("value", 0);
  else if (n.has(2))
    value = n.scalar(2);
  std::vector<int> axes;
  if (n.opset() >= 18 && n.has(3)) {
    for (const std::int64_t axis : n.integers(3)) axes.push_back(n.axis(axis, x.axes.size()));
  } else {
    for (int i = 0; i < static_cast<int>(x.axes.size()); ++i) axes.push_back(i);
  }
  require<DataError>(pads.size() == 2 * axes.size(), "expected {} pads; got {}", 2 * axes.size(),
                     pads.size());
  require<DataError>(mode == "constant" || mode == "reflect" || mode == "edge",
                     "mode '{}' is not supported", mode);
  for (std::size_t i = 0; i < axes.size(); ++i) {
    std::int64_t before = pads[i];
    std::int64_t after = pads[axes.size() + i];
    if (before == 0 && after == 0) continue;
    const int axis = axes[i];
    const std::int64_t dim = dims_of(x)[static_cast<std::size_t>(axis)];
    require<DataError>(before > -dim && after > -dim && before < (1 << 24) && after < (1 << 24),
                       "cannot pad {} by {} and {}", text_of(dims_of(x)), before, after);
    if (before < 0 || after < 0) {
      const std::int64_t first = std::max<std::int64_t>(-before, 0);
      x = sliced(x, axis, first, 1, dim - first - std::max<std::int64_t>(-after, 0));
      before = std::max<std::int64_t>(before, 0);
      after = std::max<std::int64_t>(after, 0);
    }
    x = merged(x, axis);
    const std::int64_t place = place_of(x, axis);
    if (mode == "constant") {
      x.e = pad(x.e, place, before, after, value);
      continue;
    }
    const std::int64_t now = dims_of(x)[static_cast<std::size_t>(axis)];
    require<DataError>(mode == "edge" ? std::max(before, after) <= 256
                                      : std::max(before, after) < now,
                       "cannot pad {} by {} and {} in mode '{}'", now, before, after, mode);
    std::vector<Expression> parts = {x.e};
    if (before > 0) {
      parts.insert(parts.begin(), mode == "edge" ? edge(x.e, place, 0, before)
                                                 : flip(slice(x.e, place, 1, before + 1), place));
    }
    if (after > 0) {
      parts.push_back(mode == "edge" ? edge(x.e, place, now - 1, after)
                                     : flip(slice(x.e, place, now - 1 - after, now - 1), place));
    }
    x.e = concat(parts, place);
  }
  n.give(std::move(x));
}

}  // namespace

void register_pad_onnx(Rules& all) {
  all.exports["pad"] = write_pad;
  all.imports["Pad"] = {read_pad, "modes constant, reflect and edge; constant pads"};
}

}  // namespace linnet::onnx
