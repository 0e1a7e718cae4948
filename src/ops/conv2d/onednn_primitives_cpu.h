// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <optional>

#include "backend/cpu/onednn.h"
#include "ops/conv2d/conv2d.h"

namespace linnet::cpu {

enum class ConvDirection : std::uint8_t { forward, grad_input, grad_weight };

/// A oneDNN convolution for a fixed number of samples: images in nhwc, weights as it likes them.
/// The two operands are of one type, f32 or bf16; bias and result are f32.
struct OneDnnConvolution {
  dnnl::primitive primitive;
  dnnl::memory::desc image_in;   ///< x or dx
  dnnl::memory::desc weights;    ///< w or dw
  dnnl::memory::desc image_out;  ///< y or dz
  dnnl::memory::desc bias;
  dnnl::memory::desc scratchpad;  ///< the caller's, see execute
};

/// Returns where oneDNN has nothing better than a naive loop: null. Call within SequentialOpenMp.
std::optional<OneDnnConvolution> make_convolution(const dnnl::engine& engine,
                                                  ConvDirection direction, const ConvShape& shape,
                                                  bool bias, dnnl::memory::data_type operands);

/// Returns the weights as Linnet keeps them: (C_out, KH, KW, C/groups).
dnnl::memory::desc plain_weights(const ConvShape& shape, dnnl::memory::data_type type);

}  // namespace linnet::cpu
