// SPDX-License-Identifier: Apache-2.0
#include "fusions/int8/pool_int8.h"

#include <algorithm>
#include <array>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {
namespace {

constexpr std::int64_t kChannels = 64;  // of a block, in registers

/// The largest of `count` channels of the windows' pixels; kCount: the number, if it is known.
template <std::int64_t kCount>
void pool_pixel(const PoolShape& s, const std::uint8_t* image, Range rows, Range columns,
                std::int64_t count, std::uint8_t* y) {
  const std::int64_t channels = kCount > 0 ? kCount : count;
  std::array<std::uint8_t, kChannels> best{};
  for (std::int64_t k = rows.begin; k < rows.end; ++k) {
    for (std::int64_t l = columns.begin; l < columns.end; ++l) {
      const std::uint8_t* x = image + (k * s.w + l) * s.c;
      for (std::int64_t c = 0; c < channels; ++c) {
        const std::uint8_t of = best[static_cast<std::size_t>(c)];
        best[static_cast<std::size_t>(c)] = x[c] > of ? x[c] : of;
      }
    }
  }
  std::copy_n(best.data(), channels, y);
}

Range window(std::int64_t output, std::int64_t stride, std::int64_t pad, std::int64_t size,
             std::int64_t in) {
  const std::int64_t first = output * stride - pad;
  return {std::max<std::int64_t>(first, 0), std::min(first + size, in)};
}

void pool_line(const PoolShape& s, const std::uint8_t* image, std::int64_t i, std::uint8_t* y) {
  const Range rows = window(i, s.attrs.stride_h, s.attrs.pad_top, s.attrs.size_h, s.h);
  for (std::int64_t j = 0; j < s.ow; ++j, y += s.c) {
    const Range columns = window(j, s.attrs.stride_w, s.attrs.pad_left, s.attrs.size_w, s.w);
    std::int64_t c = 0;
    for (; c + kChannels <= s.c; c += kChannels) {
      pool_pixel<kChannels>(s, image + c, rows, columns, kChannels, y + c);
    }
    if (c < s.c) pool_pixel<0>(s, image + c, rows, columns, s.c - c, y + c);
  }
}

std::optional<Kernel> prepare_max(const NodeView& node) {
  const PoolShape s = pool_shape(node.attrs<MaxPoolInt8Op>(), node.in(kFirst));
  const double cost = 0.05 * static_cast<double>(s.ow * s.c * s.attrs.size_h * s.attrs.size_w);
  return one_stage(s.n * s.oh, cost, [=](const Args& args, Range lines) {
    for (std::int64_t l = lines.begin; l < lines.end; ++l) {
      pool_line(s, args.in<std::uint8_t>(MaxPoolInt8Op::In::x) + l / s.oh * s.in_pixels() * s.c,
                l % s.oh, args.out<std::uint8_t>(MaxPoolInt8Op::Out::y) + l * s.ow * s.c);
    }
  });
}

std::optional<Kernel> prepare_mean(const NodeView& node) {
  const LevelsAttrs& attrs = node.attrs<GlobalAvgPoolInt8Op>();
  const Shape& x = node.in(kFirst);
  const std::int64_t pixels = x[1] * x[2];
  const std::int64_t channels = x[3];
  if (pixels > std::int64_t{1} << 22) return std::nullopt;  // sums would overflow
  const auto scale = static_cast<float>(attrs.scale / static_cast<double>(pixels));
  const auto zeros = static_cast<std::int32_t>(attrs.zero * pixels);
  const double cost = 0.1 * static_cast<double>(pixels * channels);
  return one_stage(x[0], cost, [=](const Args& args, Range images) {
    constexpr std::int64_t kBlock = 256;
    for (std::int64_t n = images.begin; n < images.end; ++n) {
      for (std::int64_t c0 = 0; c0 < channels; c0 += kBlock) {
        const std::int64_t count = std::min(channels - c0, kBlock);
        std::array<std::int32_t, kBlock> sums{};
        const std::uint8_t* from =
            args.in<std::uint8_t>(GlobalAvgPoolInt8Op::In::x) + n * pixels * channels + c0;
        for (std::int64_t p = 0; p < pixels; ++p, from += channels) {
          for (std::int64_t c = 0; c < count; ++c) sums[static_cast<std::size_t>(c)] += from[c];
        }
        float* y = args.out(GlobalAvgPoolInt8Op::Out::y) + n * channels + c0;
        for (std::int64_t c = 0; c < count; ++c) {
          y[c] = static_cast<float>(sums[static_cast<std::size_t>(c)] - zeros) * scale;
        }
      }
    }
  });
}

}  // namespace

void register_pool_int8(Registry& registry) {
  registry.add(MaxPoolInt8Op::kName, prepare_max);
  registry.add(GlobalAvgPoolInt8Op::kName, prepare_mean);
}

}  // namespace linnet::cpu
