// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cpu/kernel.h"

namespace linnet::cpu {

/// Says how rounded operands are kept: as f32 whose lower halves are zero, or as bfloat16s.
enum class KeptAs : std::uint8_t { f32, bf16 };

/// The engine of a kernel that is none of a rounded product: it computes more than a product of its
/// operands, in fp32 alone.
inline constexpr std::string_view kFp32Alone = "fp32 alone";

/// `kernel` after a stage that rounds these operands (f32) of `node` to bfloat16 into the
/// workspace, after what the kernel itself wants of it; fixed ones are rounded once, where it
/// packs. The kernel then finds them there instead. What it packs of others, it packs in each run.
Kernel with_rounded_operands(const NodeView& node, Kernel kernel,
                             const std::vector<std::size_t>& operands, KeptAs kept);

}  // namespace linnet::cpu
