// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d_norm/conv2d_norm.h"

#include <array>
#include <cmath>

#include "core/align.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

using In = Conv2dNormOp::In;
using Norm = BatchNormInferenceOp::In;

/// Folded weights and bias. The bias is packed, after what the engine packs; the weights are in
/// the workspace, after the engine's own, until it has packed them, or else packed as they are.
struct Folding {
  ConvShape shape;
  Conv2dNormAttrs attrs;
  bool repacked = false;         ///< whether the engine packs weights
  std::size_t workspace_at = 0;  ///< after the engine's
  std::size_t packed_at = 0;

  std::size_t weights_bytes() const {
    return align_up(sizeof(float) * static_cast<std::size_t>(shape.weights()));
  }
  float* weights(const Args& args) const {
    return repacked ? args.work(workspace_at) : args.pack(packed_at);
  }
  float* bias(const Args& args) const {
    return args.pack(packed_at + (repacked ? 0 : weights_bytes()));
  }
  std::size_t workspace_end() const { return workspace_at + (repacked ? weights_bytes() : 0); }
  std::size_t packed_end() const {
    return packed_at + (repacked ? 0 : weights_bytes()) +
           align_up(sizeof(float) * static_cast<std::size_t>(shape.co));
  }

  /// w gamma / std and beta + (b - mean) gamma / std, of output channels `channels`.
  void fold(const Args& args, Range channels) const {
    const auto epsilon = static_cast<float>(attrs.norm.epsilon);
    const Conv2dNormOp op(attrs);
    const float* gamma = args.in(op.norm_input(Norm::gamma));
    const float* beta = args.in(op.norm_input(Norm::beta));
    const float* mean = args.in(op.norm_input(Norm::running_mean));
    const float* var = args.in(op.norm_input(Norm::running_var));
    for (std::int64_t o = channels.begin; o < channels.end; ++o) {
      const float factor = gamma[o] / std::sqrt(var[o] + epsilon);
      const float before = attrs.conv.bias ? args.in(In::b)[o] : 0.0F;
      bias(args)[o] = beta[o] + (before - mean[o]) * factor;
      const float* w = args.in(In::w) + o * shape.taps();
      float* folded = weights(args) + o * shape.taps();
      for (std::int64_t t = 0; t < shape.taps(); ++t) folded[t] = w[t] * factor;
    }
  }

  /// Returns a stage of a convolution's kernel on the folded operands.
  Stage on_folded(Stage stage) const {
    return parallel(stage.tasks, [run = std::move(stage.run), folding = *this](const Args& args,
                                                                               const Task& task) {
      const std::array<void*, 4> inputs{args.inputs[In::x], folding.weights(args),
                                        folding.bias(args), args.inputs.back()};
      run({inputs, args.outputs, args.workspace, args.packed}, task);
    });
  }
};

/// Returns where an engine adds no residual: over all of its result.
Stage add_residual(const ConvShape& s, Activation activation) {
  const std::int64_t pixels = s.n * s.out_pixels();
  const int tasks = tasks_for(pixels, 0.3 * static_cast<double>(s.co));
  return parallel(tasks, pixels, [=](const Args& args, Range rows) {
    add_bias_and_activate(args.out(Conv2dNormOp::Out::y) + rows.begin * s.co, rows.size(), s.co,
                          nullptr, activation, s.co,
                          static_cast<const float*>(args.inputs.back()) + rows.begin * s.co);
  });
}

std::optional<Kernel> folded_kernel(Folding folding, const ConvEngine& engine, bool keeps_weights) {
  const ConvShape& s = folding.shape;
  const BatchNormAttrs& norm = folding.attrs.norm;
  const bool later = norm.residual && !engine.adds_residual;
  std::optional<Kernel> conv =
      engine.forward(s, {.bias = true,
                         .activation = later ? Activation::none : norm.activation,
                         .residual = norm.residual && !later,
                         .keeps_weights = keeps_weights});
  if (!conv) return std::nullopt;
  const int folders = tasks_for(s.co, 0.2 * static_cast<double>(s.taps()));
  Kernel kernel;
  kernel.engine = conv->engine;
  kernel.scratch_bytes = conv->scratch_bytes;
  folding.repacked = !conv->packing.empty();
  folding.workspace_at = align_up(conv->workspace_bytes);
  folding.packed_at = align_up(conv->packed_bytes);
  kernel.workspace_bytes = folding.workspace_end();
  kernel.packed_bytes = folding.packed_end();
  kernel.packed_operands = {In::w};
  if (folding.attrs.conv.bias) kernel.packed_operands.push_back(In::b);
  for (const Norm operand : {Norm::gamma, Norm::beta, Norm::running_mean, Norm::running_var}) {
    kernel.packed_operands.push_back(Conv2dNormOp(folding.attrs).norm_input(operand));
  }
  kernel.packing.push_back(
      parallel(folders, s.co, [=](const Args& args, Range range) { folding.fold(args, range); }));
  for (Stage& stage : conv->packing) kernel.packing.push_back(folding.on_folded(std::move(stage)));
  for (Stage& stage : conv->stages) kernel.stages.push_back(folding.on_folded(std::move(stage)));
  if (later) kernel.stages.push_back(add_residual(s, norm.activation));
  return kernel;
}

std::vector<Candidate> candidates(const NodeView& node) {
  const Conv2dNormAttrs& attrs = node.attrs<Conv2dNormOp>();
  const Folding folding{conv_shape(attrs.conv, node.in(In::x), node.in(In::w), ""), attrs};
  return forward_candidates(folding.shape, node.fixed(In::w),
                            [=](const ConvEngine& engine, bool keeps_weights) {
                              return folded_kernel(folding, engine, keeps_weights);
                            });
}

}  // namespace

void register_conv2d_norm(Registry& registry) {
  registry.add_fp32_only(Conv2dNormOp::kName, candidates);
}

}  // namespace linnet::cpu
