// SPDX-License-Identifier: Apache-2.0
#include "backend/cpu/bf16.h"
#include "backend/cpu/onednn.h"

namespace linnet::cpu {

Bf16Unit bf16_unit() {
  if (!has_onednn()) return Bf16Unit::none;
  // oneDNN's own answer: it also asks whether the system lets programs use AMX.
  const auto isa = static_cast<unsigned>(dnnl_get_effective_cpu_isa());
  const auto has = [isa](dnnl_cpu_isa_t wanted) {
    return (isa & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
  };
  if (has(dnnl_cpu_isa_avx512_core_amx)) return Bf16Unit::amx;
  return has(dnnl_cpu_isa_avx512_core_bf16) ? Bf16Unit::avx512_bf16 : Bf16Unit::none;
}

}  // namespace linnet::cpu
