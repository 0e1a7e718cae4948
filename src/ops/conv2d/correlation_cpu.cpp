// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/correlation_cpu.h"

#include "core/align.h"

namespace linnet::cpu {
namespace {

/// Row `row` of image `image` from column `left` on, `width` pixels, with zeros outside.
void copy_row(const Correlation& s, const float* images, std::int64_t image, std::int64_t row,
              std::int64_t left, std::int64_t width, float* to) {
  const std::int64_t begin = std::clamp<std::int64_t>(-left, 0, width);
  const std::int64_t end = std::clamp<std::int64_t>(s.columns.in - left, begin, width);
  if (row < 0 || row >= s.rows.in || begin == end) {
    std::fill_n(to, width * s.c, 0.0F);
    return;
  }
  const float* from = images + ((image * s.rows.in + row) * s.columns.in + left + begin) * s.c;
  std::fill_n(to, begin * s.c, 0.0F);
  std::copy_n(from, (end - begin) * s.c, to + begin * s.c);
  std::fill_n(to + end * s.c, (width - end) * s.c, 0.0F);
}

/// The inputs x = first + i stride of an axis get gradients of outputs by every stride-th
/// tap, in reverse: a correlation of its own.
CorrelationAxis phase(std::int64_t first, std::int64_t in, std::int64_t out, std::int64_t kernel,
                      std::int64_t stride, std::int64_t pad) {
  const std::int64_t tap = (first + pad) % stride;  // the smallest that reaches them
  const std::int64_t taps = kernel > tap ? (kernel - tap + stride - 1) / stride : 0;
  CorrelationAxis axis{.in = out,
                       .out = (in - first + stride - 1) / stride,
                       .kernel = taps,
                       .stride = 1,
                       .pad = taps - 1 - (first + pad - tap) / stride,
                       .first_tap = tap + stride * (taps - 1),
                       .tap_step = -stride,
                       .place = in,
                       .place_first = first,
                       .place_step = stride};
  return axis.cropped();
}

}  // namespace

CorrelationAxis CorrelationAxis::cropped() const {
  const std::int64_t last_begin = (out - 1) * stride - pad;
  const std::int64_t begin = std::clamp<std::int64_t>(-last_begin, 0, kernel);
  const std::int64_t end = std::clamp<std::int64_t>(in + pad, begin, kernel);
  CorrelationAxis axis = *this;
  axis.first_tap = tap(begin);
  axis.kernel = end - begin;
  axis.pad -= begin;
  return axis;
}

std::vector<EqualOutputs> CorrelationAxis::equal_outputs() const {
  std::vector<EqualOutputs> all;
  for (std::int64_t i = 0; i < out; ++i) {
    const std::int64_t first = i * stride - pad;
    const std::int64_t begin = std::clamp<std::int64_t>(-first, 0, kernel);
    const std::int64_t end = std::clamp<std::int64_t>(in - first, begin, kernel);
    if (all.empty() || all.back().taps.begin != begin || all.back().taps.end != end) {
      all.push_back({{i, i}, {begin, end}});
    }
    all.back().outputs.end = i + 1;
  }
  return all;
}

Correlation padded(const Correlation& correlation) {
  Correlation all = correlation;
  for (CorrelationAxis* axis : {&all.rows, &all.columns}) {
    axis->in = (axis->out - 1) * axis->stride + axis->kernel;
    axis->pad = 0;
  }
  return all;
}

void copy_padded(const Correlation& s, const float* images, Range range, float* to) {
  const Correlation all = padded(s);
  const std::int64_t line = all.columns.in * s.c;
  for (std::int64_t n = range.begin; n < range.end; ++n) {
    for (std::int64_t y = 0; y < all.rows.in; ++y) {
      copy_row(s, images, n, y - s.rows.pad, -s.columns.pad, all.columns.in,
               to + (n * all.rows.in + y) * line);
    }
  }
}

Correlation forward_correlation(const ConvShape& s) {
  const Conv2dAttrs& a = s.attrs;
  Correlation all;
  all.n = s.n;
  all.c = s.c;
  all.rows = {.in = s.h,
              .out = s.oh,
              .kernel = s.kh,
              .stride = a.stride_h,
              .pad = a.pad_top,
              .place = s.oh};
  all.columns = {.in = s.w,
                 .out = s.ow,
                 .kernel = s.kw,
                 .stride = a.stride_w,
                 .pad = a.pad_left,
                 .place = s.ow};
  all.rows = all.rows.cropped();
  all.columns = all.columns.cropped();
  return all;
}

InputGradient::InputGradient(const ConvShape& s) {
  const Conv2dAttrs& a = s.attrs;
  for (std::int64_t y = 0; y < std::min(a.stride_h, s.h); ++y) {
    for (std::int64_t x = 0; x < std::min(a.stride_w, s.w); ++x) {
      Correlation all;
      all.n = s.n;
      all.c = s.co;
      all.rows = phase(y, s.h, s.oh, s.kh, a.stride_h, a.pad_top);
      all.columns = phase(x, s.w, s.ow, s.kw, a.stride_w, a.pad_left);
      if (all.taps() > 0) {
        phases.push_back(all);
      } else {
        whole = false;
      }
    }
  }
}

PatchBlocks::PatchBlocks(const Correlation& correlation)
    : correlation_(correlation),
      copied_(correlation.rows.leaves_input() || correlation.columns.leaves_input()),
      block_lines_(std::clamp<std::int64_t>((kProductRows + correlation.columns.out - 1) /
                                                correlation.columns.out,
                                            1, std::max<std::int64_t>(correlation.lines(), 1))) {}

std::int64_t PatchBlocks::frame_width() const {
  const CorrelationAxis& a = correlation_.columns;
  return (a.out - 1) * a.stride + a.kernel;
}

std::int64_t PatchBlocks::frame_rows(std::int64_t lines) const {
  return (lines - 1) * correlation_.rows.stride + correlation_.rows.kernel;
}

std::size_t PatchBlocks::scratch_bytes() const {
  const std::size_t addresses =
      2 * align_up(sizeof(float*) * static_cast<std::size_t>(block_pixels()));
  if (!copied_) return addresses;
  // Every image of a block begins a frame of its own.
  const std::int64_t images = (block_lines_ - 1) / correlation_.rows.out + 2;
  const std::int64_t rows = frame_rows(block_lines_) + images * correlation_.rows.kernel;
  return addresses +
         sizeof(float) * static_cast<std::size_t>(rows * frame_width() * correlation_.c);
}

SegmentedRows PatchBlocks::patches(const float* images, std::int64_t begin, std::int64_t end,
                                   std::byte* scratch) const {
  const Correlation& s = correlation_;
  const std::size_t addresses = align_up(sizeof(float*) * static_cast<std::size_t>(block_pixels()));
  auto** row = reinterpret_cast<const float**>(scratch);
  auto* frame = reinterpret_cast<float*>(scratch + 2 * addresses);
  const std::int64_t width = copied_ ? frame_width() : s.columns.in;
  const SegmentedRows result{.rows = row,
                             .segments = s.rows.kernel,
                             .length = s.segment(),
                             .stride = width * s.c};
  for (std::int64_t line = begin; line < end;) {
    const std::int64_t image = line / s.rows.out;
    const std::int64_t i0 = line % s.rows.out;
    const std::int64_t lines = std::min(end - line, s.rows.out - i0);
    const std::int64_t top = i0 * s.rows.stride - s.rows.pad;
    const float* corner = frame;
    if (copied_) {
      for (std::int64_t r = 0; r < frame_rows(lines); ++r, frame += width * s.c) {
        copy_row(s, images, image, top + r, -s.columns.pad, width, frame);
      }
    } else {
      corner = images + ((image * s.rows.in + top) * s.columns.in - s.columns.pad) * s.c;
    }
    for (std::int64_t i = 0; i < lines; ++i) {
      for (std::int64_t j = 0; j < s.columns.out; ++j) {
        *row++ = corner + (i * s.rows.stride * width + j * s.columns.stride) * s.c;
      }
    }
    line += lines;
  }
  return result;
}

float** PatchBlocks::places(float* images, std::int64_t channels, std::int64_t begin,
                            std::int64_t end, std::byte* scratch) const {
  const CorrelationAxis& rows = correlation_.rows;
  const CorrelationAxis& columns = correlation_.columns;
  auto** place = reinterpret_cast<float**>(
      scratch + align_up(sizeof(float*) * static_cast<std::size_t>(block_pixels())));
  float** next = place;
  for (std::int64_t line = begin; line < end; ++line) {
    const std::int64_t i = rows.place_first + line % rows.out * rows.place_step;
    float* row = images + (line / rows.out * rows.place + i) * columns.place * channels;
    for (std::int64_t j = 0; j < columns.out; ++j) {
      *next++ = row + (columns.place_first + j * columns.place_step) * channels;
    }
  }
  return place;
}

}  // namespace linnet::cpu
