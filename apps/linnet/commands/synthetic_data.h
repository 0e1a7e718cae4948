// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>
#include <linnet/loss.h>
#include <linnet/network.h>

#include <cstdint>

namespace linnet::command {

/// Data of the shape that `network` takes, for machines that have no real ones; a function of the
/// seed alone, and such that the loss can fall. Images (H, W, C) of at least 28x28 are drawn
/// digits, centred and as large as whole pixels allow, in three strengths of each colour; sequences
/// of ids have words that tell the class; features are points of Rosenbrock's function. Targets:
/// classes, or 0 and 1 for binary cross-entropy, or the function's value. Throws Error where the
/// network takes none of these.
Dataset synthetic_data(const Network& network, Loss loss, std::int64_t samples, std::uint64_t seed);

}  // namespace linnet::command
