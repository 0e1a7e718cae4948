// SPDX-License-Identifier: Apache-2.0
#include <initializer_list>

#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

// Which engine is asked first, as measured on Zen 3 with Debian's oneDNN 2.6 (docs/cpu.md): oneDNN
// where patches or columns are thin, own products elsewhere.

/// oneDNN's kernels for few channels and for groups.
bool thin(const ConvShape& s) { return s.attrs.groups > 1 || s.c < 16; }

/// Patches of so few products that a row of a direct sum is shorter than its overhead.
bool short_patches(const ConvShape& s) { return s.attrs.groups > 1 || s.taps() < 27; }

/// oneDNN's weight gradient walks over pixels: it wants many of them.
bool many_pixels(const ConvShape& s) { return s.out_pixels() >= 16; }

/// The first kernel that one of the engines has.
template <class Try>
std::optional<Kernel> first(std::initializer_list<const ConvEngine*> engines, Try try_engine) {
  for (const ConvEngine* engine : engines) {
    if (std::optional<Kernel> kernel = try_engine(*engine)) return kernel;
  }
  return try_engine(im2col_engine());
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
  const auto kernel = [&](const ConvEngine& engine) {
    return engine.forward(s, {attrs.bias, attrs.activation});
  };
  if (short_patches(s)) {
    return first({&pointwise_engine(), &onednn_engine(), &depthwise_engine()}, kernel);
  }
  return first({&pointwise_engine(), &direct_engine()}, kernel);
}

std::optional<Kernel> prepare_grad_input(const NodeView& node) {
  const auto& op = static_cast<const Conv2dGradInputOp&>(node.op);
  const ConvShape s = op.shape(node.in(0), node.in(1));
  const auto kernel = [&](const ConvEngine& engine) { return engine.grad_input(s); };
  constexpr std::int64_t kVector = 8;
  if (s.attrs.groups > 1 || s.c < kVector) {
    return first({&pointwise_engine(), &onednn_engine(), &depthwise_engine()}, kernel);
  }
  return first({&pointwise_engine(), &direct_engine()}, kernel);
}

std::optional<Kernel> prepare_grad_weight(const NodeView& node) {
  const auto& op = static_cast<const Conv2dGradWeightOp&>(node.op);
  const ConvShape s = op.shape(node.in(0), node.in(1));
  const auto kernel = [&](const ConvEngine& engine) { return engine.grad_weight(s); };
  if (many_pixels(s) && thin(s)) {
    return first({&pointwise_engine(), &onednn_engine(), &depthwise_engine()}, kernel);
  }
  return first({&pointwise_engine(), &direct_engine()}, kernel);
}

}  // namespace

void register_conv2d(Registry& registry) {
  registry.add_product(Conv2dOp::kName, prepare_forward, native_forward);
  registry.add_product(Conv2dGradInputOp::kName, prepare_grad_input, native_grad_input);
  registry.add_product(Conv2dGradWeightOp::kName, prepare_grad_weight, native_grad_weight);
}

}  // namespace linnet::cpu
