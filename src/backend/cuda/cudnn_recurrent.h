// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <array>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "backend/cuda/cudnn_graph.h"

namespace linnet::cuda {

/// A recurrent layer as cuDNN is asked for it: f32, samples first, one direction, a state of zeros
/// before the first step. Its GRU multiplies by the reset gate after the product, as PyTorch's.
struct CudnnRecurrent {
  enum class Cell : std::uint8_t { tanh, relu, gru, lstm };

  Cell cell = Cell::gru;
  bool bias = true;
  std::int64_t n = 0, steps = 0, features = 0, units = 0;
  CudnnMath math = CudnnMath::tf32;  ///< or fp32

  bool operator==(const CudnnRecurrent&) const = default;

  constexpr std::int64_t gates() const {
    return cell == Cell::gru ? 3 : cell == Cell::lstm ? 4 : 1;
  }
  /// Returns text for errors, and as a key: "recurrent gru x=(128, 200, 64), 64 units, tf32".
  std::string describe() const;
};
constexpr std::array<std::string_view, 4> enum_names(CudnnRecurrent::Cell) {
  return {"tanh", "relu", "gru", "lstm"};
}

/// A layer by one of cuDNN's algorithms. cuDNN wants the weights in an order of its own, which only
/// a handle tells: they are copied there, and their gradients back, by every call. Calls take
/// turns, may be captured, wait for nothing and throw Error naming the layer.
class CudnnRnn {
 public:
  static constexpr std::array<std::string_view, 3> kAlgorithms{"standard", "persistent",
                                                               "persistent small"};
  /// w_ih (G U, F), w_hh (G U, U), b_ih (G U), b_hh (G U); without biases the last two are null.
  template <class T>
  using Weights = std::array<T*, 4>;

  /// Returns null where cuDNN, on the calling thread's device, does not take the layer so.
  /// `algorithm` counts in kAlgorithms.
  static std::shared_ptr<const CudnnRnn> build(std::shared_ptr<const CudnnTarget> target,
                                               const CudnnRecurrent& layer, std::size_t algorithm);
  ~CudnnRnn();
  CudnnRnn(const CudnnRnn&) = delete;
  CudnnRnn& operator=(const CudnnRnn&) = delete;

  std::string_view algorithm() const;
  /// What a gradient wants of the forward pass before it: weights in cuDNN's order, y, and what
  /// cuDNN keeps of every step. As workspaces, enough for a start at any address.
  std::size_t kept_bytes() const;
  std::size_t inference_bytes() const;
  std::size_t training_bytes() const;
  /// `alone`: nobody wants `kept` after this gradient, which leaves other numbers there.
  std::size_t gradient_bytes(bool y_gradient, bool alone) const;
  /// The most workspace of a call, in training or inference; what is kept is none.
  std::size_t most_workspace(bool training) const {
    return training ? std::max(training_bytes(), gradient_bytes(true, true)) : inference_bytes();
  }

  /// x (N, T, F) gives y (N, T, U) and last (N, U).
  void infer(cudaStream_t stream, const float* x, const Weights<const float>& weights, float* y,
             float* last, std::byte* workspace) const;
  /// The same, and `kept`. Null for y: nobody else reads it.
  void train(cudaStream_t stream, const float* x, const Weights<const float>& weights, float* y,
             float* last, std::byte* kept, std::byte* workspace) const;
  /// All gradients. dy and dlast may be null.
  void gradient(cudaStream_t stream, const float* x, std::byte* kept, bool alone, const float* dy,
                const float* dlast, float* dx, const Weights<float>& dweights,
                std::byte* workspace) const;

 private:
  CudnnRnn();
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace linnet::cuda
