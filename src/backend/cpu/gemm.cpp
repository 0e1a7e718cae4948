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

}  // namespace linnet::cpu
