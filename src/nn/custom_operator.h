// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/custom_operator.h>

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "graph/graph.h"

namespace linnet {

/// Returns a user's operator as a node's; by input, whether it has a batch.
OpPtr custom_op(std::shared_ptr<const CustomOperator> own, std::vector<std::int64_t> batched);

/// Returns the same from a file, which calls it "project.operator". Throws Error for one that no
/// reader makes.
OpPtr read_custom_op(const std::string& name, const Attributes& attributes,
                     const OperatorReaders& readers);

}  // namespace linnet
