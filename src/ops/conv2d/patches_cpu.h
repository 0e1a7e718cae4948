// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include "ops/conv2d/conv2d.h"

namespace linnet::cpu {

/// Lines are the rows of all output images: line n * OH + i. A line's patches are OW rows of
/// taps() floats: what each of its outputs multiplies with the weights of one output channel.

/// Gathers the patches of lines [begin, end) of group `group` from x; zeros outside the image.
void gather_patches(const ConvShape& shape, std::int64_t group, std::int64_t begin,
                    std::int64_t end, const float* x, float* patches);

/// The transpose: adds patches back to the elements of dx that they came from.
void scatter_patches(const ConvShape& shape, std::int64_t group, std::int64_t begin,
                     std::int64_t end, const float* patches, float* dx);

}  // namespace linnet::cpu
