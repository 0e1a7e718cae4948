// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cpu/products/panel_product.h"
#include "backend/cpu/products/rounded_operands.h"
#include "fusions/norm_conv2d/norm_conv2d.h"
#include "ops/batch_norm/batch_norm_cpu.h"
#include "ops/conv2d/pointwise_cpu.h"

namespace linnet::cpu {
namespace {

/// Pixels times channels and weights, the pixels normalised block by block in scratch memory.
class NormalProduct {
 public:
  NormalProduct(const Shape& x, const Shape& w, const NormalizedOperand& operand)
      : operand_(operand), c_(w[3]), co_(w[0]), pixels_(x[0] * x[1] * x[2]), width_(co_) {
    const double pixel = conv_cost(2.0 * static_cast<double>(c_ * co_));
    const int worth = tasks_for(pixels_, pixel);
    const std::int64_t most = std::max<std::int64_t>(pixels_ / kFewestRows, 1);
    row_tasks_ = static_cast<int>(std::min<std::int64_t>(worth, most));
    // Groups of columns normalise the same pixels again.
    while (2 * row_tasks_ * groups_ <= std::min(worth, kEnough) && co_ >= 2 * groups_ * kGroup) {
      groups_ *= 2;
    }
    if (groups_ > 1) width_ = ((co_ + groups_ - 1) / groups_ + kPanel - 1) / kPanel * kPanel;
  }

  int tasks() const { return row_tasks_ * groups_; }
  /// Returns whether pixels are normalised a few times at most.
  bool pays() const { return groups_ <= 2; }
  std::int64_t terms() const { return c_; }
  double packing_cost() const { return 6.0 * static_cast<double>(co_); }
  std::size_t panel_bytes() const {
    return sizeof(float) * static_cast<std::size_t>(groups_) * group_floats();
  }
  std::size_t scratch_bytes() const {
    return 2 * kAddressBytes +
           sizeof(float) * static_cast<std::size_t>(c_ + std::max(kFloats, kFewestRows * c_));
  }

  void pack(const float* w, Range terms, float* panels) const {
    for (std::int64_t g = 0; g < groups_; ++g) {
      pack_panels({w + g * width_ * c_ + terms.begin, 1, c_}, terms.begin, terms.end, c_,
                  columns(g), panels + static_cast<std::size_t>(g) * group_floats());
    }
  }

  void run(const Args& args, const float* panels, const Task& task) const {
    using In = NormConv2dOp::In;
    const std::int64_t g = task.index % groups_;
    const Range mine = split(pixels_, row_tasks_, task.index / groups_);
    auto** from = reinterpret_cast<const float**>(task.scratch);
    auto** to = reinterpret_cast<float**>(task.scratch + kAddressBytes);
    auto* scale = reinterpret_cast<float*>(task.scratch + 2 * kAddressBytes);
    float* normal = scale + c_;
    const Normalization norm = operand_.of(args, {0, c_}, scale);
    const std::int64_t pitch = operand_.pitch;
    const std::int64_t most =
        std::clamp<std::int64_t>(kFloats / std::max<std::int64_t>(c_, 1), kFewestRows, kMostRows);
    const auto blocks = static_cast<int>((mine.size() + most - 1) / most);
    for (int b = 0; b < blocks; ++b) {
      const Range block = split(mine.size(), blocks, b);
      const std::int64_t first = mine.begin + block.begin;
      normalize_rows(norm, {args.in(In::x) + first * pitch, pitch, block.size()}, nullptr, c_,
                     normal);
      for (std::int64_t r = 0; r < block.size(); ++r) {
        from[r] = normal + r * c_;
        to[r] = args.out(NormConv2dOp::Out::y) + (first + r) * co_ + g * width_;
      }
      panel_product({from, 1, c_, 0}, block.size(),
                    panels + static_cast<std::size_t>(g) * group_floats(), columns(g), nullptr, to,
                    {.distant = pixels_ * co_ >= kDistantFloats});
    }
  }

 private:
  std::int64_t columns(std::int64_t g) const { return std::min(width_, co_ - g * width_); }
  std::size_t group_floats() const { return panel_floats(c_, width_); }

  static constexpr std::int64_t kFewestRows = 48;
  static constexpr std::int64_t kMostRows = kProductRows;
  static constexpr std::int64_t kFloats =
      48 * 1024;  ///< that stay in the L2 cache with the weights
  static constexpr std::int64_t kGroup = 64;
  static constexpr std::int64_t kPanel = 32;
  static constexpr int kEnough = 64;
  static constexpr std::size_t kAddressBytes = sizeof(float*) * kMostRows;

  NormalizedOperand operand_;
  std::int64_t c_;
  std::int64_t co_;
  std::int64_t pixels_;
  std::int64_t width_;  ///< of a group of columns
  int row_tasks_ = 1;
  int groups_ = 1;
};

/// Returns the norm of either operator: their operands have the same places.
NormalizedOperand operand_of(const Shape& x, const NormConv2dAttrs& attrs) {
  using In = NormConv2dOp::In;
  return {.pitch = x[3],
          .relu = attrs.activation == Activation::relu,
          .gamma = In::gamma,
          .beta = In::beta,
          .mean = In::mean,
          .inv_std = In::inv_std};
}

std::optional<Kernel> forward(const NodeView& node) {
  using In = NormConv2dOp::In;
  const Shape& x = node.in(In::x);
  const NormalProduct product(x, node.in(In::w), operand_of(x, node.attrs<NormConv2dOp>()));
  if (!product.pays()) return std::nullopt;
  Kernel kernel;
  kernel.engine = kFp32Alone;
  kernel.workspace_bytes = product.panel_bytes();
  kernel.scratch_bytes = product.scratch_bytes();
  kernel.stages.push_back(parallel(tasks_for(product.terms(), product.packing_cost()),
                                   product.terms(), [=](const Args& args, Range terms) {
                                     product.pack(args.in(In::w), terms, args.work());
                                   }));
  kernel.stages.push_back(parallel(product.tasks(), [=](const Args& args, const Task& task) {
    product.run(args, args.work(), task);
  }));
  return kernel;
}

std::optional<Kernel> grad_weight(const NodeView& node) {
  using In = NormConv2dGradWeightOp::In;
  const Shape& dw = node.out(kFirst);
  const Shape& x = node.in(In::x);
  const Shape normal{x[0], x[1], x[2], dw[3]};
  std::optional<Kernel> kernel =
      normalized_weight_gradient(conv_shape({}, normal, dw, ""),
                                 operand_of(x, node.attrs<NormConv2dGradWeightOp>()));
  if (kernel) kernel->engine = kFp32Alone;
  return kernel;
}

}  // namespace

void register_norm_conv2d(Registry& registry) {
  registry.add_product(NormConv2dOp::kName, forward);
  registry.add_product(NormConv2dGradWeightOp::kName, grad_weight);
}

}  // namespace linnet::cpu
