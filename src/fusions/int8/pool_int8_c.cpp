// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "c_export/writers.h"
#include "fusions/int8/pool_int8.h"

namespace linnet {
namespace {

void write_max(const Written& w) {
  const Pool2dAttrs& a = w.attrs<MaxPoolInt8Op>();
  const Shape& x = w.shape_in(MaxPoolInt8Op::In::x);
  const Shape& y = w.shape_out();
  for (std::int64_t n = 0; n < x[0]; ++n) {
    w.file.call("max_pool_levels",
                fmt::format("{}, {}, {}",
                            at_sample(w.in(MaxPoolInt8Op::In::x), n, x.sample().elements()),
                            at_sample(w.out(), n, y.sample().elements()),
                            fmt::join({x[1], x[2], x[3], y[1], y[2], a.size_h, a.size_w, a.stride_h,
                                       a.stride_w, a.pad_top, a.pad_left},
                                      ", ")));
  }
}

void write_mean(const Written& w) {
  const Shape& x = w.shape_in(GlobalAvgPoolInt8Op::In::x);
  const std::int64_t pixels = x[1] * x[2];
  const double scale = w.attrs<GlobalAvgPoolInt8Op>().scale / static_cast<double>(pixels);
  for (std::int64_t n = 0; n < x[0]; ++n) {
    w.file.call("mean_of_levels",
                fmt::format("{}, {}, {}, {}, {}",
                            at_sample(w.in(GlobalAvgPoolInt8Op::In::x), n, pixels * x[3]),
                            at_sample(w.out(), n, x[3]), pixels, x[3], c_number(scale)));
  }
}

}  // namespace

void register_pool_int8_c(Writers& all) {
  all[MaxPoolInt8Op::kName] = write_max;
  all[GlobalAvgPoolInt8Op::kName] = write_mean;
}

}  // namespace linnet
