// SPDX-License-Identifier: Apache-2.0
// Operators that move numbers.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>

#include "c_export/writers.h"
#include "ops/gather_axis/gather_axis.h"
#include "ops/pad/pad.h"
#include "ops/slice/axis.h"
#include "ops/strided_slice/strided_slice.h"
#include "ops/transpose/transpose.h"
#include "ops/upsample2d/upsample2d.h"

namespace linnet {
namespace {

void write_transpose(const Written& w) {
  const auto& permutation = w.attrs<TransposeOp>().permutation;
  const auto of_x = strides_of(w.shape_in(TransposeOp::x));
  std::vector<std::int64_t> strides;
  for (const std::int64_t axis : permutation) {
    strides.push_back(of_x[static_cast<std::size_t>(axis)]);
  }
  write_take(w.file, w.in(TransposeOp::x), w.out(), dims_of(w.shape_out()), strides);
}

void write_strided_slice(const Written& w) {
  const StridedSliceAttrs& a = w.attrs<StridedSliceOp>();
  auto strides = strides_of(w.shape_in(StridedSliceOp::x));
  std::int64_t& along = strides[static_cast<std::size_t>(a.axis)];
  const std::int64_t first = a.begin * along;
  along *= a.step;
  write_take(w.file, fmt::format("{} + {}", w.in(StridedSliceOp::x), first), w.out(),
             dims_of(w.shape_out()), strides);
}

void write_pad(const Written& w) {
  const PadAttrs& a = w.attrs<PadOp>();
  const AxisView x = axis_view(w.shape_in(PadOp::x), a.axis);
  w.file.call("pad",
              fmt::format("{}, {}, {}, {}, {}, {}, {}", w.in(PadOp::x), w.out(), x.outer,
                          a.before * x.inner, x.row(), a.after * x.inner, c_number(a.value)));
}

void write_gather_axis(const Written& w) {
  using Op = GatherAxisOp;
  const GatherAxisLayout l(w.attrs<Op>(), w.shape_in(Op::x), w.shape_in(Op::ids));
  w.file.call("gather_axis",
              fmt::format("{}, {}, {}, {}", w.in(Op::x), w.in(Op::ids), w.out(),
                          fmt::join({l.rows, l.dim, l.ids, l.inner, l.along ? l.inner : 1,
                                     l.along ? l.ids * l.inner : 0},
                                    ", ")));
}

void write_upsample(const Written& w) {
  const Shape& x = w.shape_in(Upsample2dOp::x);
  const Upsample2dAttrs& a = w.attrs<Upsample2dOp>();
  w.file.call("upsample2d",
              fmt::format("{}, {}, {}, {}, {}, {}, {}, {}", w.in(Upsample2dOp::x), w.out(), x[1],
                          x[2], x[3], a.out_h, a.out_w, a.mode == Upsampling::bilinear ? 1 : 0));
}

}  // namespace

std::vector<std::int64_t> strides_of(const Shape& shape) {
  std::vector<std::int64_t> strides;
  for (int i = 0; i < static_cast<int>(shape.rank()); ++i) {
    strides.push_back(axis_view(shape, i).inner);
  }
  return strides;
}

void write_take(OperatorFile& file, const std::string& from, const std::string& to,
                const std::vector<std::int64_t>& dims, const std::vector<std::int64_t>& strides) {
  std::vector<std::int64_t> kept_dims;
  std::vector<std::int64_t> kept_strides;
  for (std::size_t i = dims.size(); i-- > 0;) {
    if (dims[i] == 1) continue;
    if (!kept_dims.empty() && strides[i] == kept_strides.back() * kept_dims.back()) {
      kept_dims.back() *= dims[i];  // one axis with the one after it
    } else {
      kept_dims.push_back(dims[i]);
      kept_strides.push_back(strides[i]);
    }
  }
  if (kept_dims.empty()) {
    kept_dims = {1};
    kept_strides = {1};
  }
  std::ranges::reverse(kept_dims);
  std::ranges::reverse(kept_strides);
  file.call("take", fmt::format("{}, {}, {}, (const int[]){{{}}}, (const int[]){{{}}}", from, to,
                                kept_dims.size(), fmt::join(kept_dims, ", "),
                                fmt::join(kept_strides, ", ")));
}

void add_layout_writers(Writers& all) {
  all[GatherAxisOp::kName] = write_gather_axis;
  all[PadOp::kName] = write_pad;
  all[StridedSliceOp::kName] = write_strided_slice;
  all[TransposeOp::kName] = write_transpose;
  all[Upsample2dOp::kName] = write_upsample;
}

}  // namespace linnet
