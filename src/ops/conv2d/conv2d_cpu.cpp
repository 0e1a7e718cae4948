// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "backend/cpu/products/bf16_tiles.h"
#include "backend/cpu/products/dot_product.h"
#include "backend/cpu/products/rounded_operands.h"
#include "ops/conv2d/bf16_engine_cpu.h"

namespace linnet::cpu {
namespace {

// Which engine is asked first, as measured on Zen 3 with Debian's oneDNN 2.6 (docs/notes/): oneDNN
// where patches or columns are thin, own products elsewhere.

/// oneDNN's kernels for few channels and for groups.
bool thin(const ConvShape& s) { return s.attrs.groups > 1 || s.c < 16; }

/// So few results of a pixel that the direct engine sums along the terms.
bool few_results(const ConvShape& s) {
  return s.attrs.groups == 1 && dot_product_pays(s.kh, s.kw * s.c, s.co);
}
bool few_gradients(const ConvShape& s) {
  const Conv2dAttrs& a = s.attrs;
  return a.groups == 1 && a.dilation_h == 1 && a.dilation_w == 1 &&
         dot_product_pays(s.kh / a.stride_h, s.kw / a.stride_w * s.co, s.c);
}

/// Patches of so few products that a row of a direct sum is shorter than its overhead.
bool short_patches(const ConvShape& s) { return s.attrs.groups > 1 || s.taps() < 27; }

/// Packing the weights would cost more than oneDNN's slower sums.
bool few_pixels(const ConvShape& s) { return s.n * s.out_pixels() < 128; }

/// Packing weights takes a part of the time that is worth memory: each meets few pixels.
bool packing_counts(const ConvShape& s) { return s.n * s.out_pixels() <= 8192; }

/// oneDNN's weight gradient walks over pixels: it wants many of them.
bool many_pixels(const ConvShape& s) { return s.out_pixels() >= 16; }

using Engines = std::vector<const ConvEngine*>;

/// For few channels and for groups.
Engines thin_first() {
  return {&pointwise_engine(), &whole_image_engine(), &grouped_engine(), &joined_pixels_engine(),
          &onednn_engine(),    &depthwise_engine(),   &im2col_engine()};
}

/// oneDNN's threads share samples, of which one has nothing to share, and it has no good weight
/// gradients of depthwise kernels larger than 3x3.
Engines depthwise_before(Engines others) {
  std::erase(others, &depthwise_engine());
  others.insert(others.begin(), &depthwise_engine());
  return others;
}
Engines thin_first(const ConvShape& s) {
  return s.n == 1 ? depthwise_before(thin_first()) : thin_first();
}

/// Returns every engine as a candidate, those of `first` before the others in their usual order;
/// those after im2col, which takes everything, are there to be measured alone. `prepare` gives an
/// engine's kernel.
template <class Prepare>
std::vector<Candidate> candidates(Engines first, Prepare prepare) {
  for (const ConvEngine* engine :
       {&whole_image_engine(), &winograd_engine(), &direct_engine(), &pointwise_engine(),
        &im2col_engine(), &onednn_engine(), &depthwise_engine(), &grouped_engine(),
        &joined_pixels_engine()}) {
    if (std::find(first.begin(), first.end(), engine) == first.end()) first.push_back(engine);
  }
  std::vector<Candidate> all;
  for (const ConvEngine* engine : first) {
    all.push_back({engine->name, [=] { return prepare(*engine); }});
  }
  return all;
}

/// oneDNN's kernel, which finds both operands as bfloat16s.
std::optional<Kernel> on_halves(const NodeView& node, std::optional<Kernel> kernel) {
  if (!kernel) return std::nullopt;
  kernel->engine = "onednn";
  return with_rounded_operands(node, std::move(*kernel), {kFirst, kSecond}, KeptAs::bf16);
}

std::optional<Kernel> native_forward(const NodeView& node) {
  using In = Conv2dOp::In;
  const Conv2dAttrs& attrs = node.attrs<Conv2dOp>();
  const ConvShape s = conv_shape(attrs, node.in(In::x), node.in(In::w), "");
  const ConvTail tail{.bias = attrs.bias, .activation = attrs.activation};
  if (own_bf16_products() && stores_only(node, {In::x}, {kFirst})) {
    const Bf16Storage stored{.x = Stored(node.inputs[In::x]), .y = Stored(node.outputs[kFirst])};
    std::optional<Kernel> kernel = bf16_forward(s, stored, attrs.activation, bf16_bias(attrs.bias));
    if (kernel) return kernel;
  }
  if (stores_bf16(node)) return std::nullopt;
  return on_halves(node, onednn_bf16_engine().forward(s, tail));
}

std::optional<Kernel> native_grad_input(const NodeView& node) {
  using In = Conv2dGradInputOp::In;
  const auto& op = static_cast<const Conv2dGradInputOp&>(node.op);
  const ConvShape s = op.shape(node.in(In::dz), node.in(In::w));
  if (own_bf16_products() && stores_only(node, {In::dz}, {kFirst})) {
    std::optional<Kernel> kernel =
        bf16_input_gradient(s, Stored(node.inputs[In::dz]), Stored(node.outputs[kFirst]));
    if (kernel) return kernel;
  }
  if (stores_bf16(node)) return std::nullopt;
  return on_halves(node, onednn_bf16_engine().grad_input(s));
}

std::optional<Kernel> native_grad_weight(const NodeView& node) {
  using In = Conv2dGradWeightOp::In;
  const auto& op = static_cast<const Conv2dGradWeightOp&>(node.op);
  const ConvShape s = op.shape(node.in(In::x), node.in(In::dz));
  if (own_bf16_products() && stores_only(node, {In::x, In::dz}, {})) {
    std::optional<Kernel> kernel =
        bf16_weight_gradient(s, {.x = In::x,
                                 .dz = In::dz,
                                 .stored_x = Stored(node.inputs[In::x]),
                                 .stored_dz = Stored(node.inputs[In::dz])});
    if (kernel) return kernel;
  }
  if (stores_bf16(node)) return std::nullopt;
  if (!many_pixels(s)) return std::nullopt;  // three to ten times the time of fp32's engines
  return on_halves(node, onednn_bf16_engine().grad_weight(s));
}

std::vector<Candidate> forward(const NodeView& node) {
  using In = Conv2dOp::In;
  const Conv2dAttrs& attrs = node.attrs<Conv2dOp>();
  const ConvShape s = conv_shape(attrs, node.in(In::x), node.in(In::w), "");
  return forward_candidates(s, node.fixed(In::w),
                            [=](const ConvEngine& engine, bool keeps_weights) {
                              return engine.forward(s, {.bias = attrs.bias,
                                                        .activation = attrs.activation,
                                                        .keeps_weights = keeps_weights});
                            });
}

std::vector<Candidate> grad_input(const NodeView& node) {
  using In = Conv2dGradInputOp::In;
  const auto& op = static_cast<const Conv2dGradInputOp&>(node.op);
  const ConvShape s = op.shape(node.in(In::dz), node.in(In::w));
  constexpr std::int64_t kVector = 8;
  const auto prepare = [=](const ConvEngine& engine) { return engine.grad_input(s); };
  if (few_gradients(s)) {
    // Each phase of a stride copies borders and visits pixels of its own.
    const bool phases = s.attrs.stride_h > 1 || s.attrs.stride_w > 1;
    return candidates({phases ? &im2col_engine() : &direct_engine()}, prepare);
  }
  return candidates(s.attrs.groups > 1 || s.c < kVector ? thin_first(s) : Engines{}, prepare);
}

std::vector<Candidate> grad_weight(const NodeView& node) {
  using In = Conv2dGradWeightOp::In;
  const auto& op = static_cast<const Conv2dGradWeightOp&>(node.op);
  const ConvShape s = op.shape(node.in(In::x), node.in(In::dz));
  const Engines first = many_pixels(s) && thin(s) ? thin_first() : Engines{&pointwise_engine()};
  return candidates(depthwise_before(first),
                    [=](const ConvEngine& engine) { return engine.grad_weight(s); });
}

}  // namespace

std::vector<Candidate> forward_candidates(const ConvShape& shape, bool fixed_weights,
                                          const PrepareForward& prepare) {
  const bool keeps_weights = fixed_weights && packing_counts(shape);
  const auto kernel_of = [=](const ConvEngine& engine) {
    std::optional<Kernel> kernel = prepare(engine, keeps_weights);
    return kernel && !keeps_weights ? packed_in_each_run(std::move(*kernel)) : kernel;
  };
  if (few_results(shape)) return candidates({&direct_engine()}, kernel_of);
  if (short_patches(shape)) return candidates(thin_first(shape), kernel_of);
  const bool packing_costs = few_pixels(shape) && !keeps_weights;
  return candidates(packing_costs ? Engines{&pointwise_engine()} : Engines{}, kernel_of);
}

void register_conv2d(Registry& registry) {
  registry.add_product(Conv2dOp::kName, forward, native_forward, Stores::bf16);
  registry.add_product(Conv2dGradInputOp::kName, grad_input, native_grad_input, Stores::bf16);
  registry.add_product(Conv2dGradWeightOp::kName, grad_weight, native_grad_weight, Stores::bf16);
}

}  // namespace linnet::cpu
