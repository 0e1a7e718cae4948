// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "op_harness.h"

namespace linnet::testing {

/// Returns whether operands 0 and 1 are rounded to bfloat16 where that is asked for: products and
/// convolutions.
bool rounds_in_bf16(const Op& op);

/// x to the nearest bfloat16, ties to even; by arithmetic, not by its bits. Normal numbers.
double nearest_bf16(double x);

/// Rounds w of a conv2d_norm as a GPU does, which rounds w gamma / std: every w becomes one for
/// which that is the result of `nearest`.
void round_folded_weights(const Op& conv2d_norm, std::vector<std::vector<double>>& operands,
                          const std::function<double(double)>& nearest);

/// A product alone, on the CPU at bf16: rounded operands, and natively (see tested_cpus_in_bf16()).
/// Shows that every element is that of the reference on rounded operands, to 1e-5 of the sum of its
/// products' magnitudes; that nothing is left unwritten; and equal bits at 1, 2 and 4 threads.
void check_bf16(const OpCase& op_case);

}  // namespace linnet::testing
