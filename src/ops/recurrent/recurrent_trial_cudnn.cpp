// SPDX-License-Identifier: Apache-2.0
// Recurrent layers by cuDNN, where it gives the numbers of Linnet's own kernels, faster, on the
// device at hand. In training a layer's two operators are measured, and chosen, together: the
// memory of `saved` holds what cuDNN keeps, which is more than Linnet's kernels save.
#include <algorithm>

#include "backend/cuda/cudnn_plans.h"
#include "ops/recurrent/own_cuda.h"
#include "ops/recurrent/recurrent.h"

namespace linnet::cuda {
namespace {

using RnnPtr = std::shared_ptr<const CudnnRnn>;
using Types = std::vector<ValueType>;

std::optional<CudnnRecurrent::Cell> cell_of(Cell cell) {
  switch (cell) {
    case Cell::tanh: return CudnnRecurrent::Cell::tanh;
    case Cell::relu: return CudnnRecurrent::Cell::relu;
    case Cell::gru: return CudnnRecurrent::Cell::gru;
    case Cell::gru_original: break;
    case Cell::lstm: return CudnnRecurrent::Cell::lstm;
  }
  return std::nullopt;
}

CudnnRnn::Weights<const float> weights_of(const Args& args, bool bias) {
  using In = RecurrentOp::In;
  return {args.in(In::w_ih), args.in(In::w_hh), bias ? args.in(In::b_ih) : nullptr,
          bias ? args.in(In::b_hh) : nullptr};
}

std::string engine_of(const CudnnRnn& rnn, std::size_t workspace_bytes) {
  return fmt::format("cudnn RNN {}, {:.1f} MiB", rnn.algorithm(),
                     static_cast<double>(workspace_bytes) / (1 << 20));
}

Kernel inference(const RnnPtr& rnn, bool bias) {
  using In = RecurrentOp::In;
  using Out = RecurrentOp::Out;
  const auto enqueue = [=](const Args& args) {
    if (args.stream.lists({.name = "rnn forward", .library = "cudnn"})) return;
    rnn->infer(args.stream.stream(), args.in(In::x), weights_of(args, bias), args.out(Out::y),
               args.out(Out::last), args.workspace);
  };
  const std::size_t bytes = rnn->inference_bytes();
  return {.enqueue = enqueue, .workspace_bytes = bytes, .engine = engine_of(*rnn, bytes)};
}

Kernel forward(const RnnPtr& rnn, bool bias, bool y_read) {
  using In = RecurrentOp::In;
  using Out = RecurrentOp::Out;
  const auto enqueue = [=](const Args& args) {
    if (args.stream.lists({.name = "rnn forward", .library = "cudnn"})) return;
    rnn->train(args.stream.stream(), args.in(In::x), weights_of(args, bias),
               y_read ? args.out(Out::y) : nullptr, args.out(Out::last),
               args.out<std::byte>(Out::saved), args.workspace);
  };
  const std::size_t bytes = rnn->training_bytes();
  return {.enqueue = enqueue,
          .workspace_bytes = bytes,
          .result_bytes = {0, 0, rnn->kept_bytes()},
          .engine = engine_of(*rnn, bytes)};
}

Kernel gradient(const RnnPtr& rnn, const RecurrentGradOp& op, bool alone) {
  using In = RecurrentGradOp::In;
  using Out = RecurrentGradOp::Out;
  const RecurrentGradAttrs attrs = op.attrs();
  const auto enqueue = [=, saved = op.saved_input(), y = op.y_input(),
                        last = op.last_input()](const Args& args) {
    if (args.stream.lists({.name = "rnn gradient", .library = "cudnn"})) return;
    CudnnRnn::Weights<float> dweights{args.out(Out::dw_ih), args.out(Out::dw_hh)};
    if (attrs.bias)
      dweights = {args.out(Out::dw_ih), args.out(Out::dw_hh), args.out(Out::db_ih),
                  args.out(Out::db_hh)};
    rnn->gradient(args.stream.stream(), args.in(In::x), args.in_out<std::byte>(saved), alone,
                  attrs.y_gradient ? args.in(y) : nullptr,
                  attrs.last_gradient ? args.in(last) : nullptr, args.out(Out::dx), dweights,
                  args.workspace);
  };
  const std::size_t bytes = rnn->gradient_bytes(attrs.y_gradient, alone);
  return {.enqueue = enqueue, .workspace_bytes = bytes, .engine = engine_of(*rnn, bytes)};
}

/// Holds what is measured: a layer's forward operator, in training with its gradient by both
/// results after it, as one node that has `saved` in its workspace.
class Whole {
 public:
  Whole(const RecurrentAttrs& attrs, std::span<const ValueType> operands, bool training)
      : training_(training),
        forward_(attrs),
        gradient_({attrs.cell, attrs.bias, attrs.reverse, true, true}),
        operands_(operands.begin(), operands.end()),
        results_(forward_.infer(operands)),
        inputs_(operands_),
        outputs_{results_[RecurrentOp::Out::y], results_[RecurrentOp::Out::last]} {
    if (!training) return;
    gradient_inputs_ = operands_;
    gradient_inputs_.insert(gradient_inputs_.end(),
                            {results_[RecurrentOp::Out::saved], results_[RecurrentOp::Out::y],
                             results_[RecurrentOp::Out::last]});
    gradients_ = gradient_.infer(gradient_inputs_);
    inputs_.insert(inputs_.end(),
                   {results_[RecurrentOp::Out::y], results_[RecurrentOp::Out::last]});
    outputs_.insert(outputs_.end(), gradients_.begin(), gradients_.end());
  }

