// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "nn/definition.h"
#include "ops/optimizer_update/optimizer_update.h"

// Muon: a momentum of each weight matrix, of which the step takes the nearest orthogonal matrix.
// The momentum is the update rule `muon`; what follows it is a part of the graph for each matrix.
namespace linnet {

/// Returns, by NetworkDefinition::parameters, which are matrices: weights that are used by nothing
/// but dense products and convolutions in one group.
std::vector<bool> weight_matrices(const NetworkDefinition& network);

/// Says in the attributes which of the parameters that train are matrices for the update. Throws
/// Error where none is left, and for a pattern that excludes none.
void set_matrices(OptimizerAttrs& attrs, const NetworkDefinition& network,
                  const std::vector<std::string>& exclude);

/// Returns, by NetworkDefinition::parameters, which of them set_matrices() has named.
std::vector<bool> updated_as_matrices(const NetworkDefinition& network,
                                      const OptimizerAttrs& attrs);

/// Adds an update by the rule `muon`. operands: OptimizerUpdateOp's, the moments from `moments` on.
void add_muon(Graph& graph, const NetworkDefinition& network, const OptimizerAttrs& attrs,
              const std::vector<Value>& operands, std::size_t moments);

/// Returns x (rows, columns) with singular values of about 1 and the singular vectors of x:
/// `iterations` of Newton and Schulz with Jordan's polynomial, after a division by the norm. 0
/// stays 0.
Value add_orthogonal(Graph& graph, Value x, std::int64_t iterations, const std::string& name);

}  // namespace linnet
