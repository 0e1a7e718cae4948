// SPDX-License-Identifier: Apache-2.0
#include "ops/pool2d/pool2d.h"

#include <limits>

#include "backend/cpu/element_wise.h"
#include "ops/pool2d/window.h"
#include "ops/pool2d/winner_cpu.h"

namespace linnet::cpu {
namespace {

double window_cost(const PoolShape& s) {
  return 0.7 * static_cast<double>(s.attrs.size_h * s.attrs.size_w * s.c);
}

/// Tasks take rows of the output: f(args, sample, output row).
template <class F>
Kernel by_output_rows(const PoolShape& s, F f) {
  return element_wise(s.n * s.oh, window_cost(s) * static_cast<double>(s.ow),
                      [=](const Args& args, Range range) {
                        for (std::int64_t r = range.begin; r < range.end; ++r) {
                          f(args, r / s.oh, r % s.oh);
                        }
                      });
}

template <class Winner>
Kernel max_kernel(const PoolShape& s) {
  return by_output_rows(s, [=](const Args& args, std::int64_t n, std::int64_t i) {
    const Window rows = rows_of(s, i);
    for (std::int64_t j = 0; j < s.ow; ++j) {
      const Window columns = columns_of(s, j);
      const std::int64_t at = ((n * s.oh + i) * s.ow + j) * s.c;
      float* y = args.out(0) + at;
      auto* winner = args.out<Winner>(1) + at;
      for (std::int64_t k = 0; k < rows.size; ++k) {
        for (std::int64_t l = 0; l < columns.size; ++l) {
          const float* x =
              args.in(0) + ((n * s.h + rows.begin + k) * s.w + columns.begin + l) * s.c;
          const auto position =
              static_cast<Winner>((rows.skip + k) * s.attrs.size_w + columns.skip + l);
          if (k == 0 && l == 0) {
            std::copy_n(x, s.c, y);
            std::fill_n(winner, s.c, position);
            continue;
          }
          compete(x, s.c, position, y, winner);
        }
      }
    }
  });
}

std::optional<Kernel> prepare_max(const NodeView& node) {
  const PoolShape s = pool_shape(node.attrs<MaxPool2dOp>(), node.in(0));
  return winner_type(s.attrs) == DType::u8 ? max_kernel<std::uint8_t>(s)
                                           : max_kernel<std::int32_t>(s);
}

std::optional<Kernel> prepare_average(const NodeView& node) {
  const PoolShape s = pool_shape(node.attrs<AvgPool2dOp>(), node.in(0));
  const float factor = 1.0F / static_cast<float>(s.attrs.size_h * s.attrs.size_w);
  return by_output_rows(s, [=](const Args& args, std::int64_t n, std::int64_t i) {
    const Window rows = rows_of(s, i);
    for (std::int64_t j = 0; j < s.ow; ++j) {
      const Window columns = columns_of(s, j);
      float* y = args.out(0) + ((n * s.oh + i) * s.ow + j) * s.c;
      std::fill_n(y, s.c, 0.0F);
      for (std::int64_t k = 0; k < rows.size; ++k) {
        for (std::int64_t l = 0; l < columns.size; ++l) {
          const float* x =
              args.in(0) + ((n * s.h + rows.begin + k) * s.w + columns.begin + l) * s.c;
          for (std::int64_t c = 0; c < s.c; ++c) y[c] += x[c];
        }
      }
      for (std::int64_t c = 0; c < s.c; ++c) y[c] *= factor;
    }
  });
}

/// Tasks take samples, whose windows may share pixels: add(args, output index, dx of the sample,
/// windows) adds one window's part for all channels.
template <class F>
Kernel scatter(const PoolShape& s, F add) {
  const std::int64_t image = s.in_pixels() * s.c;
  const double cost =
      0.3 * static_cast<double>(image) + window_cost(s) * static_cast<double>(s.out_pixels());
  return element_wise(s.n, cost, [=](const Args& args, Range range) {
    for (std::int64_t n = range.begin; n < range.end; ++n) {
      float* dx = args.out(0) + n * image;
      std::fill_n(dx, image, 0.0F);
      for (std::int64_t i = 0; i < s.oh; ++i) {
        for (std::int64_t j = 0; j < s.ow; ++j) {
          add(args, ((n * s.oh + i) * s.ow + j) * s.c, dx, i, j);
        }
      }
    }
  });
}

template <class Winner>
Kernel max_grad_kernel(const PoolShape& s) {
  return scatter(s,
                 [=](const Args& args, std::int64_t at, float* dx, std::int64_t i, std::int64_t j) {
                   const float* dy = args.in(0) + at;
                   const auto* winner = args.in<Winner>(1) + at;
                   const Pool2dAttrs& a = s.attrs;
                   const std::int64_t top = i * a.stride_h - a.pad_top;
                   const std::int64_t left = j * a.stride_w - a.pad_left;
                   for (std::int64_t c = 0; c < s.c; ++c) {
                     const std::int64_t row = top + winner[c] / a.size_w;
                     const std::int64_t column = left + winner[c] % a.size_w;
                     dx[(row * s.w + column) * s.c + c] += dy[c];
                   }
                 });
}

std::optional<Kernel> prepare_max_grad(const NodeView& node) {
  const PoolShape s = pool_shape(node.attrs<MaxPool2dGradOp>(), node.in(0));
  return winner_type(s.attrs) == DType::u8 ? max_grad_kernel<std::uint8_t>(s)
                                           : max_grad_kernel<std::int32_t>(s);
}

std::optional<Kernel> prepare_average_grad(const NodeView& node) {
  const PoolShape s = pool_shape(node.attrs<AvgPool2dGradOp>(), node.in(0));
  const float factor = 1.0F / static_cast<float>(s.attrs.size_h * s.attrs.size_w);
  return scatter(s,
                 [=](const Args& args, std::int64_t at, float* dx, std::int64_t i, std::int64_t j) {
                   const float* dy = args.in(0) + at;
                   const Window rows = rows_of(s, i);
                   const Window columns = columns_of(s, j);
                   for (std::int64_t k = 0; k < rows.size; ++k) {
                     for (std::int64_t l = 0; l < columns.size; ++l) {
                       float* pixel = dx + ((rows.begin + k) * s.w + columns.begin + l) * s.c;
                       for (std::int64_t c = 0; c < s.c; ++c) pixel[c] += factor * dy[c];
                     }
                   }
                 });
}

}  // namespace

void register_pool2d(Registry& registry) {
  registry.add(MaxPool2dOp::kName, prepare_max);
  registry.add(AvgPool2dOp::kName, prepare_average);
  registry.add(MaxPool2dGradOp::kName, prepare_max_grad);
  registry.add(AvgPool2dGradOp::kName, prepare_average_grad);
}

}  // namespace linnet::cpu
