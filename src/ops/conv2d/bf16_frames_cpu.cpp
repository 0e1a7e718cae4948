// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/bf16_frames_cpu.h"

#include "core/align.h"

namespace linnet::cpu {
namespace {

/// Lines of a block whose frame has lines of their neighbours too.
constexpr std::int64_t kBlockLines = 4;

/// Patches of one pixel, pair by pair.
bool is_of_pixels(const Correlation& s) {
  return s.rows.kernel == 1 && s.columns.kernel == 1 && s.c % 2 == 0 && !s.rows.leaves_input() &&
         !s.columns.leaves_input() && s.rows.pad == 0 && s.columns.pad == 0;
}

}  // namespace

Bf16Frames::Bf16Frames(const Correlation& correlation, Stored images, std::int64_t pixels,
                       std::int64_t bytes)
    : correlation_(correlation),
      stored_(images),
      in_place_(images.bf16() && is_of_pixels(correlation)) {
  const CorrelationAxis& a = correlation.rows;
  const std::int64_t wanted =
      std::max((pixels + correlation.columns.out - 1) / correlation.columns.out,
               a.kernel > a.stride ? kBlockLines : 1);
  const std::int64_t line =
      sizeof(std::uint16_t) * std::min(a.stride, a.kernel) * width() * correlation.c;
  const std::int64_t fit = std::max<std::int64_t>(bytes / std::max<std::int64_t>(line, 1), 1);
  block_lines_ = std::clamp<std::int64_t>(std::min(wanted, fit), 1,
                                          std::max<std::int64_t>(correlation.lines(), 1));
}

std::int64_t Bf16Frames::width() const {
  const CorrelationAxis& a = correlation_.columns;
  return (a.out - 1) * a.stride + a.kernel;
}

std::int64_t Bf16Frames::pitch() const {
  return width() * correlation_.c + correlation_.segment() % 2;
}

std::int64_t Bf16Frames::rows(std::int64_t lines) const {
  return (lines - 1) * correlation_.rows.stride + correlation_.rows.kernel;
}

std::size_t Bf16Frames::addresses_bytes() const {
  return align_up(sizeof(std::uint16_t*) *
                  static_cast<std::size_t>(block_lines_ * correlation_.columns.out));
}

std::size_t Bf16Frames::scratch_bytes() const {
  if (in_place_) return addresses_bytes();
  // Every image of a block begins a frame of its own.
  const std::int64_t images = (block_lines_ - 1) / correlation_.rows.out + 2;
  const std::int64_t of_frames = rows(block_lines_) + images * correlation_.rows.kernel;
  return addresses_bytes() +
         align_up(sizeof(std::uint16_t) * static_cast<std::size_t>(of_frames * pitch()));
}

void Bf16Frames::round_row(const void* images, std::int64_t image, std::int64_t row,
                           std::uint16_t* to) const {
  const Correlation& s = correlation_;
  const std::int64_t left = -s.columns.pad;
  const std::int64_t begin = std::clamp<std::int64_t>(-left, 0, width());
  const std::int64_t end = std::clamp<std::int64_t>(s.columns.in - left, begin, width());
  if (row < 0 || row >= s.rows.in || begin == end) {
    std::fill_n(to, pitch(), std::uint16_t{0});
    return;
  }
  const std::int64_t from = ((image * s.rows.in + row) * s.columns.in + left + begin) * s.c;
  const std::int64_t count = (end - begin) * s.c;
  std::fill_n(to, begin * s.c, std::uint16_t{0});
  if (stored_.bf16()) {
    std::copy_n(static_cast<const std::uint16_t*>(images) + from, count, to + begin * s.c);
  } else {
    round_rows_to_bf16(static_cast<const float*>(images) + from, 0, 1, count, to + begin * s.c, 0);
  }
  std::fill(to + end * s.c, to + pitch(), std::uint16_t{0});
}

Bf16Rows Bf16Frames::patches(const void* images, std::int64_t begin, std::int64_t end,
                             std::byte* scratch) const {
  const Correlation& s = correlation_;
  auto** row = reinterpret_cast<const std::uint16_t**>(scratch);
  auto* frame = reinterpret_cast<std::uint16_t*>(scratch + addresses_bytes());
  const Bf16Rows result{.rows = row,
                        .segments = s.rows.kernel,
                        .length = s.segment(),
                        .stride = pitch()};
  if (in_place_) {
    for (std::int64_t line = begin; line < end; ++line) {
      const std::int64_t at = line / s.rows.out * s.rows.in + line % s.rows.out * s.rows.stride;
      const auto* pixel = static_cast<const std::uint16_t*>(images) + at * s.columns.in * s.c;
      for (std::int64_t j = 0; j < s.columns.out; ++j, pixel += s.columns.stride * s.c) {
        *row++ = pixel;
      }
    }
    return result;
  }
  for (std::int64_t line = begin; line < end;) {
    const std::int64_t image = line / s.rows.out;
    const std::int64_t i0 = line % s.rows.out;
    const std::int64_t lines = std::min(end - line, s.rows.out - i0);
    const std::int64_t top = i0 * s.rows.stride - s.rows.pad;
    for (std::int64_t r = 0; r < rows(lines); ++r) {
      if (r % s.rows.stride >= s.rows.kernel) continue;  // between the windows
      round_row(images, image, top + r, frame + r * pitch());
    }
    for (std::int64_t i = 0; i < lines; ++i) {
      for (std::int64_t j = 0; j < s.columns.out; ++j) {
        *row++ = frame + i * s.rows.stride * pitch() + j * s.columns.stride * s.c;
      }
    }
    frame += rows(lines) * pitch();
    line += lines;
  }
  return result;
}

}  // namespace linnet::cpu
