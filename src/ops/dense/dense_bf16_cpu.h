// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cpu/kernel.h"

namespace linnet::cpu {

/// Kernels of DenseOp and its gradients on oneDNN's bfloat16 products: operands 0 and 1 are
/// bfloat16s. Null where oneDNN has none, e.g. on every processor without such arithmetic.
std::optional<Kernel> prepare_dense_bf16(const NodeView& node);
std::optional<Kernel> prepare_dense_grad_input_bf16(const NodeView& node);
std::optional<Kernel> prepare_dense_grad_weight_bf16(const NodeView& node);

}  // namespace linnet::cpu
