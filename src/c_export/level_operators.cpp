// SPDX-License-Identifier: Apache-2.0
// Rounding to levels: a file holds each less the level of 0, in 16 bits, of which two make a pair.
#include <fmt/format.h>

#include "c_export/writers.h"
#include "ops/quantize/quantize.h"

namespace linnet {
namespace {

void write_quantize(const Written& w) {
  const LevelsAttrs& a = w.attrs<QuantizeOp>();
  const std::int64_t count = w.shape_out().elements();
  const std::string values = w.file.at_if_read(w.node.outputs[QuantizeOp::Out::y]);
  const std::string levels = w.file.at_if_read(w.node.outputs[QuantizeOp::Out::levels]);
  const std::string x = w.in(QuantizeOp::In::x);
  if (levels != w.file.nothing()) {
    w.file.call("to_levels", fmt::format("{}, {}, {}, {}", x, levels, count, level_arguments(a)));
  }
  if (values != w.file.nothing()) {
    w.file.call("to_values", fmt::format("{}, {}, {}, {}, {}", x, values, count, level_arguments(a),
                                         c_number(a.scale)));
  }
}

}  // namespace

std::string level_arguments(const LevelsAttrs& levels) {
  return fmt::format("{}, {}, {}", c_number(1 / static_cast<float>(levels.scale)),
                     c_number(static_cast<double>(-levels.zero)),
                     c_number(static_cast<double>(255 - levels.zero)));
}

void add_level_writers(Writers& all) { all[QuantizeOp::kName] = write_quantize; }

}  // namespace linnet
