// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace linnet::cpu {

/// A product of every output pixel of a run: a vector of channels of its first source pixel times
/// one of the weights, both as floats from the begin of their arrays.
struct DepthwiseTap {
  std::int64_t from;
  std::int64_t weight;
};

/// Pixels that meet the same taps, neighbours `x_step` and `y_step` floats apart.
struct DepthwiseRun {
  const DepthwiseTap* taps;
  std::int64_t count;  ///< of taps
  const float* x;
  std::int64_t x_step;
  const float* w;
  std::int64_t channels;
  std::int64_t outputs;
  float* y;
  std::int64_t y_step;
};

/// What sums start from, a number for each channel or null for zeros, and what ends them.
struct DepthwiseTail {
  const float* start = nullptr;
  bool relu = false;
};

/// Computes y[i * y_step + c] = tail(start[c] + sum over taps t of x[t.from + i * x_step + c] *
/// w[t.weight + c]) for `outputs` pixels i and all channels c.
void depthwise_sums(const DepthwiseRun& run, const DepthwiseTail& tail);

/// Computes sums[t * channels + c] += sum over pixels i of x[i * x_step + t * x_tap + c] *
/// dz[i * channels + c] for `taps` taps t and all channels c.
void depthwise_weight_sums(const float* x, std::int64_t x_step, std::int64_t x_tap,
                           std::int64_t taps, const float* dz, std::int64_t channels,
                           std::int64_t outputs, float* sums);

}  // namespace linnet::cpu
