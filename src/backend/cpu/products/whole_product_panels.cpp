// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/products/whole_product.h"

#include <algorithm>

#include "backend/cpu/products/panel_product.h"
#include "core/align.h"

namespace linnet::cpu {
namespace {

// A block of each operand in the L2 cache.
constexpr std::int64_t kProductBlockRows = kProductRows;
constexpr std::int64_t kProductBlockColumns = 256;
constexpr std::int64_t kProductBlockTerms = 256;  // at once: partial sums are c's own

/// Where a thread's scratch memory has the addresses of a's rows (at 0), those of c's, b's panels
/// and, where a is transposed, its rows.
struct ProductPlaces {
  explicit ProductPlaces(const GemmShape& s) {
    const std::int64_t terms = std::min(s.k, kProductBlockTerms);
    const std::size_t lines = align_up(sizeof(float*) * kProductBlockRows);
    results = lines;
    panels = 2 * lines;
    turned =
        panels + align_up(sizeof(float) * panel_floats(terms, std::min(s.n, kProductBlockColumns)));
    bytes = turned + sizeof(float) * static_cast<std::size_t>(terms * kProductBlockRows);
  }

  std::size_t results;
  std::size_t panels;
  std::size_t turned;
  std::size_t bytes;
};

/// Writes rows [0, count.m) and terms [0, count.k) of a transposed a, whose first one is `from`.
void turn_rows(const GemmShape& count, const float* from, std::int64_t stride, float* to) {
  for (std::int64_t t = 0; t < count.k; ++t, from += stride) {
    for (std::int64_t i = 0; i < count.m; ++i) to[i * count.k + t] = from[i];
  }
}

}  // namespace

std::string_view whole_product_engine() { return "blocks"; }

std::size_t whole_product_bytes(const GemmShape& s) { return ProductPlaces(s).bytes; }

void whole_product(const GemmShape& s, const Matrix& a, const Matrix& b, float* c,
                   std::int64_t c_stride, std::byte* scratch, bool accumulate) {
  const ProductPlaces places(s);
  auto** from = reinterpret_cast<const float**>(scratch);
  auto** to = reinterpret_cast<float**>(scratch + places.results);
  auto* panels = reinterpret_cast<float*>(scratch + places.panels);
  auto* turned = reinterpret_cast<float*>(scratch + places.turned);
  const StridedMatrix right{b.data, b.transposed ? 1 : b.stride, b.transposed ? b.stride : 1};
  GemmShape size;
  for (std::int64_t j = 0; j < s.n; j += size.n) {
    size.n = std::min(s.n - j, kProductBlockColumns);
    for (std::int64_t t = 0; t < s.k; t += size.k) {
      size.k = std::min(s.k - t, kProductBlockTerms);
      pack_panels({right.data + t * right.term_stride + j * right.column_stride, right.term_stride,
                   right.column_stride},
                  0, size.k, size.k, size.n, panels);
      for (std::int64_t i = 0; i < s.m; i += size.m) {
        size.m = std::min(s.m - i, kProductBlockRows);
        if (a.transposed) turn_rows(size, a.data + t * a.stride + i, a.stride, turned);
        for (std::int64_t r = 0; r < size.m; ++r) {
          from[r] = a.transposed ? turned + r * size.k : a.data + (i + r) * a.stride + t;
          to[r] = c + (i + r) * c_stride + j;
        }
        const float* sums = accumulate || t > 0 ? to[0] : nullptr;
        panel_product({from, 1, size.k, 0}, size.m, panels, size.n, nullptr, to,
                      {.residual = sums, .of = sums});
      }
    }
  }
}

RowSums faster_sums(std::int64_t /*rows*/) { return RowSums::tiles; }

RowSums faster_dense_sums(std::int64_t rows) { return faster_sums(rows); }

bool packing_pays(std::int64_t rows) {
  constexpr std::int64_t kFewRows = 16;  // they are over before b is packed
  return rows >= kFewRows;
}

bool packing_transposed_pays(const GemmShape& shape) { return packing_pays(shape.m); }

}  // namespace linnet::cpu
