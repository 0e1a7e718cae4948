// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/layers/settings.h>

#include <string>

// Functions of each element, as PyTorch defines them, its defaults included.
LINNET_API_BEGIN
namespace linnet {

/// Computes max(x, 0).
struct ReLU {
  std::string name = {};  ///< unique in the network; empty: "relu_1", "relu_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes tanh(x).
struct Tanh {
  std::string name = {};  ///< unique in the network; empty: "tanh_1", "tanh_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes 1 / (1 + e^-x).
struct Sigmoid {
  std::string name = {};  ///< unique in the network; empty: "sigmoid_1", "sigmoid_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes x Φ(x), where Φ is the normal distribution (Hendrycks and Gimpel, 2016).
struct GELU {
  /// Whether to use PyTorch's approximation with a tanh instead of the exact form.
  bool tanh_form = false;
  std::string name = {};  ///< unique in the network; empty: "gelu_1", "gelu_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes x above 0, else slope * x.
struct LeakyReLU {
  double slope = 0.01;    ///< the factor on values below 0
  std::string name = {};  ///< unique in the network; empty: "leaky_relu_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes x above 0, else alpha (e^x - 1) (Clevert et al., 2016).
struct ELU {
  double alpha = 1;       ///< the limit for x → -∞ is -alpha
  std::string name = {};  ///< unique in the network; empty: "elu_1", "elu_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes a scaled ELU whose constants keep mean 0 and variance 1 (Klambauer et al., 2017).
struct SELU {
  std::string name = {};  ///< unique in the network; empty: "selu_1", "selu_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes x / (1 + e^-x), also called swish.
struct SiLU {
  std::string name = {};  ///< unique in the network; empty: "silu_1", "silu_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes x tanh(log(1 + e^x)) (Misra, 2020).
struct Mish {
  std::string name = {};  ///< unique in the network; empty: "mish_1", "mish_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes log(1 + e^(beta x)) / beta.
struct Softplus {
  double beta = 1;        ///< sharpness of the bend at 0; above 0
  std::string name = {};  ///< unique in the network; empty: "softplus_1", "softplus_2", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes clip(x + 3, 0, 6) / 6.
struct HardSigmoid {
  std::string name = {};  ///< unique in the network; empty: "hard_sigmoid_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes x clip(x + 3, 0, 6) / 6.
struct HardSwish {
  std::string name = {};  ///< unique in the network; empty: "hard_swish_1", ...
  void build(NetworkBuilder& builder) const;
};

/// Computes clip(x, low, high).
struct HardTanh {
  double low = -1;        ///< the lower bound, not above `high`
  double high = 1;        ///< the upper bound
  std::string name = {};  ///< unique in the network; empty: "hard_tanh_1", ...
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
