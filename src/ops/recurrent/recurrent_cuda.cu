// SPDX-License-Identifier: Apache-2.0
#include "ops/recurrent/recurrent_cuda.cuh"

#include "backend/cuda/column_sum.cuh"
#include "backend/cuda/cublaslt.h"
#include "backend/cuda/element_wise.cuh"
#include "backend/cuda/matmul.cuh"
#include "ops/recurrent/held_cuda.cuh"
#include "ops/recurrent/own_cuda.h"
#include "ops/recurrent/plan_cuda.h"

namespace linnet::cuda {
namespace {

constexpr const char* kHeld = "weights in registers";
constexpr const char* kRead = "weights read in each step";

/// A product over all steps at once: by cuBLASLt where it is at hand, else by Linnet's kernel. As
/// PyTorch's default, it may round its operands to TF32 where convolutions do.
class StepsProduct {
 public:
  StepsProduct(const MatmulPlan& plan, const Context& context) : plan_(plan) {
    if (context.cublaslt == nullptr || plan.kind != MatmulPlan::Kind::tiles) return;
    library_ =
        LtMatmul::prepare(*context.cublaslt,
                          {.product = plan.product, .tf32 = context.precision != Precision::fp32},
                          context.tuning);
  }
  std::size_t workspace_bytes() const {
    return library_ ? library_->workspace_bytes() : plan_.workspace_bytes;
  }
  void enqueue(const MatmulOperands& operands) const {
    if (!library_) return enqueue_matmul(plan_, operands, PlainSum{});
    library_->enqueue({.a = operands.a,
                       .b = operands.b,
                       .c = operands.c,
                       .workspace = operands.workspace,
                       .stream = operands.stream});
  }

