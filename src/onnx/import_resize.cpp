// SPDX-License-Identifier: Apache-2.0
#include <linnet/functions.h>

#include <algorithm>
#include <array>
#include <cmath>

#include "base/check.h"
#include "core/dims.h"
#include "onnx/images.h"

namespace linnet::onnx {
namespace {

/// How Resize finds pixels between those of an image.
struct Sampling {
  std::string mode = "nearest";
  std::string centres = "asymmetric";
  std::string nearest = "floor";
  double cubic = -0.75;
  bool inside = false;     ///< whether pixels outside the image count for nothing
  bool antialias = false;  ///< whether filters are as wide as a pixel of the result
};

/// Returns where pixel i of the result lies in an image of `size` pixels.
double place_in(const Sampling& s, std::int64_t i, std::int64_t size, std::int64_t out,
                double scale) {
  const double at = static_cast<double>(i);
  const double wide = scale * static_cast<double>(size);
  if (s.centres == "asymmetric") return at / scale;
  if (s.centres == "align_corners") {
    return out == 1 || wide == 1 ? 0 : at * static_cast<double>(size - 1) / (wide - 1);
  }
  if (s.centres == "pytorch_half_pixel" && out == 1) return -0.5;
  double place = (at + 0.5) / scale - 0.5;
  if (s.centres == "half_pixel_symmetric") {
    place += static_cast<double>(size) / 2 * (1 - static_cast<double>(out) / wide);
  }
  return place;
}

/// Returns the weight of a pixel at a distance, in pixels of the filter.
double filter_at(const Sampling& s, double distance) {
  const double d = std::abs(distance);
  if (s.mode == "linear") return std::max(1 - d, 0.0);
  const double a = s.cubic;
  if (d <= 1) return ((a + 2) * d - (a + 3)) * d * d + 1;
  return d < 2 ? ((a * d - 5 * a) * d + 8 * a) * d - 4 * a : 0;
}

/// Returns what each pixel of the result takes of those of the image: (out, size).
std::vector<double> sampled(const Sampling& s, std::int64_t size, std::int64_t out, double scale) {
  std::vector<double> w(static_cast<std::size_t>(size * out), 0);
  const double narrow = s.antialias ? std::min(scale, 1.0) : 1;
  const auto reach = static_cast<std::int64_t>(std::ceil((s.mode == "linear" ? 1 : 2) / narrow));
  for (std::int64_t i = 0; i < out; ++i) {
    double* row = w.data() + i * size;
    const double x = place_in(s, i, size, out, scale);
    const auto pixel = [&](double at) {
      return static_cast<std::int64_t>(std::clamp(at, 0.0, static_cast<double>(size - 1)));
    };
    if (s.mode == "nearest") {
      const double at = s.nearest == "floor"               ? std::floor(x)
                        : s.nearest == "ceil"              ? std::ceil(x)
                        : s.nearest == "round_prefer_ceil" ? std::floor(x + 0.5)
                                                           : std::ceil(x - 0.5);
      row[pixel(at)] = 1;
      continue;
    }
    const auto first = static_cast<std::int64_t>(std::floor(x)) - reach;
    double all = 0;
    for (std::int64_t k = first; k <= first + 2 * reach + 1; ++k) {
      if (s.inside && (k < 0 || k >= size)) continue;
      all += filter_at(s, (static_cast<double>(k) - x) * narrow);
    }
    for (std::int64_t k = first; k <= first + 2 * reach + 1; ++k) {
      if (s.inside && (k < 0 || k >= size)) continue;
      row[pixel(static_cast<double>(k))] +=
          filter_at(s, (static_cast<double>(k) - x) * narrow) / all;
    }
  }
  return w;
}

/// Sizes, or scales, along planes, rows and columns; those that a value lacks are 1.
template <class T>
using Three = std::array<T, 3>;

/// Returns the elements of what lies within one place along an axis.
std::int64_t inner_of(const Shape& shape, int axis) {
  std::int64_t inner = 1;
  for (int i = axis + 1; i < static_cast<int>(shape.rank()); ++i) inner *= shape[i];
  return inner;
}

/// Returns volumes (D, H, W, C) resampled by products with matrices along their axes.
Expression resampled(NodeImport& n, const Sampling& s, const Expression& x,
                     const Three<std::int64_t>& out, const Three<double>& scales) {
  constexpr Three<const char*> kRoles{"planes", "rows", "columns"};
  Expression y = x;
  for (int i = 0; i < 3; ++i) {
    const auto axis = static_cast<std::size_t>(i);
    const Shape now = y.shape();
    const std::int64_t size = now[i];
    if (size == out[axis]) continue;
    require<DataError>(out[axis] <= (std::int64_t{1} << 22) / size,
                       "mode '{}' from {} to {} pixels needs more than 2^22 weights", s.mode, size,
                       out[axis]);
    const Expression matrix =
        made_weight(n, kRoles[axis], {out[axis], size}, sampled(s, size, out[axis], scales[axis]));
    const std::int64_t before = now.elements() / (size * inner_of(now, i));
    y = matmul(matrix, reshape(y, {before, size, inner_of(now, i)}));
    std::vector<std::int64_t> dims = dims_of(now);
    dims[axis] = out[axis];
    y = reshape(y, Shape(dims));
  }
  return y;
}

/// Reads the scales of planes, height and width, and the size of the result.
Three<std::int64_t> read_scales(NodeImport& n, const Images& x, Three<double>& scales) {
  const std::size_t axes = x.axes.count;
  const std::size_t rank = axes + 2;
  std::vector<std::int64_t> places = n.integers("axes");
  if (places.empty()) {
    for (std::size_t i = 0; i < rank; ++i) places.push_back(static_cast<std::int64_t>(i));
  }
  std::vector<std::size_t> of;  // the axis of each number that is given
  for (const std::int64_t place : places) {
    of.push_back(static_cast<std::size_t>(n.axis(place, rank)));
  }
  const Three<std::int64_t> size{x.volumes() ? x.e.shape()[0] : 1, x.size[0], x.size[1]};
  Three<std::int64_t> out = size;
  const bool by_size = n.op() == "Resize" && n.has(3);
  if (!by_size) {
    n.ignore("keep_aspect_ratio_policy");  // it is about sizes
    const std::size_t input = n.op() == "Resize" && n.opset() >= 11 ? 2 : 1;
    const std::vector<double> given =
        n.op() == "Upsample" && n.opset() < 9 ? n.numbers("scales") : n.constant(input)->values();
    require<DataError>(given.size() == of.size(), "expected {} scales; got {}", of.size(),
                       given.size());
    for (std::size_t i = 0; i < of.size(); ++i) {
      if (of[i] < 2) {
        require<DataError>(given[i] == 1, "expected scales of the image alone");
        continue;
      }
      const std::size_t to = of[i] + 1 - axes;
      const double exact = static_cast<double>(size[to]) * given[i];
      require<DataError>(exact >= 1 && exact < (1 << 24),
                         "expected a scale that gives at least a pixel; got {} for {}", given[i],
                         size[to]);
      const bool whole = std::abs(exact - std::round(exact)) < 1e-3;
      out[to] = static_cast<std::int64_t>(whole ? std::round(exact) : std::floor(exact));
      scales[to] = whole ? static_cast<double>(out[to]) / static_cast<double>(size[to]) : given[i];
    }
    return out;
  }
  const std::vector<std::int64_t> sizes = n.constant(3)->integers();
  require<DataError>(sizes.size() == of.size(), "expected {} sizes; got {}", of.size(),
                     text_of(sizes));
  const std::string policy = n.text("keep_aspect_ratio_policy", "stretch");
  require<DataError>(policy == "stretch" || policy == "not_larger" || policy == "not_smaller",
                     "keep_aspect_ratio_policy '{}' is not supported", policy);
  double shared = 0;
  for (std::size_t i = 0; i < of.size(); ++i) {
    if (of[i] < 2) {
      require<DataError>(of[i] == 0 || sizes[i] == x.channels, "sizes {} do not fit",
                         text_of(sizes));
      continue;
    }
    require<DataError>(sizes[i] > 0 && sizes[i] < (1 << 24), "sizes {} do not fit", text_of(sizes));
    const std::size_t to = of[i] + 1 - axes;
    out[to] = sizes[i];
    scales[to] = static_cast<double>(sizes[i]) / static_cast<double>(size[to]);
    shared = shared == 0              ? scales[to]
             : policy == "not_larger" ? std::min(shared, scales[to])
                                      : std::max(shared, scales[to]);
  }
  for (std::size_t i = 0; policy != "stretch" && i < of.size(); ++i) {
    if (of[i] < 2) continue;
    const std::size_t to = of[i] + 1 - axes;
    scales[to] = shared;
    out[to] = static_cast<std::int64_t>(std::floor(static_cast<double>(size[to]) * shared + 0.5));
    require<DataError>(out[to] > 0 && out[to] < (1 << 24), "sizes {} do not fit", text_of(sizes));
  }
  return out;
}

void resize(NodeImport& n) {
  const Images x = images_of(n, 3);
  Sampling s;
  s.mode = n.text("mode", "nearest");
  if (n.op() == "Resize" && n.opset() >= 11) {
    s.centres = n.text("coordinate_transformation_mode", "half_pixel");
    s.nearest = n.text("nearest_mode", "round_prefer_floor");
    s.cubic = n.number("cubic_coeff_a", -0.75);
    s.inside = n.flag("exclude_outside", false);
    s.antialias = n.flag("antialias", false);
    n.ignore("extrapolation_value");
  }
  Three<double> scales{1, 1, 1};
  const Three<std::int64_t> out = read_scales(n, x, scales);
  bool whole = !x.volumes();  // multiples of the image, without a rest
  bool exact = !x.volumes();
  for (std::size_t i = 0; i < 2; ++i) {
    whole = whole && out[i + 1] % x.size[i] == 0;
    exact =
        exact && scales[i + 1] * static_cast<double>(x.size[i]) == static_cast<double>(out[i + 1]);
  }
  const bool half = s.centres == "half_pixel" || s.centres == "pytorch_half_pixel";
  require<DataError>(half || s.centres == "asymmetric" || s.centres == "align_corners" ||
                         s.centres == "half_pixel_symmetric",
                     "coordinate_transformation_mode '{}' is not supported", s.centres);
  require<DataError>(s.mode == "nearest" || s.mode == "linear" || s.mode == "cubic",
                     "mode '{}' is not supported", s.mode);
  require<DataError>(s.nearest == "floor" || s.nearest == "ceil" ||
                         s.nearest == "round_prefer_floor" || s.nearest == "round_prefer_ceil",
                     "nearest_mode '{}' is not supported", s.nearest);
  bool direct = exact && s.mode != "cubic";
  if (s.mode == "nearest") {
    direct = direct && ((s.centres == "asymmetric" && s.nearest == "floor") ||
                        (whole && half && s.nearest.starts_with("round")));
  } else {
    const bool has_more = (out[1] > 1 || x.size[0] == 1) && (out[2] > 1 || x.size[1] == 1);
    direct = direct && half && (s.centres == "half_pixel" || has_more) && !s.inside && !s.antialias;
  }
  if (direct) {
    n.give(x.back(resize2d(x.e, {out[1], out[2]}, s.mode == "linear")));
    return;
  }
  const Expression volumes =
      x.volumes() ? x.e : reshape(x.e, {1, x.size[0], x.size[1], x.channels});
  const Expression y = resampled(n, s, volumes, out, scales);
  n.give(x.back(x.volumes() ? y : reshape(y, {out[1], out[2], x.channels})));
}

}  // namespace

void add_resize(Operators& all) {
  all["Resize"] = {resize, "sequences, images and volumes; no tf_crop_and_resize"};
  all["Upsample"] = {resize, "sequences, images and volumes"};
}

}  // namespace linnet::onnx
