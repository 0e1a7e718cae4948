// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "op_harness.h"

namespace linnet::testing {

/// Returns whether operands 0 and 1 are rounded to bfloat16 where that is asked for: products and
/// convolutions.
bool rounds_in_bf16(const Op& op);

/// x to the nearest bfloat16, ties to even; by arithmetic, not by its bits. Normal numbers.
double nearest_bf16(double x);

/// Rounds the weights among the operands of an operator that changes them before a GPU rounds them.
using RoundWeights = void (*)(const Op& op, std::vector<std::vector<double>>& operands,
                              const std::function<double(double)>& nearest);

/// Returns such functions by operator; the tests of each add theirs.
std::map<std::string, RoundWeights, std::less<>>& folded_weights();

/// A product alone, on the CPU at bf16: rounded operands, and natively (see tested_cpus_in_bf16()).
/// Shows that every element is that of the reference on rounded operands, to 1e-5 of the sum of its
/// products' magnitudes; that nothing is left unwritten; and equal bits at 1, 2 and 4 threads.
void check_bf16(const OpCase& op_case);

}  // namespace linnet::testing
