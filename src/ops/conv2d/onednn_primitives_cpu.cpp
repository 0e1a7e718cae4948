// SPDX-License-Identifier: Apache-2.0
#include "ops/conv2d/onednn_primitives_cpu.h"

#include <string_view>

namespace linnet::cpu {
namespace {

using dnnl::memory;
using Tag = memory::format_tag;
constexpr auto kF32 = memory::data_type::f32;
constexpr auto kAlgorithm = dnnl::algorithm::convolution_direct;
constexpr auto kForward = dnnl::prop_kind::forward_inference;

/// The geometry as oneDNN describes it.
struct Problem {
  memory::desc x, w, b, y;
  memory::dims strides, dilations, pad_before, pad_after;
};

memory::dims weight_dims(const ConvShape& s) {
  if (s.attrs.groups == 1) return {s.co, s.c, s.kh, s.kw};
  return {s.attrs.groups, s.group_out(), s.group_in(), s.kh, s.kw};
}

/// Returns what `direction` reads is of type `operands`, what it writes f32.
Problem describe(const ConvShape& s, ConvDirection direction, memory::data_type operands) {
  const Conv2dAttrs& a = s.attrs;
  const auto type = [&](ConvDirection writer) { return direction == writer ? kF32 : operands; };
  return {.x = {{s.n, s.c, s.h, s.w}, type(ConvDirection::grad_input), Tag::nhwc},
          .w = {weight_dims(s), type(ConvDirection::grad_weight), Tag::any},
          .b = {{s.co}, kF32, Tag::x},
          .y = {{s.n, s.co, s.oh, s.ow}, type(ConvDirection::forward), Tag::nhwc},
          .strides = {a.stride_h, a.stride_w},
          .dilations = {a.dilation_h - 1, a.dilation_w - 1},
          .pad_before = {a.pad_top, a.pad_left},
          // oneDNN wants exactly the padding that the last window reaches; negative cuts pixels.
          .pad_after = {(s.oh - 1) * a.stride_h + (s.kh - 1) * a.dilation_h + 1 - s.h - a.pad_top,
                        (s.ow - 1) * a.stride_w + (s.kw - 1) * a.dilation_w + 1 - s.w -
                            a.pad_left}};
}

dnnl::primitive_attr user_scratchpad() {
  dnnl::primitive_attr attr;
  attr.set_scratchpad_mode(dnnl::scratchpad_mode::user);
  return attr;
}

using ForwardPd = dnnl::convolution_forward::primitive_desc;
using InputPd = dnnl::convolution_backward_data::primitive_desc;
using WeightPd = dnnl::convolution_backward_weights::primitive_desc;

#if DNNL_VERSION_MAJOR >= 3

ForwardPd forward_pd(const dnnl::engine& engine, const Problem& p, bool bias) {
  return bias ? ForwardPd(engine, kForward, kAlgorithm, p.x, p.w, p.b, p.y, p.strides, p.dilations,
                          p.pad_before, p.pad_after, user_scratchpad())
              : ForwardPd(engine, kForward, kAlgorithm, p.x, p.w, p.y, p.strides, p.dilations,
                          p.pad_before, p.pad_after, user_scratchpad());
}

InputPd input_pd(const dnnl::engine& engine, const Problem& p, const ForwardPd& hint) {
  return {engine,           kAlgorithm,  p.x,          p.w,         p.y,
          p.strides,        p.dilations, p.pad_before, p.pad_after, hint,
          user_scratchpad()};
}

WeightPd weight_pd(const dnnl::engine& engine, const Problem& p, const ForwardPd& hint) {
  return {engine,           kAlgorithm,  p.x,          p.w,         p.y,
          p.strides,        p.dilations, p.pad_before, p.pad_after, hint,
          user_scratchpad()};
}

#else

ForwardPd forward_pd(const dnnl::engine& engine, const Problem& p, bool bias) {
  using Desc = dnnl::convolution_forward::desc;
  const Desc desc = bias ? Desc(kForward, kAlgorithm, p.x, p.w, p.b, p.y, p.strides, p.dilations,
                                p.pad_before, p.pad_after)
                         : Desc(kForward, kAlgorithm, p.x, p.w, p.y, p.strides, p.dilations,
                                p.pad_before, p.pad_after);
  return {desc, user_scratchpad(), engine};
}

InputPd input_pd(const dnnl::engine& engine, const Problem& p, const ForwardPd& hint) {
  const dnnl::convolution_backward_data::desc desc(kAlgorithm, p.x, p.w, p.y, p.strides,
                                                   p.dilations, p.pad_before, p.pad_after);
  return {desc, user_scratchpad(), engine, hint};
}

WeightPd weight_pd(const dnnl::engine& engine, const Problem& p, const ForwardPd& hint) {
  const dnnl::convolution_backward_weights::desc desc(kAlgorithm, p.x, p.w, p.y, p.strides,
                                                      p.dilations, p.pad_before, p.pad_after);
  return {desc, user_scratchpad(), engine, hint};
}

#endif

bool naive(std::string_view implementation) {
  return implementation.find("ref") != std::string_view::npos;
}

}  // namespace

memory::desc plain_weights(const ConvShape& shape, memory::data_type type) {
  return {weight_dims(shape), type, shape.attrs.groups == 1 ? Tag::ohwi : Tag::gohwi};
}

std::optional<OneDnnConvolution> make_convolution(const dnnl::engine& engine,
                                                  ConvDirection direction, const ConvShape& shape,
                                                  bool bias, memory::data_type operands) {
  try {
    const Problem p = describe(shape, direction, operands);
    const auto hint = [&] {
      return forward_pd(engine, describe(shape, ConvDirection::forward, operands), false);
    };
    switch (direction) {
      case ConvDirection::forward: {
        const ForwardPd pd = forward_pd(engine, p, bias);
        if (naive(pd.impl_info_str())) return std::nullopt;
        return OneDnnConvolution{dnnl::convolution_forward(pd), p.x, pd.weights_desc(), p.y, p.b,
                                 pd.scratchpad_desc()};
      }
      case ConvDirection::grad_input: {
        const InputPd pd = input_pd(engine, p, hint());
        if (naive(pd.impl_info_str())) return std::nullopt;
        return OneDnnConvolution{dnnl::convolution_backward_data(pd),
                                 p.x,
                                 pd.weights_desc(),
                                 p.y,
                                 p.b,
                                 pd.scratchpad_desc()};
      }
      case ConvDirection::grad_weight: {
        const WeightPd pd = weight_pd(engine, p, hint());
        if (naive(pd.impl_info_str())) return std::nullopt;
        return OneDnnConvolution{dnnl::convolution_backward_weights(pd),
                                 p.x,
                                 pd.diff_weights_desc(),
                                 p.y,
                                 p.b,
                                 pd.scratchpad_desc()};
      }
    }
  } catch (const dnnl::error&) {
    // Not a shape that oneDNN takes: the caller has other engines.
  }
  return std::nullopt;
}

}  // namespace linnet::cpu
