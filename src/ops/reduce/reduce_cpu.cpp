// SPDX-License-Identifier: Apache-2.0
#include "ops/reduce/reduce.h"

#include <memory>

#include "backend/cpu/kernel.h"
#include "ops/reduce/fold.h"
#include "ops/reduce/layout_cpu.h"

namespace linnet::cpu {
namespace {

constexpr std::int64_t kTile = 64;    // columns that a task works on at a time, in the L1 cache
constexpr std::int64_t kLanes = 16;   // partial results of a contiguous run
constexpr std::int64_t kBlock = 128;  // elements summed before they join the total: smaller errors

/// A contiguous run.
template <class F>
float fold_run(const float* x, std::int64_t run) {
  float total = F::kIdentity;
  std::int64_t i = 0;
  if (run >= kLanes) {
    float lanes[kLanes];
    std::fill_n(lanes, kLanes, F::kIdentity);
    for (; i + kLanes <= run; i += kLanes) {
      for (std::int64_t k = 0; k < kLanes; ++k) lanes[k] = F::apply(lanes[k], x[i + k]);
    }
    for (std::int64_t half = kLanes / 2; half > 0; half /= 2) {
      for (std::int64_t k = 0; k < half; ++k) lanes[k] = F::apply(lanes[k], lanes[k + half]);
    }
    total = lanes[0];
  }
  for (; i < run; ++i) total = F::apply(total, x[i]);
  return total;
}

/// All elements of `width` neighbouring outputs, their runs `step` apart.
template <class F>
void fold_tile(const ReduceLayout& layout, const float* x, std::int64_t width, float* total) {
  std::fill_n(total, width, F::kIdentity);
  for (std::int64_t offset : layout.offsets) {
    for (std::int64_t first = 0; first < layout.run; first += kBlock) {
      float part[kTile];
      std::fill_n(part, width, F::kIdentity);
      const std::int64_t last = std::min(layout.run, first + kBlock);
      for (std::int64_t r = first; r < last; ++r) {
        const float* from = x + offset + r * layout.step;
        for (std::int64_t c = 0; c < width; ++c) part[c] = F::apply(part[c], from[c]);
      }
      for (std::int64_t c = 0; c < width; ++c) total[c] = F::apply(total[c], part[c]);
    }
  }
}

/// What the stages of a kernel share: copies of its lists in each would be kilobytes of code.
using SharedLayout = std::shared_ptr<const ReduceLayout>;

/// tile(args, x_begin, y_begin, width) for all outputs in tiles of at most kTile columns; `cost` is
/// of one element of x.
template <class Tile>
Kernel for_tiles(const SharedLayout& layout, double cost, Tile tile) {
  const std::int64_t columns = layout->columns;
  const std::int64_t tiles = (columns + kTile - 1) / kTile;
  const double width = static_cast<double>(std::min(columns, kTile));
  return one_stage(layout->rows() * tiles, cost * width * layout->elements_per_output() + 1,
                   [=](const Args& args, Range range) {
                     for (std::int64_t i = range.begin; i < range.end; ++i) {
                       const std::int64_t row = i / tiles;
                       const std::int64_t first = i % tiles * kTile;
                       tile(args, layout->base(row) + first, row * columns + first,
                            std::min(kTile, columns - first));
                     }
                   });
}

/// One output after the other, of contiguous runs.
bool in_rows(const ReduceLayout& layout) { return layout.columns == 1 && layout.step == 1; }

SharedLayout shared_layout(ReduceLayout layout) {
  return std::make_shared<const ReduceLayout>(std::move(layout));
}

template <class F>
Kernel reduce_kernel(const SharedLayout& layout, float scale) {
  using In = ReduceOp::In;
  using Out = ReduceOp::Out;
  if (in_rows(*layout)) {
    return for_tiles(layout, 0.2, [=](const Args& args, std::int64_t at, std::int64_t out, auto) {
      float total = F::kIdentity;
      for (std::int64_t offset : layout->offsets) {
        total = F::apply(total, fold_run<F>(args.in(In::x) + at + offset, layout->run));
      }
      args.out(Out::y)[out] = total * scale;
    });
  }
  return for_tiles(layout, 0.2,
                   [=](const Args& args, std::int64_t at, std::int64_t out, std::int64_t width) {
                     float total[kTile];
                     if (width == kTile) {
                       fold_tile<F>(*layout, args.in(In::x) + at, kTile,
                                    total);  // a width the compiler knows
                     } else {
                       fold_tile<F>(*layout, args.in(In::x) + at, width, total);
                     }
                     for (std::int64_t c = 0; c < width; ++c)
                       args.out(Out::y)[out + c] = total[c] * scale;
                   });
}

float scale_of(Reduction kind, const SharedLayout& layout) {
  return kind == Reduction::mean ? static_cast<float>(1 / layout->elements_per_output()) : 1.0F;
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const ReduceAttrs& attrs = node.attrs<ReduceOp>();
  const SharedLayout layout = shared_layout(reduce_layout(node.in(ReduceOp::In::x), attrs.axes));
  const float scale = scale_of(attrs.kind, layout);
  switch (attrs.kind) {
    case Reduction::sum:
    case Reduction::mean: return reduce_kernel<fold::Sum>(layout, scale);
    case Reduction::max: return reduce_kernel<fold::Max>(layout, scale);
    case Reduction::min: return reduce_kernel<fold::Min>(layout, scale);
  }
  return std::nullopt;
}

std::optional<Kernel> prepare_gradient(const NodeView& node) {
  using In = ReduceGradOp::In;
  using Out = ReduceGradOp::Out;
  const ReduceGradAttrs& attrs = node.attrs<ReduceGradOp>();
  const SharedLayout layout = shared_layout(reduce_layout(node.out(Out::dx), attrs.axes));
  const float scale = scale_of(attrs.kind, layout);
  if (in_rows(*layout)) {
    return for_tiles(layout, 0.2, [=](const Args& args, std::int64_t at, std::int64_t in, auto) {
      const float value = args.in(In::dy)[in] * scale;
      for (std::int64_t offset : layout->offsets) {
        std::fill_n(args.out(Out::dx) + at + offset, layout->run, value);
      }
    });
  }
  return for_tiles(layout, 0.3,
                   [=](const Args& args, std::int64_t at, std::int64_t in, std::int64_t width) {
                     float value[kTile];
                     for (std::int64_t c = 0; c < width; ++c)
                       value[c] = args.in(In::dy)[in + c] * scale;
                     for (std::int64_t offset : layout->offsets) {
                       for (std::int64_t r = 0; r < layout->run; ++r) {
                         std::copy_n(value, width,
                                     args.out(Out::dx) + at + offset + r * layout->step);
                       }
                     }
                   });
}

std::optional<Kernel> prepare_select_gradient(const NodeView& node) {
  using In = ReduceSelectGradOp::In;
  using Out = ReduceSelectGradOp::Out;
  const SharedLayout layout =
      shared_layout(reduce_layout(node.in(In::x), node.attrs<ReduceSelectGradOp>().axes));
  if (in_rows(*layout)) {
    return for_tiles(layout, 0.5, [=](const Args& args, std::int64_t at, std::int64_t out, auto) {
      const float y = args.in(In::y)[out];
      bool found = false;
      for (std::int64_t offset : layout->offsets) {
        const float* x = args.in(In::x) + at + offset;
        float* dx = args.out(Out::dx) + at + offset;
        std::fill_n(dx, layout->run, 0.0F);
        for (std::int64_t r = 0; r < layout->run && !found; ++r) {
          found = fold::attains(x[r], y);
          if (found) dx[r] = args.in(In::dy)[out];
        }
      }
    });
  }
  // `left` is what an output still has to give: its dy until an element attains it, then 0.
  return for_tiles(layout, 0.5,
                   [=](const Args& args, std::int64_t at, std::int64_t out, std::int64_t width) {
                     float left[kTile];
                     std::copy_n(args.in(In::dy) + out, width, left);
                     const float* y = args.in(In::y) + out;
                     for (std::int64_t offset : layout->offsets) {
                       for (std::int64_t r = 0; r < layout->run; ++r) {
                         const std::int64_t begin = at + offset + r * layout->step;
                         const float* x = args.in(In::x) + begin;
                         float* dx = args.out(Out::dx) + begin;
                         for (std::int64_t c = 0; c < width; ++c) {
                           const bool hit = fold::attains(x[c], y[c]);
                           dx[c] = hit ? left[c] : 0.0F;
                           left[c] = hit ? 0.0F : left[c];
                         }
                       }
                     }
                   });
}

}  // namespace

void register_reduce(Registry& registry) {
  registry.add(ReduceOp::kName, prepare_forward);
  registry.add(ReduceGradOp::kName, prepare_gradient);
  registry.add(ReduceSelectGradOp::kName, prepare_select_gradient);
}

}  // namespace linnet::cpu