 private:
  MatmulPlan plan_;
  std::optional<LtMatmul> library_;
};

}  // namespace

std::optional<Kernel> own_recurrent(const NodeView& node, const Context& context) {
  using In = RecurrentOp::In;
  using Out = RecurrentOp::Out;
  const RecurrentAttrs attrs = node.attrs<RecurrentOp>();
  const RecurrentShape s = recurrent_shape(attrs, node.in(In::x), node.in(In::w_hh));
  const bool y_read = node.output_read.empty() || node.output_read[Out::y];
  const std::optional<HeldCut> held = held_forward_cut(s);
  const RecurrentCut cut = held ? RecurrentCut{} : forward_cut(s);
  const StepsProduct product(plan_matmul({.m = s.n * s.steps,
                                          .n = s.columns(),
                                          .k = s.features,
                                          .transpose_b = true,
                                          .ldc = s.saved()}),
                             context);
  const std::size_t memory_at = held ? 0 : float_bytes(s.columns() * s.units);
  const std::size_t product_at = memory_at + cut.memory_bytes;
  const auto enqueue = [=](const Args& args) {
    if (s.n == 0) return;
    float* saved = args.out(Out::saved);
    product.enqueue({.a = args.in(In::x),
                     .b = args.in(In::w_ih),
                     .c = saved,
                     .workspace = args.workspace + product_at,
                     .stream = args.stream});
    const float* b_ih = attrs.bias ? args.in(In::b_ih) : nullptr;
    const float* b_hh = attrs.bias ? args.in(In::b_hh) : nullptr;
    float* y = y_read ? args.out(Out::y) : nullptr;
    if (held) {
      const HeldForward forward{.s = s,
                                .cut = *held,
                                .w = args.in(In::w_hh),
                                .b_ih = b_ih,
                                .b_hh = b_hh,
                                .y = y,
                                .last = args.out(Out::last),
                                .saved = saved};
      launch(args.stream, "recurrent", held->launch, held_forward(*held), forward);
      return;
    }
    // w_hhᵀ (units, columns)
    const auto transposed = [columns = s.columns(),
                             u = s.units] __device__(std::int64_t i, float* to, const float* from) {
      to[i] = from[i % columns * u + i / columns];
    };
    for_each_item(args.stream, "recurrent_transpose", s.columns() * s.units, transposed,
                  args.work(), args.in(In::w_hh));
    const ForwardArgs forward{.blocks = {s, cut.memory_bytes > 0 ? args.work(memory_at) : nullptr,
                                         cut.floats},
                              .w = args.work(),
                              .b_ih = b_ih,
                              .b_hh = b_hh,
                              .y = y,
                              .last = args.out(Out::last),
                              .saved = saved};
    launch(args.stream, "recurrent", cut.launch,
           cut.samples == 1 ? forward_kernel<1> : forward_kernel<4>, forward);
  };
  return Kernel{.enqueue = enqueue,
                .workspace_bytes = product_at + product.workspace_bytes(),
                .engine = held ? kHeld : kRead};
}

std::optional<Kernel> own_recurrent_gradient(const NodeView& node, const Context& context) {
  using In = RecurrentGradOp::In;
  using Out = RecurrentGradOp::Out;
  const auto& op = static_cast<const RecurrentGradOp&>(node.op);
  const RecurrentGradAttrs attrs = op.attrs();
  const std::size_t saved_input = op.saved_input();
  const std::size_t y_input = op.y_input();
  const std::size_t last_input = op.last_input();
  const RecurrentShape s = recurrent_shape(attrs, node.in(In::x), node.in(In::w_hh));
  const std::int64_t rows = s.n * s.steps;
  const std::optional<HeldCut> held = held_backward_cut(s);
  const RecurrentCut cut = held ? RecurrentCut{} : backward_cut(s);
  std::vector<std::pair<SlopeProduct, StepsProduct>> products;
  for (const SlopeProduct& p :
       slope_products(s, node.output_read.empty() || node.output_read[Out::dx])) {
    products.emplace_back(p, StepsProduct(p.plan, context));
  }
  // One after the other: the blocks' memory, the products' and the sums' share a place.
  std::size_t shared_bytes =
      std::max(cut.memory_bytes, matrix_sums(rows, s.slopes()).partial_bytes(1));
  for (const auto& [p, product] : products) {
    shared_bytes = std::max(shared_bytes, product.workspace_bytes());
  }
  const std::size_t sums_at = float_bytes(rows * s.slopes());
  const std::size_t shared_at = sums_at + float_bytes(s.slopes());
  const auto enqueue = [=](const Args& args) {
    float* slopes = args.work();
    const float* saved = args.in(saved_input);
    const float* dy = attrs.y_gradient ? args.in(y_input) : nullptr;
    const float* dlast = attrs.last_gradient ? args.in(last_input) : nullptr;
    if (held) {
      const HeldBackward backward{.s = s,
                                  .cut = *held,
                                  .w = args.in(In::w_hh),
                                  .saved = saved,
                                  .dy = dy,
                                  .dlast = dlast,
                                  .slopes = slopes};
      launch(args.stream, "recurrent_grad", held->launch, held_backward(*held), backward);
    } else {
      const BackwardArgs backward{.blocks = {s,
                                             cut.memory_bytes > 0 ? args.work(shared_at) : nullptr,
                                             cut.floats},
                                  .w = args.in(In::w_hh),
                                  .saved = saved,
                                  .dy = dy,
                                  .dlast = dlast,
                                  .slopes = slopes};
      launch(args.stream, "recurrent_grad", cut.launch,
             cut.samples == 1 ? backward_kernel<1> : backward_kernel<4>, backward);
    }
    for (const auto& [p, product] : products) {
      product.enqueue({.a = slopes + p.slope,
                       .b = p.by_saved ? saved + p.column : args.in(p.input),
                       .c = args.out(p.output) + p.element,
                       .workspace = args.workspace + shared_at,
                       .stream = args.stream});
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
  return Kernel{.enqueue = enqueue,
                .workspace_bytes = shared_at + shared_bytes,
                .engine = held ? kHeld : kRead};
}

void register_recurrent(Registry& registry) {
  registry.add(RecurrentOp::kName, own_recurrent);
  registry.add(RecurrentGradOp::kName, own_recurrent_gradient);
}

}  // namespace linnet::cuda
