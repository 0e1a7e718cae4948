// SPDX-License-Identifier: Apache-2.0
#include "base/instructions.h"

#include "linnet/error.h"

namespace linnet {

std::string vector_instructions() {
#if defined(__x86_64__)
  std::string names = "sse2";
  if (__builtin_cpu_supports("avx2")) names += " avx2";
  if (__builtin_cpu_supports("fma")) names += " fma";
  if (__builtin_cpu_supports("avx512f")) names += " avx512f";
  if (__builtin_cpu_supports("avx512vnni")) names += " avx512vnni";
  if (__builtin_cpu_supports("avx512bf16")) names += " avx512bf16";
  return names;
#elif defined(__aarch64__)
  return "neon";
#else
  return "none";
#endif
}

void check_vector_instructions() {
#if defined(__x86_64__)
  if (!__builtin_cpu_supports("ssse3")) {
    throw Error(
        "expected a processor with the instructions SSSE3 (Intel since 2006, AMD since 2011)");
  }
#endif
}

}  // namespace linnet
