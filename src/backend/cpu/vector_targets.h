// SPDX-License-Identifier: Apache-2.0
// Included first by sources that Highway compiles once per instruction set: the lowest set, and
// those above it that have no code. A processor that has one of these runs the next lower set.
#pragma once

// Code for x86-64 processors without SSSE3 would be a quarter of a megabyte:
// check_vector_instructions() refuses such processors. The compiler's own flags stay at SSE2.
#if defined(__x86_64__)
#undef HWY_BASELINE_TARGETS
#define HWY_BASELINE_TARGETS HWY_SSSE3
#endif

#include <hwy/detect_targets.h>

// Sets that these kernels gain nothing from, and would be half as large again for. (Early versions
// of Highway do not know all of them.)
#ifdef HWY_AVX3_SPR
#define LINNET_GAINLESS_TARGETS (HWY_SSE4 | HWY_AVX3_DL | HWY_AVX3_ZEN4 | HWY_AVX3_SPR)
#else
#define LINNET_GAINLESS_TARGETS (HWY_SSE4 | HWY_AVX3_DL)
#endif
// Vectors are members of structs, which those without a size cannot be.
#define LINNET_SIZELESS_TARGETS (HWY_SVE | HWY_SVE2 | HWY_SVE_256 | HWY_SVE2_128 | HWY_RVV)

#undef HWY_DISABLED_TARGETS
#define HWY_DISABLED_TARGETS (LINNET_GAINLESS_TARGETS | LINNET_SIZELESS_TARGETS)
