// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cpuid.h>

namespace linnet::cpu {

/// What CPUID's leaf 7 says of an x86-64 processor; zeros where it has no such part. For
/// instructions whose names Clang 14's __builtin_cpu_supports() does not know.
struct ExtendedFeatures {
  explicit ExtendedFeatures(unsigned part) { __get_cpuid_count(7, part, &a, &b, &c, &d); }
  unsigned a = 0;
  unsigned b = 0;
  unsigned c = 0;
  unsigned d = 0;
};

}  // namespace linnet::cpu
