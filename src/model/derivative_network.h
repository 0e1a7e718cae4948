// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>
#include <string>

#include "nn/definition.h"

namespace linnet {

/// Says what derivative_network() adds.
enum class Derivatives : std::uint8_t { jacobian, jacobian_and_hessian };

/// Returns the network as it is without dropout, with further outputs: "jacobian", the derivatives
/// (of..., by...) of the output `of` by the input `by`, and "hessian", (of..., by..., by...). Empty
/// names: the first ones. Parameters keep their places. Throws Error for an input of ids, more
/// than 8 dims, more than kMostBackwardPasses, outputs of these names, an output that does not
/// depend on the input, and naming a layer that has no derivative.
NetworkDefinition derivative_network(const NetworkDefinition& network, const std::string& by,
                                     const std::string& of, Derivatives which);

/// The most elements of `of`, for a Hessian times those of `by`: each is a part of the graph.
inline constexpr std::int64_t kMostBackwardPasses = 4096;

}  // namespace linnet
