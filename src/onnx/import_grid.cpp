// SPDX-License-Identifier: Apache-2.0
// GridSample: pixels of images at places that the network computes.
#include <linnet/functions.h>

#include "base/check.h"
#include "onnx/node_import.h"

namespace linnet::onnx {
namespace {

/// How places outside an image are read.
struct Border {
  std::string mode;
  bool corners;  ///< whether -1 and 1 are the centres of the outer pixels, else their edges
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

/// Returns a pixel's numbers, (places, channels): 0 outside unless the border repeats.
Expression pixel(const Expression& image, const Expression& y, const Expression& x,
                 const Border& border) {
  const double height = static_cast<double>(image.shape()[0]);
  const double width = static_cast<double>(image.shape()[1]);
  const std::int64_t channels = image.shape()[2];
  Expression row = y;
  Expression column = x;
  if (border.mode == "reflection") {
    row = reflected(row, height, border.corners);
    column = reflected(column, width, border.corners);
  }
  row = clip(row, 0, height - 1);
  column = clip(column, 0, width - 1);
  const Expression flat = reshape(image, {image.shape()[0] * image.shape()[1], channels});
  const Expression found = gather(flat, to_ids(round(row * width + column)), 0);
  if (border.mode != "zeros") return found;
  const Expression inside = equal(row, y) * equal(column, x);
  return found * reshape(inside, {inside.shape()[0], 1});
}

void sample_grid(NodeImport& n) {
  const Trace x = n.floats(0);
  const Trace grid = n.floats(1);
  const std::string mode = n.text("mode", "linear");
  Border border{n.text("padding_mode", "zeros"), n.flag("align_corners", false)};
  const Dims dims = dims_of(x);
  const Dims places = dims_of(grid);
  require<DataError>(dims.size() == 4 && places.size() == 4 && places[3] == 2,
                     "expected images and places (N, H, W, 2); got {} and {}", text_of(dims),
                     text_of(places));
  require<DataError>(mode == "linear" || mode == "bilinear" || mode == "nearest",
                     "mode '{}' is not supported", mode);
  require<DataError>(border.mode == "zeros" || border.mode == "border" ||
                         border.mode == "reflection",
                     "padding_mode '{}' is not supported", border.mode);
  require<DataError>(is_batch(x, 0) && is_batch(grid, 0), "expected the batch as the first axis");
  require<DataError>(dims[2] * dims[3] < (std::int64_t{1} << 24),
                     "images of more than 2^24 pixels are not supported");
  const Expression image = arranged(x, {2, 3, 1});
  const std::int64_t count = places[1] * places[2];
  const Expression flat = reshape(arranged(grid, {1, 2, 3}), {count, 2});
  const auto along = [&](std::int64_t i, std::int64_t size) {
    const double whole = static_cast<double>(size);
    Expression p = pixels_of(reshape(slice(flat, 1, i, i + 1), {count}), whole, border.corners);
    if (border.mode == "border") p = clip(p, 0, whole - 1);
    if (border.mode == "reflection") p = reflected(p, whole, border.corners);
    return p;
  };
  const Expression column = along(0, dims[3]);
  const Expression row = along(1, dims[2]);
  Expression y = image;
  if (mode == "nearest") {
    y = pixel(image, round(row), round(column), border);
  } else {
    const Expression top = floor(row);
    const Expression left = floor(column);
    const auto share = [&](const Expression& w) { return reshape(w, {count, 1}); };
    const Expression down = row - top;
    const Expression right = column - left;
    y = pixel(image, top, left, border) * share((1 - down) * (1 - right)) +
        pixel(image, top, left + 1, border) * share((1 - down) * right) +
        pixel(image, top + 1, left, border) * share(down * (1 - right)) +
        pixel(image, top + 1, left + 1, border) * share(down * right);
  }
  Trace result{reshape(y, {places[1], places[2], dims[1]}), {{0}, {3}, {1}, {2}}, x.type, 0};
  n.give(std::move(result));
}

}  // namespace

void add_grid(Operators& all) {
  all["GridSample"] = {sample_grid, "images; modes linear and nearest"};
}

}  // namespace linnet::onnx
