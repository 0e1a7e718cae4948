// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/float_lanes.h"
#include "backend/cpu/onednn.h"
#include "backend/cpu/products/whole_product.h"
#include "backend/cpu/sequential_openmp.h"
#include "base/check.h"

namespace linnet::cpu {
namespace {

/// Rows from which on oneDNN sums faster than tiles that are packed for each block, and panels that
/// are packed once multiply faster than oneDNN.
constexpr std::int64_t kManyRows = 768;

bool has_avx512() {
  constexpr std::int64_t kLanes = 16;
  return float_lanes() == kLanes;
}

}  // namespace

std::string_view whole_product_engine() { return "onednn"; }

std::size_t whole_product_bytes(const GemmShape& /*shape*/) {
  require_onednn();
  return 0;
}

void whole_product(const GemmShape& s, const Matrix& a, const Matrix& b, float* c,
                   std::int64_t c_stride, std::byte* /*scratch*/, bool accumulate) {
  const SequentialOpenMp sequential;
  const dnnl_status_t status =
      dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', s.m, s.n, s.k, 1.0F, a.data,
                 a.stride, b.data, b.stride, accumulate ? 1.0F : 0.0F, c, c_stride);
  if (status != dnnl_success) {
    throw InternalError(fmt::format("oneDNN's sgemm of ({}, {}, {}) returned status {}", s.m, s.n,
                                    s.k, static_cast<int>(status)));
  }
}

RowSums faster_sums(std::int64_t rows) {
  return rows < kManyRows ? RowSums::tiles : RowSums::whole;
}

RowSums faster_dense_sums(std::int64_t rows) {
  constexpr std::int64_t kManyRowsOfAvx512 = 128;
  return has_avx512() && rows >= kManyRowsOfAvx512 ? RowSums::whole : faster_sums(rows);
}

bool packing_pays(std::int64_t rows) { return rows >= kManyRows; }

bool packing_transposed_pays(const GemmShape& shape) {
  // With AVX-512, oneDNN's sums of many terms are slow for the columns of one task.
  constexpr std::int64_t kFewRows = 16;
  constexpr std::int64_t kManyTerms = 256;
  return packing_pays(shape.m) || (has_avx512() && shape.m >= kFewRows && shape.k >= kManyTerms);
}

}  // namespace linnet::cpu
