// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

#include "backend/cpu/products/gemm.h"

namespace linnet::cpu {

// How a product of any form is computed on one thread, and what is faster than that. CMake's
// LINNET_ONEDNN chooses the file: whole_product_onednn.cpp calls oneDNN's sgemm,
// whole_product_panels.cpp packs blocks into panels of its own.

/// Returns the name of its engine, one word.
std::string_view whole_product_engine();

/// Returns the bytes of scratch that whole_product() of these or smaller dimensions takes. Throws
/// DeviceError where oneDNN is needed and cannot be opened.
std::size_t whole_product_bytes(const GemmShape& shape);

/// As gemm(), for m, n and k above 0.
void whole_product(const GemmShape& shape, const Matrix& a, const Matrix& b, float* c,
                   std::int64_t c_stride, std::byte* scratch, bool accumulate);

/// Returns which sums over this number of rows are the faster.
RowSums faster_sums(std::int64_t rows);

/// The same for the weight gradients of dense layers, whose operands are in the caches more often
/// than those of convolutions.
RowSums faster_dense_sums(std::int64_t rows);

/// Returns whether a product of this number of rows is faster where b is packed once for all of its
/// tasks (packed_products.h).
bool packing_pays(std::int64_t rows);

/// The same where b is transposed, as the weights of a dense layer are.
bool packing_transposed_pays(const GemmShape& shape);

}  // namespace linnet::cpu
