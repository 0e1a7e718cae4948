// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/optimize_inputs.h>

#include <string>
#include <vector>

#include "analysis/input_search.h"

namespace linnet {

/// Reads OptimizeOptions::constraints. `names`: of the columns, then the outputs. Those of one
/// column narrow `columns`; the others are added to the problem. Throws Error for what cannot be
/// read or met.
void read_constraints(const std::vector<std::string>& texts, const std::vector<std::string>& names,
                      std::vector<SearchColumn>& columns, InputSearch::Problem& problem);

}  // namespace linnet
