// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "backend/cpu/kernel.h"

// Functions of elements in double precision, a vector at a time. y may be one of the operands.
namespace linnet::cpu {

/// y[i] = f(x[i]). Within 4 units in the last place; what a vector function does not take (NaN,
/// numbers near the largest) is computed by the standard library.
enum class Map : std::uint8_t { exp, log, sin, cos, tanh, sigmoid, sqrt, square, reciprocal };
void map_elements(Map f, const double* x, std::int64_t count, double* y);

/// y[i] = a[i] (op) b[i]; or of saved values s = b[i], a[i] times a slope.
enum class Join : std::uint8_t {
  add,
  subtract,
  multiply,
  divide,
  times_twice,  ///< a 2 s: the slope of a square
  times_bell,   ///< a (1 - s²): of tanh, from its result
  times_bow,    ///< a s (1 - s): of the logistic function, from its result
  times_step,   ///< a where s > 0, else 0: of a ReLU
};
void join_elements(Join f, const double* a, const double* b, std::int64_t count, double* y);
/// The same with one number b.
void join_elements(Join f, const double* a, double b, std::int64_t count, double* y);

/// y[i] = alpha x[i] + beta, rounded after each operation.
void scale_elements(double alpha, double beta, const double* x, std::int64_t count, double* y);

/// Adds the kernels made of these.
void register_f64_elements(Registry& registry);

}  // namespace linnet::cpu
