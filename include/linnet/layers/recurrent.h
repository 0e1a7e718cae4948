// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <cstdint>
#include <string>
#include <variant>

// Recurrent layers begin with a state of zeros. Formulas, order of the gates and initialisation,
// U(±1/sqrt(units)), are PyTorch's, and so are the parameters, which can be copied:
// "<name>.weight_ih_l0" (gates * units, features), "weight_hh_l0" (gates * units, units),
// "bias_ih_l0" and "bias_hh_l0" (gates * units); names of a reverse direction end in "_reverse".
LINNET_API_BEGIN
namespace linnet {

/// Computes a simple recurrent layer, h' = f(w_ih x + b_ih + w_hh h + b_hh) (Elman, 1990).
struct SimpleRNN {
  /// Names the function f.
  enum class Activation : std::uint8_t {
    tanh,  ///< tanh(x)
    relu,  ///< max(x, 0)
  };
  std::int64_t units = 0;                    ///< features of the state; at least 1
  Activation activation = Activation::tanh;  ///< f
  /// Whether it returns the state after each step, or only the last one.
  bool return_sequences = false;
  bool reverse = false;   ///< whether it goes from the last step to the first
  bool bias = true;       ///< whether b_ih and b_hh are added
  std::string name = {};  ///< unique in the network; empty: "simple_rnn_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes a gated recurrent unit with the gates r, z, n (Cho et al., 2014).
struct GRU {
  std::int64_t units = 0;  ///< features of the state; at least 1
  /// Whether `n = tanh(w_in x + b_in + r (w_hn h + b_hn))`, as in PyTorch, cuDNN and Keras, or
  /// `n = tanh(w_in x + b_in + w_hn (r h) + b_hn)`, as in the paper.
  bool reset_after = true;
  /// Whether it returns the state after each step, or only the last one.
  bool return_sequences = false;
  bool reverse = false;   ///< whether it goes from the last step to the first
  bool bias = true;       ///< whether biases are added
  std::string name = {};  ///< unique in the network; empty: "gru_1", "gru_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes a long short-term memory with forget gate, gates i, f, g, o (Gers et al., 2000).
struct LSTM {
  std::int64_t units = 0;  ///< features of the state; at least 1
  /// Whether it returns the state after each step, or only the last one.
  bool return_sequences = false;
  bool reverse = false;   ///< whether it goes from the last step to the first
  bool bias = true;       ///< whether biases are added
  std::string name = {};  ///< unique in the network; empty: "lstm_1", "lstm_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Applies a recurrent layer in both directions, each with its own parameters. The last states are
/// those after the last step and, reversed, after the first one.
struct Bidirectional {
  /// Says how both results are combined.
  enum class Merge : std::uint8_t {
    concat,  ///< the reversed one follows the other along the last axis
    sum,     ///< they are added
  };
  std::variant<SimpleRNN, GRU, LSTM> layer = GRU{};  ///< the layer, which must not be reversed
  /// Whether both results are joined (PyTorch's and Keras's default) or added.
  Merge merge = Merge::concat;
  std::string name = {};  ///< unique in the network; empty: the layer's, or "bidirectional_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
