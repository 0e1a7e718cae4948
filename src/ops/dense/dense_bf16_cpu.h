// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cpu/kernel.h"

namespace linnet::cpu {

/// Kernels of DenseOp and its gradients on bfloat16 products: own ones where the processor has
/// VDPBF16PS (own_bf16_products()), else oneDNN's. Null where there are none.
std::optional<Kernel> prepare_dense_bf16(const NodeView& node);
std::optional<Kernel> prepare_dense_grad_input_bf16(const NodeView& node);
std::optional<Kernel> prepare_dense_grad_weight_bf16(const NodeView& node);

}  // namespace linnet::cpu
