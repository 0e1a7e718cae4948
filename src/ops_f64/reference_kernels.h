// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>

#include "backend/cpu/kernel.h"

// Kernels that run an operator's reference, its definition in double precision, on the values in
// memory: every operator has one.
namespace linnet::cpu {

/// Returns a kernel of one task that runs the reference once.
std::optional<Kernel> reference_whole(const NodeView& node);

/// Returns the same in pieces of elements, for an operator whose operands and results are of one
/// shape and which computes each element from those at its place; else reference_whole().
std::optional<Kernel> reference_of_elements(const NodeView& node);

/// Returns the same in pieces of a batch, for an operator that computes sample by sample: operands
/// and results of two or more axes whose first has the batch's dimension are cut along it.
std::optional<Kernel> reference_of_rows(const NodeView& node);

}  // namespace linnet::cpu
