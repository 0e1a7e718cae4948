// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cpu/products/bf16_tiles.h"

namespace linnet::cpu {

/// Returns whether this processor and its system have AMX for bfloat16s, and it computes what its
/// definition says (tried once).
bool has_amx_tiles();

/// bf16_panel_product() and bf16_tile_product() by AMX.
void amx_panel_product(const Bf16Rows& a, std::int64_t rows, const std::uint16_t* panels,
                       std::int64_t columns, float* c, std::int64_t c_stride);
void amx_tile_product(std::int64_t pairs, std::int64_t rows, std::int64_t columns,
                      const std::uint16_t* tiles, const std::uint16_t* panels, bool accumulate,
                      float* c, std::int64_t c_stride);

}  // namespace linnet::cpu
