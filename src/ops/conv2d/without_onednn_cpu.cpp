// SPDX-License-Identifier: Apache-2.0
// In a build without oneDNN (LINNET_ONEDNN=OFF) its engines take no convolution.
#include "ops/conv2d/engine_cpu.h"

namespace linnet::cpu {
namespace {

constexpr ConvEngine kMissing{
    .name = "onednn",
    .forward = [](const ConvShape&, const ConvTail&) { return std::optional<Kernel>(); },
    .grad_input = [](const ConvShape&) { return std::optional<Kernel>(); },
    .grad_weight = [](const ConvShape&) { return std::optional<Kernel>(); }};

}  // namespace

const ConvEngine& onednn_engine() { return kMissing; }

const ConvEngine& onednn_bf16_engine() { return kMissing; }

}  // namespace linnet::cpu
