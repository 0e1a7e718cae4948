// SPDX-License-Identifier: Apache-2.0
#include "fusions/conv2d_norm/conv2d_norm.h"

#include <array>
#include <cmath>

#include "backend/cpu/products/bf16_tiles.h"
#include "backend/cpu/products/rounded_operands.h"
#include "core/align.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/bf16_engine_cpu.h"

namespace linnet::cpu {
namespace {

using In = Conv2dNormOp::In;
using Norm = BatchNormInferenceOp::In;

/// The norm of an output channel, after the convolution's bias: factor sum + bias.
struct Affine {
  float factor = 1;
  float bias = 0;
};

Affine affine_of(const Conv2dNormAttrs& attrs, const Args& args, std::int64_t channel) {
  const Conv2dNormOp op(attrs);
  const auto of = [&](Norm operand) { return args.in(op.norm_input(operand))[channel]; };
  const auto epsilon = static_cast<float>(attrs.norm.epsilon);
  const float factor = of(Norm::gamma) / std::sqrt(of(Norm::running_var) + epsilon);
  const float before = attrs.conv.bias ? args.in(In::b)[channel] : 0.0F;
  return {factor, of(Norm::beta) + (before - of(Norm::running_mean)) * factor};
}

/// Returns all operands that don't change from image to image.
std::vector<std::size_t> packed_operands(const Conv2dNormAttrs& attrs) {
  std::vector<std::size_t> operands{In::w};
  if (attrs.conv.bias) operands.push_back(In::b);
  for (const Norm operand : {Norm::gamma, Norm::beta, Norm::running_mean, Norm::running_var}) {
    operands.push_back(Conv2dNormOp(attrs).norm_input(operand));
  }
  return operands;
}

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
    for (std::int64_t o = channels.begin; o < channels.end; ++o) {
      const Affine affine = affine_of(attrs, args, o);
      bias(args)[o] = affine.bias;
      const float* w = args.in(In::w) + o * shape.taps();
      float* folded = weights(args) + o * shape.taps();
      for (std::int64_t t = 0; t < shape.taps(); ++t) folded[t] = w[t] * affine.factor;
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
  kernel.packed_operands = packed_operands(folding.attrs);
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

/// The norm's factors and biases, one after the other, of channels [0, s.co).
void find_affine(const Conv2dNormAttrs& attrs, const Args& args, std::int64_t channels, float* to) {
  for (std::int64_t o = 0; o < channels; ++o) {
    const Affine affine = affine_of(attrs, args, o);
    to[o] = affine.factor;
    to[channels + o] = affine.bias;
  }
}

const void* residual_of(const Conv2dNormAttrs& attrs, const Args& args) {
  return attrs.norm.residual ? args.inputs.back() : nullptr;
}

std::optional<Kernel> on_bf16_tiles(const NodeView& node, const Conv2dNormAttrs& attrs,
                                    const ConvShape& s) {
  const Bf16Storage stored{.x = Stored(node.inputs[In::x]), .y = Stored(node.outputs[kFirst])};
  if (attrs.norm.residual && Stored(node.inputs.back()).bf16() != stored.y.bf16()) {
    return std::nullopt;
  }
  std::optional<Kernel> kernel = bf16_forward(
      s, stored, attrs.norm.activation, [=](const Args& args, const std::byte* packed) {
        const auto* scale = reinterpret_cast<const float*>(packed);
        return Bf16Tail{.scale = scale, .bias = scale + s.co, .residual = residual_of(attrs, args)};
      });
  if (!kernel) return std::nullopt;
  const std::size_t at = kernel->packed_bytes;
  kernel->packed_bytes += sizeof(float) * static_cast<std::size_t>(2 * s.co);
  kernel->packed_operands = packed_operands(attrs);
  kernel->packing.push_back(
      parallel(1, [=](const Args& args) { find_affine(attrs, args, s.co, args.pack(at)); }));
  return kernel;
}

/// oneDNN's convolution, then the norm over all of its result.
std::optional<Kernel> on_onednn_bf16(const NodeView& node, const Conv2dNormAttrs& attrs,
                                     const ConvShape& s) {
  std::optional<Kernel> conv = onednn_bf16_engine().forward(s, {});
  if (!conv) return std::nullopt;
  Kernel kernel = with_rounded_operands(node, std::move(*conv), {In::x, In::w}, KeptAs::bf16);
  kernel.engine = "onednn";
  kernel.scratch_bytes =
      std::max(kernel.scratch_bytes, sizeof(float) * static_cast<std::size_t>(2 * s.co));
  const std::int64_t pixels = s.n * s.out_pixels();
  const int tasks = tasks_for(pixels, 0.3 * static_cast<double>(s.co));
  kernel.stages.push_back(
      parallel(tasks, pixels, [=](const Args& args, const Task& task, Range rows) {
        auto* scale = reinterpret_cast<float*>(task.scratch);
        find_affine(attrs, args, s.co, scale);
        const auto* residual = static_cast<const float*>(residual_of(attrs, args));
        const std::int64_t first = rows.begin * s.co;
        float* y = args.out(Conv2dNormOp::Out::y) + first;
        scale_columns(y, rows.size(), s.co, s.co, scale);
        add_bias_and_activate(y, rows.size(), s.co, scale + s.co, attrs.norm.activation, s.co,
                              residual == nullptr ? nullptr : residual + first);
      }));
  return kernel;
}

/// In bf16 weights are not rounded after they are scaled: sums are scaled instead, in f32.
std::optional<Kernel> in_bf16(const NodeView& node) {
  const Conv2dNormAttrs& attrs = node.attrs<Conv2dNormOp>();
  const ConvShape s = conv_shape(attrs.conv, node.in(In::x), node.in(In::w), "");
  const std::size_t residual = attrs.norm.residual ? node.inputs.size() - 1 : std::size_t{In::x};
  if (own_bf16_products() && stores_only(node, {In::x, residual}, {kFirst})) {
    return on_bf16_tiles(node, attrs, s);
  }
  return stores_bf16(node) ? std::nullopt : on_onednn_bf16(node, attrs, s);
}

}  // namespace

void register_conv2d_norm(Registry& registry) {
  // On rounded weights folding rounds no more than in fp32.
  registry.add_product(Conv2dNormOp::kName, candidates, in_bf16, Stores::bf16);
}

}  // namespace linnet::cpu