  NodeView node() const { return {forward_, inputs_, outputs_, {}}; }
  Kernel own(const Context& context) const {
    const NodeView gradient{gradient_, gradient_inputs_, gradients_, {}};
    return joined(*own_recurrent({forward_, operands_, results_, {}}, context),
                  training_ ? *own_recurrent_gradient(gradient, context) : Kernel{});
  }
  Kernel by(const RnnPtr& rnn) const {
    const bool bias = gradient_.attrs().bias;
    return training_ ? joined(forward(rnn, bias, true), gradient(rnn, gradient_, true))
                     : joined(inference(rnn, bias), {});
  }

 private:
  Kernel joined(const Kernel& forward, const Kernel& gradient) const {
    constexpr std::size_t kSaved = RecurrentOp::Out::saved;
    const std::size_t kept = forward.result_bytes.empty() ? 0 : forward.result_bytes[kSaved];
    const std::size_t work_at = library_padded(std::max(results_[kSaved].bytes(), kept));
    const auto enqueue = [=, operands = operands_.size()](const Args& args) {
      std::vector<void*> inputs(args.inputs.begin(), args.inputs.end());
      std::vector<void*> results{args.outputs[RecurrentOp::Out::y],
                                 args.outputs[RecurrentOp::Out::last], args.workspace};
      Args part = args;
      part.workspace += work_at;
      part.inputs = args.inputs.first(operands);
      part.outputs = results;
      forward.enqueue(part);
      if (!gradient.enqueue) return;
      inputs.insert(inputs.begin() + static_cast<std::ptrdiff_t>(operands), args.workspace);
      part.inputs = inputs;
      part.outputs = args.outputs.subspan(2);
      gradient.enqueue(part);
    };
    const std::size_t bytes = std::max(forward.workspace_bytes, gradient.workspace_bytes);
    return {.enqueue = enqueue, .workspace_bytes = work_at + bytes};
  }

  bool training_;
  RecurrentOp forward_;
  RecurrentGradOp gradient_;
  Types operands_;  ///< x, weights, biases
  Types results_;   ///< y, last, saved
  Types gradient_inputs_;
  Types gradients_;
  Types inputs_;
  Types outputs_;
};

/// Null: own kernels. The same for a layer's two operators in training.
RnnPtr chosen(const RecurrentAttrs& attrs, const NodeView& node, bool training,
              const Context& context) {
  using In = RecurrentOp::In;
  const RecurrentShape s = recurrent_shape(attrs, node.in(In::x), node.in(In::w_hh));
  const auto cell = cell_of(attrs.cell);
  if (!context.options.cudnn || context.cudnn == nullptr || !cell || attrs.reverse || s.n == 0 ||
      s.features == 0) {
    return nullptr;
  }
  // As PyTorch's default for what cuDNN computes, recurrent layers included.
  const bool fp32 = context.precision == Precision::fp32;
  const CudnnRecurrent layer{.cell = *cell,
                             .bias = attrs.bias,
                             .n = s.n,
                             .steps = s.steps,
                             .features = s.features,
                             .units = s.units,
                             .math = fp32 ? CudnnMath::fp32 : CudnnMath::tf32};
  const Whole whole(attrs, node.inputs.first(attrs.bias ? 5 : 3), training);
  const auto wrap = [&](const RnnPtr& rnn) { return whole.by(rnn); };
  // Made for a trial alone: cuBLASLt's products are tried and run once when they are prepared.
  const auto own = [&] { return std::optional(whole.own(context)); };
  return context.cudnn->rnn_if_faster(layer, training, whole.node(), own, wrap, context.tuning);
}

std::optional<Kernel> prepare_forward(const NodeView& node, const Context& context) {
  const RecurrentAttrs attrs = node.attrs<RecurrentOp>();
  const bool training = node.output_read.empty() || node.output_read[RecurrentOp::Out::saved];
  const RnnPtr rnn = chosen(attrs, node, training, context);
  if (!rnn) return std::nullopt;
  if (!training) return inference(rnn, attrs.bias);
  return forward(rnn, attrs.bias,
                 node.output_read.empty() || node.output_read[RecurrentOp::Out::y]);
}

std::optional<Kernel> prepare_gradient(const NodeView& node, const Context& context) {
  const auto& op = static_cast<const RecurrentGradOp&>(node.op);
  const RnnPtr rnn =
      chosen({op.attrs().cell, op.attrs().bias, op.attrs().reverse}, node, true, context);
  return rnn ? std::optional(gradient(rnn, op, node.alone(op.saved_input()))) : std::nullopt;
}

}  // namespace

void register_recurrent_trial_cudnn(Registry& registry) {
  registry.add_library(RecurrentOp::kName, "cudnn", prepare_forward);
  registry.add_library(RecurrentGradOp::kName, "cudnn", prepare_gradient);
}

}  // namespace linnet::cuda
