// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/recurrent_cuda.cuh"

#include "backend/cuda/column_sum.cuh"
#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/matmul.cuh"
#include "ops/recurrent/own_cuda.h"

namespace linnet::cuda {
namespace {

constexpr std::size_t align256(std::size_t bytes) { return (bytes + 255) / 256 * 256; }
std::size_t float_bytes(std::int64_t floats) {
  return align256(sizeof(float) * static_cast<std::size_t>(floats));
}

/// Describes how the recurrence is cut, from the shape alone.
struct RecurrentLaunch {
  RecurrentLaunch(const RecurrentShape& s, std::int64_t floats_of_one) {
    // As many blocks as fill a device, then fewer reads of w_hh, as long as there is room.
    constexpr std::int64_t kRoom = 48 * 1024 / sizeof(float);
    samples = s.n <= 256 || 4 * floats_of_one > kRoom ? 1 : 4;
    blocks = (s.n + samples - 1) / samples;
    floats = samples * floats_of_one;
    shared = floats <= kRoom;
    threads = static_cast<unsigned>(std::min<std::int64_t>((s.columns() + 31) / 32 * 32, 1024));
  }
  std::size_t memory_bytes() const { return shared ? 0 : float_bytes(blocks * floats); }
  LaunchShape shape() const {
    return {.grid = static_cast<unsigned>(blocks),
            .block = threads,
            .shared_bytes = shared ? sizeof(float) * static_cast<std::size_t>(floats) : 0};
  }
  int samples = 1;
  std::int64_t blocks = 0;
  std::int64_t floats = 0;  ///< of a block's memory
  bool shared = true;
  unsigned threads = kWarp;
};

}  // namespace

Kernel own_recurrent(const NodeView& node) {
  using In = RecurrentOp::In;
  using Out = RecurrentOp::Out;
  const RecurrentAttrs attrs = node.attrs<RecurrentOp>();
  const RecurrentShape s = recurrent_shape(attrs, node.in(In::x), node.in(In::w_hh));
  const bool y_read = node.output_read.empty() || node.output_read[Out::y];
  const RecurrentLaunch cut(s, forward_floats(s, 1));
  const MatmulPlan plan = plan_matmul({.m = s.n * s.steps,
                                       .n = s.columns(),
                                       .k = s.features,
                                       .transpose_b = true,
                                       .ldc = s.saved()});
  const std::size_t memory_at = float_bytes(s.columns() * s.units);
  const std::size_t plan_at = memory_at + cut.memory_bytes();
  Kernel kernel;
  kernel.workspace_bytes = plan_at + plan.workspace_bytes;
  kernel.enqueue = [=](const Args& args) {
    if (s.n == 0) return;
    float* saved = args.out(Out::saved);
    enqueue_matmul(plan,
                   {.a = args.in(In::x),
                    .b = args.in(In::w_ih),
                    .c = saved,
                    .workspace = args.workspace + plan_at,
                    .stream = args.stream},
                   PlainSum{});
    // w_hhᵀ (units, columns)
    const auto transposed = [columns = s.columns(),
                             u = s.units] __device__(std::int64_t i, float* to, const float* from) {
      to[i] = from[i % columns * u + i / columns];
    };
    for_each_item(args.stream, "recurrent_transpose", s.columns() * s.units, transposed,
                  args.work(), args.in(In::w_hh));
    const ForwardArgs forward{.blocks = {s, cut.shared ? nullptr : args.work(memory_at),
                                         cut.floats},
                              .w = args.work(),
                              .b_ih = attrs.bias ? args.in(In::b_ih) : nullptr,
                              .b_hh = attrs.bias ? args.in(In::b_hh) : nullptr,
                              .y = y_read ? args.out(Out::y) : nullptr,
                              .last = args.out(Out::last),
                              .saved = saved};
    launch(args.stream, "recurrent", cut.shape(),
           cut.samples == 1 ? forward_kernel<1> : forward_kernel<4>, forward);
  };
  return kernel;
}

namespace {

/// A product of the slopes, or of their transpose, once they are all there.
struct SlopeProduct {
  MatmulPlan plan;
  std::int64_t slope = 0;   ///< first of a row of slopes
  bool by_saved = false;    ///< the other operand lies in `saved`, else it is an input
  std::size_t input = 0;    ///< which one
  std::int64_t column = 0;  ///< of `saved`
  std::size_t output = 0;
  std::int64_t element = 0;  ///< of the output
};

std::vector<SlopeProduct> slope_products(const RecurrentShape& s, bool dx_read) {
  const std::int64_t u = s.units;
  const std::int64_t rows = s.n * s.steps;
  const std::int64_t width = s.slopes();
  const MatrixProduct dx{.m = rows, .n = s.features, .k = s.columns(), .lda = width};
  const MatrixProduct dw_ih{
      .m = s.columns(), .n = s.features, .k = rows, .transpose_a = true, .lda = width};
  std::vector<SlopeProduct> products;
  if (dx_read) {
    products.push_back(
        {.plan = plan_matmul(dx), .slope = s.input_slopes(), .input = 1, .output = 0});
  }
  products.push_back(
      {.plan = plan_matmul(dw_ih), .slope = s.input_slopes(), .input = 0, .output = 1});
  const auto add_w_hh = [&](std::int64_t slope, std::int64_t gate, std::int64_t gates,
                            std::int64_t column) {
    const MatrixProduct dw_hh{
        .m = gates * u, .n = u, .k = rows, .transpose_a = true, .lda = width, .ldb = s.saved()};
    products.push_back({.plan = plan_matmul(dw_hh),
                        .slope = slope,
                        .by_saved = true,
                        .column = column,
                        .output = 2,
                        .element = gate * u * u});
  };
  switch (s.cell) {
    case Cell::gru:
      add_w_hh(0, 2, 1, s.state());
      add_w_hh(u, 0, 2, s.state());
      break;
    case Cell::gru_original:
      add_w_hh(0, 0, 2, s.state());
      add_w_hh(2 * u, 2, 1, 3 * u);
      break;
    default: add_w_hh(0, 0, cell_gates(s.cell), s.state());
  }
  return products;
}

}  // namespace

Kernel own_recurrent_gradient(const NodeView& node) {
  using In = RecurrentGradOp::In;
  using Out = RecurrentGradOp::Out;
  const auto& op = static_cast<const RecurrentGradOp&>(node.op);
  const RecurrentGradAttrs attrs = op.attrs();
  const std::size_t saved_input = op.saved_input();
  const std::size_t y_input = op.y_input();
  const std::size_t last_input = op.last_input();
  const RecurrentShape s = recurrent_shape(attrs, node.in(In::x), node.in(In::w_hh));
  const std::int64_t rows = s.n * s.steps;
  const RecurrentLaunch cut(s, backward_floats(s, 1));
  const auto products = slope_products(s, node.output_read.empty() || node.output_read[Out::dx]);
  // One after the other: the blocks' memory, the products' and the sums' share a place.
  std::size_t shared_bytes =
      std::max(cut.memory_bytes(), matrix_sums(rows, s.slopes()).partial_bytes(1));
  for (const SlopeProduct& p : products) {
    shared_bytes = std::max(shared_bytes, p.plan.workspace_bytes);
  }
  const std::size_t sums_at = float_bytes(rows * s.slopes());
  const std::size_t shared_at = sums_at + float_bytes(s.slopes());
  Kernel kernel;
  kernel.workspace_bytes = shared_at + shared_bytes;
  kernel.enqueue = [=](const Args& args) {
    float* slopes = args.work();
    const float* saved = args.in(saved_input);
    const BackwardArgs backward{.blocks = {s, cut.shared ? nullptr : args.work(shared_at),
                                           cut.floats},
                                .w = args.in(In::w_hh),
                                .saved = saved,
                                .dy = attrs.y_gradient ? args.in(y_input) : nullptr,
                                .dlast = attrs.last_gradient ? args.in(last_input) : nullptr,
                                .slopes = slopes};
    if (s.n > 0) {
      launch(args.stream, "recurrent_grad", cut.shape(),
             cut.samples == 1 ? backward_kernel<1> : backward_kernel<4>, backward);
    }
    for (const SlopeProduct& p : products) {
      enqueue_matmul(p.plan,
                     {.a = slopes + p.slope,
                      .b = p.by_saved ? saved + p.column : args.in(p.input),
                      .c = args.out(p.output) + p.element,
                      .workspace = args.workspace + shared_at,
                      .stream = args.stream},
                     PlainSum{});
    }
    if (!attrs.bias) return;
    column_sum(args, "recurrent_grad", slopes, rows, s.slopes(), args.work(sums_at),
               args.workspace + shared_at);
    const auto bias_of = [=] __device__(std::int64_t c, const float* sums, float* db_ih,
                                        float* db_hh) {
      const std::int64_t u = s.units;
      db_ih[c] = sums[s.input_slopes() + c];
      db_hh[c] = s.cell != Cell::gru ? sums[c] : c < 2 * u ? sums[u + c] : sums[c - 2 * u];
    };
    for_each_item(args.stream, "recurrent_grad_bias", s.columns(), bias_of, args.work(sums_at),
                  args.out(Out::db_ih), args.out(Out::db_hh));
  };
  return kernel;
}

void register_recurrent(Registry& registry) {
  registry.add(RecurrentOp::kName, [](const NodeView& node, const Context& /*context*/) {
    return std::optional(own_recurrent(node));
  });
  registry.add(RecurrentGradOp::kName, [](const NodeView& node, const Context& /*context*/) {
    return std::optional(own_recurrent_gradient(node));
  });
}

}  // namespace linnet::cuda
