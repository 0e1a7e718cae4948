// SPDX-License-Identifier: Apache-2.0
#include <vector>

#include "ops/slice/rows_cpu.h"
#include "ops/upsample2d/resampled_axis.h"

namespace linnet::cpu {
namespace {

std::vector<Taps<float>> taps_of(const ResampledAxis& axis) {
  std::vector<Taps<float>> taps;
  for (std::int64_t i = 0; i < axis.out; ++i) taps.push_back(axis.taps<float>(i));
  return taps;
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const Upsample2dAttrs attrs = node.attrs<Upsample2dOp>();
  const Shape x = node.in(Upsample2dOp::In::x);
  const bool bilinear = attrs.mode == Upsampling::bilinear;
  const auto rows = taps_of({x[1], attrs.out_h, bilinear});
  const auto columns = taps_of({x[2], attrs.out_w, bilinear});
  const std::int64_t height = x[1];
  const std::int64_t in_row = x[2] * x[3];
  const std::int64_t channels = x[3];
  const double cost = (bilinear ? 1.2 : 0.3) * static_cast<double>(attrs.out_w * channels);
  return one_stage(x[0] * attrs.out_h, cost, [=](const Args& args, Range range) {
    for (std::int64_t line = range.begin; line < range.end; ++line) {
      const std::int64_t n = line / attrs.out_h;
      const Taps<float>& row = rows[static_cast<std::size_t>(line - n * attrs.out_h)];
      const float* upper = args.in(Upsample2dOp::In::x) + (n * height + row.first) * in_row;
      const float* lower = args.in(Upsample2dOp::In::x) + (n * height + row.second) * in_row;
      float* y = args.out(Upsample2dOp::Out::y) + line * attrs.out_w * channels;
      for (const Taps<float>& column : columns) {
        const std::int64_t left = column.first * channels;
        const std::int64_t right = column.second * channels;
        if (!bilinear) {
          copy_floats(upper + left, y, channels);
        } else {
          for (std::int64_t c = 0; c < channels; ++c) {
            const float above =
                (1 - column.weight) * upper[left + c] + column.weight * upper[right + c];
            const float below =
                (1 - column.weight) * lower[left + c] + column.weight * lower[right + c];
            y[c] = (1 - row.weight) * above + row.weight * below;
          }
        }
        y += channels;
      }
    }
  });
}

/// The outputs that read a pixel, with its weight in each.
struct Reader {
  std::int64_t output = 0;
  float weight = 0;
};

std::vector<std::vector<Reader>> readers_of(const ResampledAxis& axis) {
  std::vector<std::vector<Reader>> readers(static_cast<std::size_t>(axis.in));
  for (std::int64_t i = 0; i < axis.out; ++i) {
    const Taps<float> taps = axis.taps<float>(i);
    readers[static_cast<std::size_t>(taps.first)].push_back({i, taps.of(taps.first)});
    if (taps.second == taps.first) continue;
    readers[static_cast<std::size_t>(taps.second)].push_back({i, taps.of(taps.second)});
  }
  return readers;
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  const Upsample2dGradAttrs attrs = node.attrs<Upsample2dGradOp>();
  const Shape dy = node.in(Upsample2dGradOp::In::dy);
  const bool bilinear = attrs.mode == Upsampling::bilinear;
  const auto rows = readers_of({attrs.in_h, dy[1], bilinear});
  const auto columns = readers_of({attrs.in_w, dy[2], bilinear});
  const std::int64_t height = dy[1];
  const std::int64_t width = dy[2];
  const std::int64_t channels = dy[3];
  const double taps = (bilinear ? 4.0 : 1.0) * static_cast<double>(height * width * channels);
  const double cost = 0.4 * taps / static_cast<double>(attrs.in_h);
  return one_stage(dy[0] * attrs.in_h, cost, [=](const Args& args, Range range) {
    for (std::int64_t line = range.begin; line < range.end; ++line) {
      const std::int64_t n = line / attrs.in_h;
      float* dx = args.out(Upsample2dGradOp::Out::dx) + line * attrs.in_w * channels;
      std::fill_n(dx, attrs.in_w * channels, 0.0F);
      for (const std::vector<Reader>& column : columns) {
        for (const Reader& row : rows[static_cast<std::size_t>(line - n * attrs.in_h)]) {
          const float* from =
              args.in(Upsample2dGradOp::In::dy) + (n * height + row.output) * width * channels;
          for (const Reader& reader : column) {
            const float weight = row.weight * reader.weight;
            const float* pixel = from + reader.output * channels;
            for (std::int64_t c = 0; c < channels; ++c) dx[c] += weight * pixel[c];
          }
        }
        dx += channels;
      }
    }
  });
}

}  // namespace

void register_upsample2d(Registry& registry) {
  registry.add(Upsample2dOp::kName, prepare_forward);
  registry.add(Upsample2dGradOp::kName, prepare_gradient);
}

}  // namespace linnet::cpu
