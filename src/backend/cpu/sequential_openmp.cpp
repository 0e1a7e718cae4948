// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/sequential_openmp.h"

#include <oneapi/dnnl/dnnl_config.h>

#if DNNL_CPU_THREADING_RUNTIME == DNNL_RUNTIME_OMP
#include <omp.h>
#else
namespace {
int omp_get_max_threads() { return 1; }
void omp_set_num_threads(int) {}
}  // namespace
#endif

namespace linnet::cpu {

SequentialOpenMp::SequentialOpenMp() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}

SequentialOpenMp::~SequentialOpenMp() {
  if (before_ != 1) omp_set_num_threads(before_);
}

}  // namespace linnet::cpu
