// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/bf16.h"

#include <linnet/devices.h>

namespace linnet {

std::string cpu_bf16() { return std::string(cpu::to_string(cpu::bf16_unit())); }

namespace cpu {

Products bf16_products() {
  return bf16_unit() == Bf16Unit::none ? Products::bf16_rounded : Products::bf16_native;
}

std::string_view to_string(Bf16Unit unit) {
  switch (unit) {
    case Bf16Unit::amx: return "AMX";
    case Bf16Unit::avx512_bf16: return "AVX512_BF16";
    case Bf16Unit::none: break;
  }
  return "operands rounded, fp32 arithmetic";
}

}  // namespace cpu
}  // namespace linnet
