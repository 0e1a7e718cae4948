// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "backend/cpu/kernel.h"

namespace linnet::cpu {

/// Adds the CPU's kernels in double precision (Numbers::f64): own ones for what costs time, and
/// the references of other operators. An operator that is not among them has none.
void register_f64_kernels(Registry& registry);

/// Adds those of dense layers and products of matrices.
void register_f64_products(Registry& registry);

}  // namespace linnet::cpu
