// SPDX-License-Identifier: Apache-2.0
// Compiled once per instruction set by Highway; the best one is taken at run time. Every column is
// added in the same order by all of them.
#include "backend/cpu/vector_targets.h"
#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "backend/cpu/row_sum_hwy.cpp"
#include <hwy/foreach_target.h>
#include <hwy/highway.h>

#include "backend/cpu/joined_rows.h"
#include "backend/cpu/products/row_vectors_hwy.h"
#include "backend/cpu/row_sum.h"

HWY_BEFORE_NAMESPACE();
namespace linnet::cpu {
namespace HWY_NAMESPACE {

/// Rows that are added to each other before they meet the sums in memory.
constexpr int kGroup = 8;

void AddRows(const float* x, std::int64_t pitch, std::int64_t rows, std::int64_t columns,
             float* sums) {
  const std::int64_t ahead = rows > 1 ? rows_ahead(columns) * pitch : 0;
  for_row_groups<kGroup>(rows, columns, [&](auto count, std::int64_t r) HWY_ATTR {
    constexpr int kRows = count.value;
    for_vectors(columns, [&](auto d, std::int64_t c) HWY_ATTR {
      const float* at = x + r * pitch + c;
      const auto sum = sum_of<kRows>([&](int i) HWY_ATTR {
        hwy::Prefetch(at + i * pitch + ahead);
        return hn::LoadU(d, at + i * pitch);
      });
      hn::StoreU(hn::Add(hn::LoadU(d, sums + c), sum), d, sums + c);
    });
  });
}

}  // namespace HWY_NAMESPACE
}  // namespace linnet::cpu
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace linnet::cpu {

HWY_EXPORT(AddRows);

void add_rows(const float* x, std::int64_t pitch, std::int64_t rows, std::int64_t columns,
              float* sums) {
  HWY_DYNAMIC_DISPATCH(AddRows)(x, pitch, rows, columns, sums);
}

void add_rows(const float* x, std::int64_t rows, std::int64_t columns, float* sums) {
  const auto run = HWY_DYNAMIC_DISPATCH(AddRows);
  const std::int64_t joined = joined_rows(rows, columns);
  if (joined == 1) return run(x, columns, rows, columns, sums);
  std::array<float, kMostJoined> wide;
  const std::int64_t width = joined * columns;
  const std::int64_t rest = rows % joined;
  std::fill_n(wide.data(), width, 0.0F);
  run(x, width, rows / joined, width, wide.data());
  for (std::int64_t i = 0; i < joined; ++i) run(wide.data() + i * columns, 0, 1, columns, sums);
  run(x + (rows - rest) * columns, columns, rest, columns, sums);
}

}  // namespace linnet::cpu
#endif
