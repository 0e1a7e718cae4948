// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cudnn.h>

#include <array>
#include <cstddef>
#include <cstdint>

#include "cuda_cudnn/fake_cudnn_rnn.h"

struct cudnnRNNStruct {
  cudnnRNNMode_t mode = CUDNN_GRU;
  bool bias = true;
  std::int64_t features = 0, units = 0;
  bool in_order = false;
};
struct cudnnRNNDataStruct {
  std::int64_t n = 0, steps = 0, width = 0;
};
struct cudnnTensorStruct {
  std::array<int, 3> dims{}, strides{};
};

namespace linnet::cuda::fake_rnns {

inline constexpr std::size_t kWorkBytes = 1000;
inline constexpr std::size_t kGapFloats = 3;
using Layer = cudnnRNNStruct;

inline std::int64_t gates(const Layer& l) {
  return l.mode == CUDNN_GRU ? 3 : l.mode == CUDNN_LSTM ? 4 : 1;
}
inline std::int64_t columns(const Layer& l, std::int64_t id) {
  return id < gates(l) ? l.features : l.units;
}

/// Where matrix `id` stands in the weight space, in floats; at `biases` its bias.
inline std::size_t place(const Layer& l, std::int64_t id, bool biases) {
  const std::int64_t ids = 2 * gates(l);
  std::int64_t at = 0;
  if (l.in_order) {  // matrices, then biases
    for (std::int64_t i = 0; i < (biases ? ids : id); ++i) at += l.units * columns(l, i);
    return static_cast<std::size_t>(biases ? at + id * l.units : at);
  }
  for (std::int64_t i = ids - 1; i > id; --i) {
    at += l.units * (columns(l, i) + 1) + 2 * static_cast<std::int64_t>(kGapFloats);
  }
  return static_cast<std::size_t>(at + (biases ? l.units * columns(l, id) : 0)) +
         kGapFloats * (biases ? 2 : 1);
}

inline std::size_t weight_bytes(const Layer& l) {
  const std::int64_t last = l.in_order ? 2 * gates(l) - 1 : 0;
  return (place(l, last, true) + static_cast<std::size_t>(l.units) + kGapFloats) * sizeof(float);
}

/// Doubles of a step in the reserve: gates, c_n or m, slopes by a and by c.
inline std::int64_t kept(const Layer& l) { return (3 * gates(l) + 1) * l.units; }

inline std::size_t reserve_bytes(const Layer& l, const cudnnRNNDataStruct& x) {
  return fake_rnn().more_reserve +
         sizeof(double) * static_cast<std::size_t>(1 + x.n * x.steps * kept(l));
}

/// One call of the three, with its memory.
struct Call {
  Layer l;
  const void* rnn = nullptr;  ///< the layer's descriptor
  std::int64_t n = 0, steps = 0;
  const float* x = nullptr;
  float* y = nullptr;
  float* last = nullptr;
  const float* dy = nullptr;
  const float* dlast = nullptr;
  float* dx = nullptr;
  const float* weights = nullptr;
  float* dweights = nullptr;
  double* reserve = nullptr;  ///< null in inference
  std::byte* work = nullptr;
  double error = 0;
  double seconds = 0;

  double w(std::int64_t id, std::int64_t row, std::int64_t column) const {
    return weights[place(l, id, false) + static_cast<std::size_t>(row * columns(l, id) + column)];
  }
  double b(std::int64_t id, std::int64_t row) const {
    return l.bias ? weights[place(l, id, true) + static_cast<std::size_t>(row)] : 0.0;
  }
  double* step(std::int64_t sample, std::int64_t t) const {
    return reserve + 1 + (sample * steps + t) * kept(l);
  }
  /// The state before step t.
  double before(std::int64_t sample, std::int64_t t, std::int64_t j) const {
    return t == 0 ? 0.0 : double{y[(sample * steps + t - 1) * l.units + j]};
  }
};

/// By the equations of cuDNN's manual, in double precision, each by one thread. All leave nothing
/// but poison in `work`; in a wrong order they give NaN.
void forward(Call call);
void gradient_of_data(Call call);
void gradient_of_weights(Call call);

}  // namespace linnet::cuda::fake_rnns
