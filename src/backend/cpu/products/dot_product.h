// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/products/panel_product.h"

namespace linnet::cpu {

// The product of panel_product.h for a few columns, which would leave most lanes of a panel's
// vectors empty: vectors lie along the terms of a row, and their lanes are added at the end. The
// order of a sum follows from the processor's vectors and from the length of the segments, whatever
// the number of rows.

/// Returns whether it takes fewer vectors than panel_product() for rows of `segments` parts of
/// `length` floats.
bool dot_product_pays(std::int64_t segments, std::int64_t length, std::int64_t columns);

/// Returns the number of floats of packed weights.
std::size_t dot_floats(std::int64_t segments, std::int64_t length, std::int64_t columns);

/// Packs terms [begin, end) of all columns from b, whose row 0 becomes `begin`, for rows of parts
/// of `length` floats.
void pack_dots(const StridedMatrix& b, std::int64_t begin, std::int64_t end, std::int64_t length,
               std::int64_t columns, float* packed);

/// Computes c[i][j] = start[j] + sum over t of a.rows[i][t] b[t][j] for what pack_dots() packed; c:
/// the addresses of `rows` rows of `columns` floats. `start` may be null for zeros.
void dot_product(const SegmentedRows& a, std::int64_t rows, const float* packed,
                 std::int64_t columns, const float* start, float* const* c);

}  // namespace linnet::cpu
