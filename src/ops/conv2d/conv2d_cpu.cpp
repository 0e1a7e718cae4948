// SPDX-License-Identifier: Apache-2.0
#include <array>

#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

/// Which engine is tried first, as measured on Zen 3 with Debian's oneDNN 2.6 (docs/cpu.md): oneDNN
/// wins where a matrix product would be thin (few channels, groups), own products elsewhere.
bool thin(const ConvShape& s) { return s.attrs.groups > 1 || s.c < 16; }

bool whole_vectors(const ConvShape& s) { return s.c % 8 == 0 && s.co % 8 == 0; }

/// oneDNN's weight gradient walks over pixels: it wants many of them.
bool many_pixels(const ConvShape& s) { return s.out_pixels() >= 16; }

/// The first kernel that one of the engines has, pointwise products before all.
template <class Try>
std::optional<Kernel> first(bool onednn_first, Try try_engine) {
  const std::array<const ConvEngine*, 4> order{&pointwise_engine(),
                                               onednn_first ? &onednn_engine()
                                                            : &depthwise_engine(),
                                               &depthwise_engine(), &im2col_engine()};
  for (const ConvEngine* engine : order) {
    if (std::optional<Kernel> kernel = try_engine(*engine)) return kernel;
  }
  return std::nullopt;
}

std::optional<Kernel> native_forward(const NodeView& node) {
  const Conv2dAttrs& attrs = node.attrs<Conv2dOp>();
  return onednn_bf16_engine().forward(conv_shape(attrs, node.in(0), node.in(1), ""),
                                      {attrs.bias, attrs.activation});
}

std::optional<Kernel> native_grad_input(const NodeView& node) {
  const auto& op = static_cast<const Conv2dGradInputOp&>(node.op);
  return onednn_bf16_engine().grad_input(op.shape(node.in(0), node.in(1)));
}

std::optional<Kernel> native_grad_weight(const NodeView& node) {
  const auto& op = static_cast<const Conv2dGradWeightOp&>(node.op);
  return onednn_bf16_engine().grad_weight(op.shape(node.in(0), node.in(1)));
}

std::optional<Kernel> prepare_forward(const NodeView& node) {
  const Conv2dAttrs& attrs = node.attrs<Conv2dOp>();
  const ConvShape s = conv_shape(attrs, node.in(0), node.in(1), "");
  return first(thin(s), [&](const ConvEngine& engine) {
    return engine.forward(s, {attrs.bias, attrs.activation});
  });
}

std::optional<Kernel> prepare_grad_input(const NodeView& node) {
  const auto& op = static_cast<const Conv2dGradInputOp&>(node.op);
  const ConvShape s = op.shape(node.in(0), node.in(1));
  return first(s.attrs.groups > 1 || whole_vectors(s),
               [&](const ConvEngine& engine) { return engine.grad_input(s); });
}

std::optional<Kernel> prepare_grad_weight(const NodeView& node) {
  const auto& op = static_cast<const Conv2dGradWeightOp&>(node.op);
  const ConvShape s = op.shape(node.in(0), node.in(1));
  return first(many_pixels(s) && (thin(s) || whole_vectors(s)),
               [&](const ConvEngine& engine) { return engine.grad_weight(s); });
}

}  // namespace

void register_conv2d(Registry& registry) {
  registry.add_product(Conv2dOp::kName, prepare_forward, native_forward);
  registry.add_product(Conv2dGradInputOp::kName, prepare_grad_input, native_grad_input);
  registry.add_product(Conv2dGradWeightOp::kName, prepare_grad_weight, native_grad_weight);
}

}  // namespace linnet::cpu
