// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d_norm/conv2d_norm.h"

#include <array>
#include <cmath>

#include "core/align.h"
#include "ops/activation/epilogue_cpu.h"
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

/// The workspace: folded weights, folded bias, then the engine's own.
struct Folding {
  ConvShape shape;
  Conv2dNormAttrs attrs;

  std::size_t bias_at() const {
    return align_up(sizeof(float) * static_cast<std::size_t>(shape.weights()));
  }
  std::size_t end() const {
    return bias_at() + align_up(sizeof(float) * static_cast<std::size_t>(shape.co));
  }
  /// The norm's first operand behind its x.
  std::size_t gamma() const { return attrs.conv.bias ? 3 : 2; }

  /// w gamma / std and beta + (b - mean) gamma / std, of output channels `channels`.
  void fold(const Args& args, Range channels) const {
    const auto epsilon = static_cast<float>(attrs.norm.epsilon);
    for (std::int64_t o = channels.begin; o < channels.end; ++o) {
      const std::size_t g = gamma();
      const float factor = args.in(g)[o] / std::sqrt(args.in(g + 3)[o] + epsilon);
      const float before = attrs.conv.bias ? args.in(2)[o] : 0.0F;
      args.work(bias_at())[o] = args.in(g + 1)[o] + (before - args.in(g + 2)[o]) * factor;
      const float* w = args.in(1) + o * shape.taps();
      float* folded = args.work() + o * shape.taps();
      for (std::int64_t t = 0; t < shape.taps(); ++t) folded[t] = w[t] * factor;
    }
  }

  /// A stage of a convolution's kernel on the folded operands.
  Stage on_folded(Stage stage) const {
    return {stage.tasks, [run = std::move(stage.run), bias_at = bias_at(),
                          end = end()](const Args& args, const Task& task) {
              const std::array<void*, 4> inputs{args.inputs[0], args.workspace,
                                                args.workspace + bias_at, args.inputs.back()};
              run({inputs, args.outputs, args.workspace + end}, task);
            }};
  }
};

/// Where an engine adds no residual: over all of its result.
Stage add_residual(const ConvShape& s, Activation activation) {
  const std::int64_t pixels = s.n * s.out_pixels();
  const int tasks = tasks_for(pixels, 0.3 * static_cast<double>(s.co));
  return {tasks, [=](const Args& args, const Task& task) {
            const Range rows = split(pixels, tasks, task.index);
            add_bias_and_activate(args.out(0) + rows.begin * s.co, rows.size(), s.co, nullptr,
                                  activation, s.co,
                                  static_cast<const float*>(args.inputs.back()) +
                                      rows.begin * s.co);
          }};
}

std::optional<Kernel> folded_kernel(const Folding& folding, const ConvEngine& engine) {
  const ConvShape& s = folding.shape;
  const BatchNormAttrs& norm = folding.attrs.norm;
  const bool later = norm.residual && !engine.adds_residual;
  std::optional<Kernel> conv =
      engine.forward(s, {.bias = true,
                         .activation = later ? Activation::none : norm.activation,
                         .residual = norm.residual && !later});
  if (!conv) return std::nullopt;
  const int folders = tasks_for(s.co, 0.2 * static_cast<double>(s.taps()));
  Kernel kernel;
  kernel.engine = conv->engine;
  kernel.scratch_bytes = conv->scratch_bytes;
  kernel.workspace_bytes = folding.end() + conv->workspace_bytes;
  kernel.stages.push_back({folders, [=](const Args& args, const Task& task) {
                             folding.fold(args, split(s.co, folders, task.index));
                           }});
  for (Stage& stage : conv->stages) kernel.stages.push_back(folding.on_folded(std::move(stage)));
  if (later) kernel.stages.push_back(add_residual(s, norm.activation));
  return kernel;
}

std::vector<Candidate> candidates(const NodeView& node) {
  const Conv2dNormAttrs& attrs = node.attrs<Conv2dNormOp>();
  const Folding folding{conv_shape(attrs.conv, node.in(0), node.in(1), ""), attrs};
  return forward_candidates(folding.shape, [folding](const ConvEngine& engine) {
    return folded_kernel(folding, engine);
  });
}

}  // namespace

void register_conv2d_norm(Registry& registry) {
  registry.add_fp32_only(Conv2dNormOp::kName, candidates);
}

}  // namespace linnet::cpu
