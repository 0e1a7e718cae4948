// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <cstdint>

#include "backend/cpu/float_lanes.h"
#include "backend/cpu/products/panel_product.h"

namespace linnet::cpu {

// Convolutions of small equal groups: a vector holds the channels of several groups, and each of
// its lanes sums the products of its own group, whose inputs a shuffle brings to it one by one.

/// The channels of both sides of a convolution whose groups read and write as many.
struct GroupedChannels {
  std::int64_t channels = 0;
  std::int64_t each = 0;  ///< of a group
};

/// Returns whether groups fill the processor's vectors.
bool takes_groups(const GroupedChannels& of);

/// Calls f(weight, result, i) with each packed weight of one of `taps` taps: of every channel of
/// the result, for the i-th channel of its group.
template <class F>
void for_grouped_weights(const GroupedChannels& of, std::int64_t tap, std::int64_t taps,
                         float* packed, F f) {
  const std::int64_t lanes = float_lanes();
  for (std::int64_t c = 0; c < of.channels; ++c) {
    float* weights = packed + (c / lanes * taps + tap) * of.each * lanes + c % lanes;
    for (std::int64_t i = 0; i < of.each; ++i) f(weights[i * lanes], c, i);
  }
}

/// Computes, of groups of 2 or 4, the results of `rows` pixels at the addresses c: start (null for
/// zeros) and the sums over patches, whose parts are taps of all channels.
void grouped_product(const GroupedChannels& of, const SegmentedRows& patches, std::int64_t rows,
                     const float* packed, const float* start, float* const* c);

/// Adds the outer products of the pixels' gradients dz, which follow each other, and their patches
/// to a gradient of packed weights.
void add_grouped_gradient(const GroupedChannels& of, const SegmentedRows& patches,
                          std::int64_t rows, const float* dz, float* packed);

}  // namespace linnet::cpu
