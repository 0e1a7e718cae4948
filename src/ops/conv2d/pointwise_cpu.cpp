// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/pointwise_cpu.h"

#include "backend/cpu/partial_sums.h"
#include "backend/cpu/products/gemm.h"
#include "backend/cpu/products/packed_products.h"
#include "backend/cpu/products/row_product.h"
#include "backend/cpu/products/whole_product.h"
#include "ops/activation/epilogue_cpu.h"

namespace linnet::cpu {
namespace {

bool takes(const ConvShape& s) {
  const Conv2dAttrs& a = s.attrs;
  return s.kh == 1 && s.kw == 1 && a.stride_h == 1 && a.stride_w == 1 && a.groups == 1 &&
         a.pad_top == 0 && a.pad_bottom == 0 && a.pad_left == 0 && a.pad_right == 0;
}

/// Multiplies x (pixels, C) and w (C_out, C) to y (pixels, C_out).
double cost(std::int64_t a, std::int64_t b) {
  return conv_cost(2.0 * static_cast<double>(a) * static_cast<double>(b));
}

std::optional<Kernel> forward(const ConvShape& s, const ConvTail& tail) {
  using In = Conv2dOp::In;
  using Out = Conv2dOp::Out;
  if (!takes(s)) return std::nullopt;
  const std::int64_t c = s.c;
  const std::int64_t co = s.co;
  const GemmShape product{s.n * s.in_pixels(), co, c};
  // Each pixel then has the same bits in every batch.
  if (tail.keeps_weights || packing_pays(product.m)) {
    return packed_product_kernel(
        product, 1, c, tail.bias ? std::optional<std::size_t>(In::b) : std::nullopt,
        [=](const Args& args, float* y, std::int64_t rows, std::int64_t columns) {
          const float* residual =
              tail.residual ? args.in(kResidual) + (y - args.out(Out::y)) : nullptr;
          add_bias_and_activate(y, rows, columns, nullptr, tail.activation, co, residual);
        });
  }
  const ProductTasks tasks(product);
  Kernel kernel;
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(parallel(tasks.count(), [=](const Args& args, const Task& task) {
    const auto [rows, columns] = tasks.block(task.index);
    const std::int64_t first = rows.begin * co + columns.begin;
    float* y = args.out(Out::y) + first;
    gemm({rows.size(), columns.size(), c}, {args.in(In::x) + rows.begin * c, c},
         {args.in(In::w) + columns.begin * c, c, true}, y, co, task.scratch);
    add_bias_and_activate(y, rows.size(), columns.size(),
                          tail.bias ? args.in(In::b) + columns.begin : nullptr, tail.activation, co,
                          tail.residual ? args.in(kResidual) + first : nullptr);
  }));
  return kernel;
}

std::optional<Kernel> grad_input(const ConvShape& s) {
  using In = Conv2dGradInputOp::In;
  using Out = Conv2dGradInputOp::Out;
  if (!takes(s)) return std::nullopt;
  const std::int64_t c = s.c;
  const std::int64_t co = s.co;
  const ProductTasks tasks({s.n * s.in_pixels(), c, co});
  Kernel kernel;
  kernel.scratch_bytes = tasks.scratch_bytes();
  kernel.stages.push_back(parallel(tasks.count(), [=](const Args& args, const Task& task) {
    const auto [rows, columns] = tasks.block(task.index);
    gemm({rows.size(), columns.size(), co}, {args.in(In::dz) + rows.begin * co, co},
         {args.in(In::w) + columns.begin, c}, args.out(Out::dx) + rows.begin * c + columns.begin, c,
         task.scratch);
  }));
  return kernel;
}

/// Pixels of both operands that stay in the L2 cache while all of their products are summed.
constexpr std::int64_t kFloatsAtOnce = 40 * 1024;
constexpr std::int64_t kFewestAtOnce = 64;
constexpr std::int64_t kMostAtOnce = 256;
std::int64_t pixels_at_once(std::int64_t width) {
  return std::clamp(kFloatsAtOnce / width / 32 * 32, kFewestAtOnce, kMostAtOnce);
}

/// Sums of dz^T x over ranges of pixels, x as it is or normalised.
class PixelSums {
 public:
  explicit PixelSums(const ConvShape& s, const NormalizedOperand* operand = nullptr)
      : pixels_(s.n * s.in_pixels()),
        c_(s.c),
        co_(s.co),
        in_place_(row_product_pays(s.co)),
        normalizes_(operand != nullptr) {
    operand_ = normalizes_ ? *operand : NormalizedOperand{.pitch = s.c};
  }

