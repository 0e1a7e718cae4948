// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/tensor.h>

#include <string>

#include "graph/graph.h"

namespace linnet {

struct ModelState;

/// Returns what `layer` reads for every sample at inference, (N, ...): a value of the network's
/// template that is none of its inputs. All samples are one batch.
Tensor values_before(ModelState& model, const std::string& layer, Value read, const Dataset& data);

}  // namespace linnet
