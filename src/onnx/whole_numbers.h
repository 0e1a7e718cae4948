// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/functions.h>

#include "onnx/node_import.h"

// Whole numbers as floats: all here is exact while operands and results are below 2^24.
namespace linnet::onnx {

/// Throws DataError for a type that holds no numbers.
void require_numbers(const NodeImport& n, Type type);

Expression towards_zero(const Expression& x);

/// Returns a sum, difference or product as its type holds it: those of 8 and 16 bits begin anew
/// past their range, and those without a sign below 0. INT32, INT64 and floats stay.
Expression wrapped(const Expression& e, Type type);

/// Returns a b of numbers of 16 bits, which may have 32, to be wrapped().
Expression product_of_16_bits(const Expression& a, const Expression& b);

/// Returns a / b, rounded once: an operand that is repeated would be multiplied by 1 / b.
Expression ratio_of_whole(const Expression& a, const Expression& b);
/// Returns the same, rounded towards zero.
Expression whole_quotient(const Expression& a, const Expression& b);

/// Returns a power of whole numbers rounded towards zero, to the nearest one where a library is
/// some bits off.
Expression whole_power(const Expression& power);

/// Returns numbers as another type of whole numbers. Floats beyond it are undefined in ONNX.
Expression whole_cast(const Expression& x, Type from, Type to);

}  // namespace linnet::onnx
