// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/patches_cpu.h"

#include <algorithm>
#include <utility>

namespace linnet::cpu {
namespace {

/// The smallest and one past the largest k in [0, count) with 0 <= start + k * step <
/// limit.
std::pair<std::int64_t, std::int64_t> inside(std::int64_t start, std::int64_t step,
                                             std::int64_t count, std::int64_t limit) {
  const std::int64_t first = start < 0 ? (-start + step - 1) / step : 0;
  const std::int64_t last = start < limit ? (limit - start + step - 1) / step : 0;
  const std::int64_t begin = std::min(first, count);
  return {begin, std::max(begin, std::min(last, count))};
}

/// Calls run(patch offset, image offset, floats) for every piece of contiguous memory that patches
/// and image share, and outside(patch offset, floats) for what lies in the padding.
template <class Run, class Outside>
void for_each_run(const ConvShape& s, std::int64_t group, std::int64_t begin, std::int64_t end,
                  Run run, Outside outside) {
  const Conv2dAttrs& a = s.attrs;
  const std::int64_t cg = s.group_in();
  const std::int64_t row_floats = s.kw * cg;
  // Taps of one kernel row follow each other in memory unless dilation or groups part them.
  const bool joined = a.dilation_w == 1 && cg == s.c;
  std::int64_t patch = 0;
  for (std::int64_t line = begin; line < end; ++line) {
    const std::int64_t n = line / s.oh;
    const std::int64_t top = line % s.oh * a.stride_h - a.pad_top;
    for (std::int64_t j = 0; j < s.ow; ++j) {
      const std::int64_t left = j * a.stride_w - a.pad_left;
      const auto [l0, l1] = inside(left, a.dilation_w, s.kw, s.w);
      for (std::int64_t k = 0; k < s.kh; ++k, patch += row_floats) {
        const std::int64_t row = top + k * a.dilation_h;
        if (row < 0 || row >= s.h || l0 == l1) {
          outside(patch, row_floats);
          continue;
        }
        if (l0 > 0) outside(patch, l0 * cg);
        if (l1 < s.kw) outside(patch + l1 * cg, (s.kw - l1) * cg);
        const std::int64_t image = ((n * s.h + row) * s.w + left) * s.c + group * cg;
        if (joined) {
          run(patch + l0 * cg, image + l0 * cg, (l1 - l0) * cg);
        } else {
          for (std::int64_t l = l0; l < l1; ++l) {
            run(patch + l * cg, image + l * a.dilation_w * s.c, cg);
          }
        }
      }
    }
  }
}

}  // namespace

void gather_patches(const ConvShape& shape, std::int64_t group, std::int64_t begin,
                    std::int64_t end, const float* x, float* patches) {
  for_each_run(
      shape, group, begin, end,
      [=](std::int64_t to, std::int64_t from, std::int64_t floats) {
        std::copy_n(x + from, floats, patches + to);
      },
      [=](std::int64_t to, std::int64_t floats) { std::fill_n(patches + to, floats, 0.0F); });
}

void scatter_patches(const ConvShape& shape, std::int64_t group, std::int64_t begin,
                     std::int64_t end, const float* patches, float* dx) {
  for_each_run(
      shape, group, begin, end,
      [=](std::int64_t from, std::int64_t to, std::int64_t floats) {
        for (std::int64_t i = 0; i < floats; ++i) dx[to + i] += patches[from + i];
      },
      [](std::int64_t, std::int64_t) {});
}

}  // namespace linnet::cpu
