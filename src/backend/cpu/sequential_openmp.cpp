// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/sequential_openmp.h"

#include <omp.h>

namespace linnet::cpu {

SequentialOpenMp::SequentialOpenMp() : before_(omp_get_max_threads()) {
  if (before_ != 1) omp_set_num_threads(1);
}

SequentialOpenMp::~SequentialOpenMp() {
  if (before_ != 1) omp_set_num_threads(before_);
}

}  // namespace linnet::cpu
