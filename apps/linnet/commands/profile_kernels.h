// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/profile.h>

#include <string>
#include <vector>

#include "report/json.h"

namespace linnet::command {

/// Holds the operators of a step that the same kernel computes with operands of the same shapes.
struct KernelRow {
  OperatorProfile mean;  ///< of one of them: means of times and rates; `share` is that of all
  int count = 0;
};

/// Returns a step's kernels, in the order in which they first run.
std::vector<KernelRow> kernels_of(const Profile& profile);
/// Adds an operator's time, work and rates to a row.
void add_rates(Json& row, const OperatorProfile& op);
Json kernels_json(const std::vector<KernelRow>& kernels);
/// Returns a table, the kernel first that takes the most time.
std::string kernels_text(std::vector<KernelRow> kernels);

}  // namespace linnet::command
