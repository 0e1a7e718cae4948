// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/dataset.h>

#include <cstdint>

namespace linnet {

/// Points x uniform in [-1, 1)^features with one value each, Rosenbrock's function (1960) in its
/// sum form, y = sum of 100 (x[i+1] - x[i]^2)^2 + (1 - x[i])^2, standardised: less the mean and
/// divided by the standard deviation of the training set. Summed in double, stored as f32. A
/// function of the seed alone: growing one part keeps its points, and no point is ever in both.
/// Throws Error for fewer than two features or a size that is negative or too large.
Splits make_rosenbrock(std::int64_t train, std::int64_t test, std::int64_t features,
                       std::uint64_t seed);

}  // namespace linnet
