// SPDX-License-Identifier: Apache-2.0
// Pools of sequences, images and volumes.
#include <linnet/functions.h>

#include <algorithm>
#include <array>
#include <optional>

#include "base/check.h"
#include "onnx/windows.h"
#include "ops/bin_mean2d/bin_mean2d.h"
#include "ops/global_pool/global_pool.h"

namespace linnet::onnx {
namespace {

/// Returns how many windows there are, with those that begin in the image and end after its
/// padding.
Pair windows(const Pair& size, const Window& w, bool ceil) {
  Pair out{};
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t room = size[i] + w.before[i] + w.after[i] - w.span(i);
    const std::int64_t beyond = ceil ? w.stride[i] - 1 : 0;
    require<DataError>(room + beyond >= 0, "expected a window that fits {1}; got {0}", w.span(i),
                       size[i]);
    out[i] = (room + beyond) / w.stride[i] + 1;
    if (ceil && (out[i] - 1) * w.stride[i] >= size[i] + w.before[i]) --out[i];
  }
  return out;
}

enum class Pooling : std::uint8_t { largest, mean, sum };

constexpr double kBelowAll = -3.4028234663852886e38;  // the lowest float

/// Returns how many pixels of each window along an axis count in a mean.
std::vector<double> counted_pixels(std::int64_t size, const Window& w, std::size_t axis,
                                   std::int64_t windows, bool with_pads) {
  std::vector<double> counts;
  for (std::int64_t o = 0; o < windows; ++o) {
    double count = 0;
    for (std::int64_t k = 0; k < w.kernel[axis]; ++k) {
      const std::int64_t at = o * w.stride[axis] - w.before[axis] + k * w.dilation[axis];
      const bool inside = at >= 0 && at < size;
      const bool padding = with_pads && at >= -w.before[axis] && at < size + w.after[axis];
      if (inside || padding) ++count;
    }
    require<DataError>(count > 0, "expected windows that reach the image");
    counts.push_back(count);
  }
  return counts;
}

/// Pools windows whose pixels lie apart, along one axis after the other.
Expression pooled_apart(NodeImport& n, Expression x, const Axes2& axes, const Window& w,
                        const Pair& out, Pooling pooling) {
  const bool with_pads = n.flag("count_include_pad", false);
  for (std::size_t i = 0; i < 2; ++i) {
    const auto axis = static_cast<std::int64_t>(i);
    const std::int64_t size = x.shape()[static_cast<int>(i)];
    const std::int64_t reach = (out[i] - 1) * w.stride[i] + w.span(i);
    const std::int64_t after = std::max<std::int64_t>(reach - w.before[i] - size, 0);
    require<DataError>(w.kernel[i] <= 256, "expected dilated windows of at most 256; got {}",
                       w.kernel[i]);
    if (w.before[i] + after > 0) {
      x = pad(x, axis, w.before[i], after, pooling == Pooling::largest ? kBelowAll : 0);
    }
    std::optional<Expression> all;
    for (std::int64_t k = 0; k < w.kernel[i]; ++k) {
      const std::int64_t first = k * w.dilation[i];
      const Expression part =
          slice(x, axis, first, first + (out[i] - 1) * w.stride[i] + 1, w.stride[i]);
      if (!all) {
        all = part;
      } else {
        all = pooling == Pooling::largest ? maximum(*all, part) : *all + part;
      }
    }
    x = *all;
    if (pooling != Pooling::mean) continue;
    std::vector<double> shares = counted_pixels(size, w, i, out[i], with_pads);
    for (double& share : shares) share = 1 / share;
    const Dims dims = i == 0 ? Dims{out[0], 1, 1} : Dims{out[1], 1};
    x = x * made_weight(n, fmt::format("shares_{}", axes.of[i]), dims, std::move(shares));
  }
  return x;
}

/// Pools images along two of the node's axes.
Expression pooled(NodeImport& n, const Expression& x, const Axes2& axes, Pooling pooling) {
  const Pair size{x.shape()[0], x.shape()[1]};
  Window w = window_of(n, size, axes, {1, 1});
  const bool ceil = n.flag("ceil_mode", false);
  const Pair out = windows(size, w, ceil);
  if (w.dilation != Pair{1, 1}) return pooled_apart(n, x, axes, w, out, pooling);
  Pair after = w.after;
  for (std::size_t i = 0; i < 2; ++i) {
    const std::int64_t end = (out[i] - 1) * w.stride[i] + w.kernel[i] - w.before[i] - size[i];
    after[i] = std::max<std::int64_t>(end, 0);
  }
  const Size2d stride{w.stride[0], w.stride[1]};
  if (pooling != Pooling::mean) {
    require<DataError>(n.integer("storage_order", 0) == 0, "storage_order is not supported");
    Window fitting = w;
    fitting.after = after;
    if (pooling == Pooling::largest) return max_pool2d(x, w.size(), stride, fitting.padding());
    const auto count = static_cast<double>(w.kernel[0] * w.kernel[1]);
    return avg_pool2d(x, w.size(), stride, fitting.padding()) * count;
  }
  const bool counts = n.flag("count_include_pad", false);
  const bool pads = w.before != Pair{} || w.after != Pair{};
  if (counts && pads) {
    if (out == windows(size, w, false)) return avg_pool2d(x, w.size(), stride, w.padding());
    // Windows that end after the padding: what is beyond it does not count.
    Window fitting = w;
    for (std::size_t i = 0; i < 2; ++i) fitting.after[i] = std::max(w.after[i], after[i]);
    std::array<std::vector<double>, 2> counted;
    for (std::size_t i = 0; i < 2; ++i) counted[i] = counted_pixels(size[i], w, i, out[i], true);
    std::vector<double> shares;
    for (const double rows : counted[0]) {
      for (const double columns : counted[1]) {
        shares.push_back(static_cast<double>(w.kernel[0] * w.kernel[1]) / (rows * columns));
      }
    }
    const Expression means = avg_pool2d(x, w.size(), stride, fitting.padding());
    require<DataError>(means.shape()[0] == out[0] && means.shape()[1] == out[1],
                       "ceil_mode with these pads is not supported");
    return means * made_weight(n, fmt::format("shares_{}", axes.of[1]), {out[0], out[1], 1},
                               std::move(shares));
  }
  if (!pads && after == Pair{}) return avg_pool2d(x, w.size(), stride);
  BinMean2dAttrs bins;
  bins.out_h = out[0];
  bins.out_w = out[1];
  bins.size_h = w.kernel[0];
  bins.size_w = w.kernel[1];
  bins.stride_h = w.stride[0];
  bins.stride_w = w.stride[1];
  bins.pad_top = w.before[0];
  bins.pad_left = w.before[1];
  return emit(BinMean2dOp(bins), {x});
}

/// Pools sequences, images and volumes.
Expression pooled_all(NodeImport& n, const Images& x, const Expression& e, Pooling pooling) {
  require<DataError>(n.has_attribute("kernel_shape"), "the attribute 'kernel_shape' is missing");
  if (!x.volumes()) return pooled(n, e, x.axes, pooling);
  // Along planes and rows, with the columns as channels, then along the columns.
  const Shape s = e.shape();
  const Expression rows = pooled(n, reshape(e, {s[0], s[1], s[2] * s[3]}), {3, {0, 1}}, pooling);
  const Shape r = rows.shape();
  const Expression columns =
      pooled(n, reshape(rows, {r[0] * r[1], s[2], s[3]}), {3, {-1, 2}}, pooling);
  return reshape(columns, {r[0], r[1], columns.shape()[1], s[3]});
}

void pool(NodeImport& n, Pooling pooling) {
  const Images x = images_of(n, 3);
  n.give(x.back(pooled_all(n, x, x.e, pooling)));
}

/// (sum of |x|^p over a window)^(1/p)
void pool_norms(NodeImport& n) {
  const Images x = images_of(n, 3);
  const std::int64_t p = n.integer("p", 2);
  require<DataError>(p >= 1 && p <= 64, "expected p from 1 to 64; got {}", p);
  const Expression size = p == 2   ? square(x.e)
                          : p == 1 ? abs(x.e)
                                   : pow(abs(x.e), static_cast<double>(p));
  const Expression sums = pooled_all(n, x, size, Pooling::sum);
  n.give(x.back(p == 2 ? sqrt(sums) : p == 1 ? sums : pow(sums, 1 / static_cast<double>(p))));
}

void pool_all(NodeImport& n, bool largest) {
  const Images x = images_of(n, 3);
  const Shape s = x.e.shape();
  const Expression all = x.volumes() ? reshape(x.e, {s[0] * s[1], s[2], s[3]}) : x.e;
  const Expression y = largest ? emit(GlobalMaxPoolOp(), {all}) : emit(GlobalAvgPoolOp(), {all});
  n.give(from_rows(x.t, y, {1}, 0));
}

}  // namespace

void add_pools(Operators& all) {
  all["LpPool"] = {pool_norms, "sequences, images and volumes"};
  all["MaxPool"] = {[](NodeImport& n) { pool(n, Pooling::largest); },
                    "sequences, images and volumes; no indices"};
  all["AveragePool"] = {[](NodeImport& n) { pool(n, Pooling::mean); },
                        "sequences, images and volumes"};
  all["GlobalMaxPool"] = {[](NodeImport& n) { pool_all(n, true); },
                          "sequences, images and volumes"};
  all["GlobalAveragePool"] = {[](NodeImport& n) { pool_all(n, false); },
                              "sequences, images and volumes"};
}

}  // namespace linnet::onnx