  std::size_t scratch_bytes() const {
    if (!in_place_) return gemm_scratch_bytes({co_, c_, pixels_});
    const std::int64_t floats = c_ + std::max(kFloatsAtOnce, kFewestAtOnce * c_);
    return kRowsBytes + (normalizes_ ? sizeof(float) * static_cast<std::size_t>(floats) : 0);
  }
  /// Returns blocks of dw as tasks that sum over all pixels: small ones where nothing is packed.
  ProductTasks blocks() const {
    return ProductTasks({co_, c_, pixels_}, in_place_ ? PackedSides::none : PackedSides::both);
  }
  /// Writes rows `filters` and columns `channels` of dw (C_out, C) at `dw`.
  void run(const Args& args, Range pixels, Range filters, Range channels, float* dw,
           std::byte* scratch) const {
    using In = Conv2dGradWeightOp::In;
    const float* x = args.in(In::x) + channels.begin;
    const float* dz = args.in(In::dz) + filters.begin;
    dw += filters.begin * c_ + channels.begin;
    if (!in_place_) {
      return gemm({filters.size(), channels.size(), pixels.size()},
                  {dz + pixels.begin * co_, co_, true}, {x + pixels.begin * c_, c_}, dw, c_,
                  scratch);
    }
    auto** rows = reinterpret_cast<const float**>(scratch);
    auto* scale = reinterpret_cast<float*>(scratch + kRowsBytes);
    float* normal = scale + c_;
    Normalization norm;
    if (normalizes_) norm = operand_.of(args, channels, scale);
    const std::int64_t pitch = operand_.pitch;
    const std::int64_t at_once = pixels_at_once(filters.size() + channels.size());
    std::int64_t next = pixels.begin;
    do {
      const std::int64_t p = next;
      const std::int64_t terms = std::min(at_once, pixels.end - p);
      next += terms;
      // Those after the range are probably the next task's.
      const std::int64_t left = std::min(at_once, pixels_ - next);
      if (normalizes_) {
        normalize_rows(norm, {x + p * pitch, pitch, terms}, nullptr, channels.size(), normal);
      }
      for (std::int64_t t = 0; t < terms; ++t) {
        rows[t] = normalizes_ ? normal + t * channels.size() : x + (p + t) * pitch;
      }
      row_product({.terms = terms,
                   .rows = filters.size(),
                   .columns = channels.size(),
                   .a = dz + p * co_,
                   .a_stride = co_,
                   .b = rows,
                   .c = dw,
                   .c_stride = c_,
                   .ahead = {FetchedRows{x + next * pitch, left, channels.size(), pitch},
                             FetchedRows{dz + next * co_, left, filters.size(), co_}}},
                  p > pixels.begin);
    } while (next < pixels.end);
  }

 private:
  static constexpr std::size_t kRowsBytes = sizeof(float*) * kMostAtOnce;

  std::int64_t pixels_;
  std::int64_t c_;
  std::int64_t co_;
  bool in_place_;
  bool normalizes_;
  NormalizedOperand operand_;
};

/// Returns whether tasks take ranges of pixels, of which there are many, instead of blocks of dw.
bool sums_partially(const ConvShape& s) { return s.n * s.in_pixels() > 4 * std::max(s.c, s.co); }

/// Long and thin: partial products of ranges of pixels, added up. Otherwise tasks take blocks of dw
/// and sum over all pixels themselves.
Kernel weight_gradient(const ConvShape& s, const PixelSums& sums) {
  using Out = Conv2dGradWeightOp::Out;
  const std::int64_t pixels = s.n * s.in_pixels();
  const std::int64_t c = s.c;
  const std::int64_t co = s.co;
  Kernel kernel;
  kernel.scratch_bytes = sums.scratch_bytes();
  if (sums_partially(s)) {
    const int tasks = partial_gradients(s, pixels, cost(c, co));
    constexpr std::int64_t kChannelsAtLeast = 128;  // for which x is worth reading again
    const int shares = share_tasks(tasks, pixels, cost(c, co), co / kChannelsAtLeast);
    kernel.workspace_bytes = sizeof(float) * static_cast<std::size_t>(tasks * co * c);
    kernel.stages.push_back(parallel(tasks * shares, [=](const Args& args, const Task& task) {
      const int partial = task.index / shares;
      sums.run(args, split(pixels, tasks, partial), split(co, shares, task.index % shares), {0, c},
               args.work() + partial * co * c, task.scratch);
    }));
    kernel.stages.push_back(add_partials_stage(tasks, co * c, Out::dw));
    return kernel;
  }
  const ProductTasks tasks = sums.blocks();
  kernel.stages.push_back(parallel(tasks.count(), [=](const Args& args, const Task& task) {
    const auto [rows, columns] = tasks.block(task.index);
    sums.run(args, {0, pixels}, rows, columns, args.out(Out::dw), task.scratch);
  }));
  return kernel;
}

std::optional<Kernel> grad_weight(const ConvShape& s) {
  if (!takes(s)) return std::nullopt;
  return weight_gradient(s, PixelSums(s));
}

}  // namespace

std::optional<Kernel> normalized_weight_gradient(const ConvShape& s,
                                                 const NormalizedOperand& operand) {
  if (!takes(s) || !row_product_pays(s.co)) return std::nullopt;
  const PixelSums sums(s, &operand);
  constexpr std::int64_t kMostTimes = 4;  // that x is worth being normalised
  const bool again = !sums_partially(s) && kMostTimes * sums.blocks().block(0).rows.size() < s.co;
  if (again) return std::nullopt;
  return weight_gradient(s, sums);
}

const ConvEngine& pointwise_engine() {
  static const ConvEngine engine{"pointwise", forward, grad_input, grad_weight, true};
  return engine;
}

}  // namespace linnet::cpu
