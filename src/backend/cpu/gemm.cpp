// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/gemm.h"

#include <dnnl.h>

#include "backend/cpu/sequential_openmp.h"
#include "base/check.h"

namespace linnet::cpu {

void gemm(std::int64_t m, std::int64_t n, std::int64_t k, Matrix a, Matrix b, float* c,
          std::int64_t c_stride, float beta) {
  if (m == 0 || n == 0) return;
  const SequentialOpenMp sequential;
  const dnnl_status_t status =
      dnnl_sgemm(a.transposed ? 'T' : 'N', b.transposed ? 'T' : 'N', m, n, k, 1.0F, a.data,
                 a.stride, b.data, b.stride, beta, c, c_stride);
  if (status != dnnl_success) {
    throw InternalError(fmt::format("oneDNN's sgemm of ({}, {}, {}) returned status {}", m, n, k,
                                    static_cast<int>(status)));
  }
}

ProductTasks::ProductTasks(std::int64_t rows, std::int64_t columns, std::int64_t terms)
    : rows_(rows), columns_(columns), by_columns_(rows < columns) {
  constexpr double kFlopsPerNanosecond = 40;  // of one core, cautiously
  constexpr std::int64_t kColumns = 64;       // below, the left operand would be packed too often
  const double each = 2.0 * static_cast<double>(terms) / kFlopsPerNanosecond;
  count_ =
      by_columns_
          ? std::min(tasks_for(columns, each * static_cast<double>(rows)),
                     static_cast<int>(std::clamp<std::int64_t>(columns / kColumns, 1, kMaxTasks)))
          : tasks_for(rows, each * static_cast<double>(columns));
}

ProductTasks::Block ProductTasks::block(int index) const {
  if (by_columns_) return {{0, rows_}, column_lines(columns_, count_, index)};
  return {split(rows_, count_, index), {0, columns_}};
}

Range column_lines(std::int64_t columns, int tasks, int index) {
  constexpr std::int64_t kLine = 16;
  const Range lines = split((columns + kLine - 1) / kLine, tasks, index);
  return {lines.begin * kLine, std::min(lines.end * kLine, columns)};
}

}  // namespace linnet::cpu
