// SPDX-License-Identifier: Apache-2.0
// GridSample: pixels of images and volumes at places that the network computes.
#include <linnet/functions.h>

#include <algorithm>
#include <optional>

#include "base/check.h"
#include "onnx/node_import.h"

namespace linnet::onnx {
namespace {

/// How places outside an image are read.
struct Border {
  std::string mode;
  bool corners;  ///< whether -1 and 1 are the centres of the outer pixels, else their edges
};

/// A place along an axis, in pixels, and what share its pixel has; none: all.
struct Tap {
  Expression place;
  std::optional<Expression> share;
};

/// Returns pixels from -1 ... 1 along an axis.
Expression pixels_of(const Expression& x, double size, bool corners) {
  return corners ? (x + 1) * ((size - 1) / 2) : (x + 1) * (size / 2) - 0.5;
}

/// Returns places mirrored at the image's edges until they are inside.
Expression reflected(const Expression& x, double size, bool corners) {
  const double low = corners ? 0 : -0.5;
  const double span = corners ? size - 1 : size;
  if (span <= 0) return x * 0;
  const Expression away = abs(x - low);
  const Expression turns = floor(away * (1 / span));
  const Expression rest = away - turns * span;
  const Expression odd = turns - floor(turns * 0.5) * 2;
  return where(odd > 0, span - rest, rest) + low;
}

/// Returns places outside of the image's edges as the centre of the nearest pixel.
Expression at_border(const Expression& x, double size, bool corners) {
  const double low = corners ? 0 : -0.5;
  const Expression inside = clip(x, low, size - 1 - low);
  return where(equal(inside, x), x, clip(x, 0, size - 1));
}

/// Keys' cubic of the distance to a pixel (Keys, 1981), a = -0.75: below 1, and from 1 to 2.
Expression cubic_near(const Expression& t) { return (t * 1.25 - 2.25) * t * t + 1; }
Expression cubic_far(const Expression& t) { return ((t * -0.75 + 3.75) * t - 6) * t + 3; }

/// Returns the pixels along an axis that a place is made of.
std::vector<Tap> taps_of(const Expression& place, const std::string& mode) {
  if (mode == "nearest") return {{round(place), {}}};
  const Expression low = floor(place);
  const Expression t = place - low;
  if (mode.ends_with("linear")) return {{low, 1 - t}, {low + 1, t}};
  return {{low - 1, cubic_far(t + 1)},
          {low, cubic_near(t)},
          {low + 1, cubic_near(1 - t)},
          {low + 2, cubic_far(2 - t)}};
}

/// Returns a pixel's numbers, (places, channels): 0 outside unless the border repeats. `image`:
/// (pixels, channels), of these sizes.
Expression pixel(const Expression& image, const std::vector<std::int64_t>& sizes,
                 const std::vector<Expression>& places, const Border& border) {
  std::optional<Expression> index;
  std::optional<Expression> inside;
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    const auto size = static_cast<double>(sizes[i]);
    const bool mirrors = border.mode == "reflection";
    const Expression place = mirrors ? reflected(places[i], size, border.corners) : places[i];
    const Expression within = clip(place, 0, size - 1);
    index = index ? *index * size + within : within;
    const Expression is = equal(within, places[i]);
    inside = inside ? *inside * is : is;
  }
  const Expression found = gather(image, to_ids(round(*index)), 0);
  if (border.mode != "zeros") return found;
  return found * reshape(*inside, {inside->shape()[0], 1});
}

/// Returns the sum over all taps of the axes from `places.size()` on, each with its share.
Expression sampled(const Expression& image, const std::vector<std::int64_t>& sizes,
                   const std::vector<std::vector<Tap>>& taps, const Border& border,
                   std::vector<Expression>& places) {
  if (places.size() == sizes.size()) return pixel(image, sizes, places, border);
  std::optional<Expression> sum;
  for (const Tap& tap : taps[places.size()]) {
    places.push_back(tap.place);
    Expression part = sampled(image, sizes, taps, border, places);
    places.pop_back();
    if (tap.share) part = part * reshape(*tap.share, {tap.share->shape()[0], 1});
    sum = sum ? *sum + part : part;
  }
  return *sum;
}

void sample_grid(NodeImport& n) {
  const Trace x = n.floats(0);
  const Trace grid = n.floats(1);
  const std::string mode = n.text("mode", "linear");
  Border border{n.text("padding_mode", "zeros"), n.flag("align_corners", false)};
  const Dims dims = dims_of(x);
  const Dims places = dims_of(grid);
  const std::size_t rank = dims.size();
  require<DataError>((rank == 4 || rank == 5) && places.size() == rank &&
                         places.back() == static_cast<std::int64_t>(rank) - 2,
                     "expected images or volumes and places (N, H, W, 2) or (N, D, H, W, 3); got "
                     "{} and {}",
                     text_of(dims), text_of(places));
  const bool cubic = mode == "cubic" || mode == "bicubic";
  require<DataError>(mode == "linear" || mode == "bilinear" || mode == "nearest" ||
                         (cubic && rank == 4),
                     "mode '{}' is not supported", mode);
  require<DataError>(border.mode == "zeros" || border.mode == "border" ||
                         border.mode == "reflection",
                     "padding_mode '{}' is not supported", border.mode);
  require<DataError>(is_batch(x, 0) && is_batch(grid, 0), "expected the batch as the first axis");
  const std::vector<std::int64_t> sizes(dims.begin() + 2, dims.end());
  require<DataError>(elements_of(sizes) < (std::int64_t{1} << 24),
                     "images of more than 2^24 pixels are not supported");
  std::vector<int> order;  // pixels, then channels
  std::vector<int> rows;
  for (std::size_t i = 2; i < rank; ++i) order.push_back(static_cast<int>(i));
  order.push_back(1);
  for (std::size_t i = 1; i < rank; ++i) rows.push_back(static_cast<int>(i));
  const Expression image = reshape(arranged(x, order), {elements_of(sizes), dims[1]});
  Dims shape(places.begin() + 1, places.end() - 1);
  const std::int64_t count = elements_of(shape);
  const auto axes = static_cast<std::int64_t>(sizes.size());
  const Expression flat = reshape(arranged(grid, rows), {count, axes});
  std::vector<std::vector<Tap>> taps;
  for (std::int64_t i = 0; i < axes; ++i) {  // a place names its column first
    const auto size = static_cast<double>(sizes[static_cast<std::size_t>(i)]);
    const Expression one = reshape(slice(flat, 1, axes - 1 - i, axes - i), {count});
    Expression p = pixels_of(one, size, border.corners);
    if (border.mode == "border") p = at_border(p, size, border.corners);
    if (border.mode == "reflection") p = reflected(p, size, border.corners);
    taps.push_back(taps_of(p, mode));
  }
  std::vector<Expression> at;
  const Expression y = sampled(image, sizes, taps, border, at);
  Trace result{y, {{0}}, x.type, 0};
  shape.push_back(dims[1]);
  result.e = reshape(y, Shape(shape));
  result.axes.push_back({static_cast<int>(shape.size())});
  for (int i = 1; i < static_cast<int>(shape.size()); ++i) result.axes.push_back({i});
  n.give(std::move(result));
}

}  // namespace

void add_grid(Operators& all) {
  all["GridSample"] = {sample_grid,
                       "modes linear and nearest of images and volumes, cubic of images"};
}

}  // namespace linnet::onnx
