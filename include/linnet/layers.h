// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/types.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

namespace linnet {

class NetworkBuilder;

/// How a weight starts. Fans count the inputs and outputs that one weight connects: for a
/// convolution both are multiplied by the kernel's area.
struct Initializer {
  enum class Kind : std::uint8_t {
    constant,        ///< `value` everywhere
    uniform,         ///< U(-value, value)
    normal,          ///< N(0, value²)
    glorot_uniform,  ///< U(±sqrt(6 / (fan_in + fan_out))) (Glorot and Bengio, 2010)
    glorot_normal,   ///< N(0, 2 / (fan_in + fan_out))
    he_uniform,      ///< U(±sqrt(6 / fan_in)) (He et al., 2015)
    he_normal,       ///< N(0, 2 / fan_in)
  };
  Kind kind = Kind::glorot_uniform;
  double value = 0;
};
inline constexpr Initializer kZeros{Initializer::Kind::constant, 0};
inline constexpr Initializer kOnes{Initializer::Kind::constant, 1};

/// Height and width; one number means both.
struct Size2d {
  std::int64_t height = 1;
  std::int64_t width = 1;
  constexpr Size2d(std::int64_t both) : height(both), width(both) {}  // NOLINT(*-explicit-*)
  constexpr Size2d(std::int64_t h, std::int64_t w) : height(h), width(w) {}
  bool operator==(const Size2d&) const = default;
};

/// Zeros (for max pooling: minus infinity) around an image.
struct Padding2d {
  enum class Mode : std::uint8_t { valid, same, fixed };
  Mode mode = Mode::valid;
  std::int64_t top = 0;
  std::int64_t bottom = 0;
  std::int64_t left = 0;
  std::int64_t right = 0;

  /// No padding.
  static constexpr Padding2d valid() { return {}; }
  /// As much as makes the output ceil(input / stride) large; an odd pixel goes to bottom and right,
  /// as in TensorFlow.
  static constexpr Padding2d same() { return {.mode = Mode::same}; }
  /// The same on all four sides, as PyTorch's padding=n.
  static constexpr Padding2d all(std::int64_t n) { return {Mode::fixed, n, n, n, n}; }
};

// Layers are descriptions: they own no memory and can be used in several networks. An empty name is
// replaced by kind and number, e.g. "conv2d_1". Images are (N, H, W, C).

/// Convolution (cross-correlation, as every framework). Weight (filters, height, width,
/// channels / groups).
struct Conv2d {
  std::int64_t filters = 0;
  Size2d kernel = 3;
  Size2d stride = 1;
  Padding2d padding = {};
  Size2d dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  Initializer weight_init = {};
  Initializer bias_init = kZeros;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// y = x wᵀ + b on (N, features). Weight (units, features).
struct Dense {
  std::int64_t units = 0;
  bool bias = true;
  Initializer weight_init = {};
  Initializer bias_init = kZeros;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

struct MaxPool2d {
  Size2d size = 2;
  Size2d stride = 0;  ///< 0: the size
  Padding2d padding = {};
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// Padding counts as zeros in the average, as in PyTorch.
struct AvgPool2d {
  Size2d size = 2;
  Size2d stride = 0;  ///< 0: the size
  Padding2d padding = {};
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// (N, H, W, C) to (N, C).
struct GlobalAvgPool2d {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
struct GlobalMaxPool2d {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// (N, ...) to (N, everything else), in (H, W, C) order.
struct Flatten {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// Each sample gets this shape.
struct Reshape {
  Shape sample = {};
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// y = x * scale + shift, e.g. 1/255 for pixels. First in a network it costs nothing: the gather of
/// the batch does it.
struct Rescale {
  double scale = 1.0 / 255;
  double shift = 0;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// Over the last axis; statistics and defaults are PyTorch's: running = (1 - momentum) * running +
/// momentum * batch (Keras writes 1 - momentum for it).
struct BatchNorm {
  double epsilon = 1e-5;
  double momentum = 0.1;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// Zeroes each element with probability `rate` in training and scales the others by 1 / (1 - rate).
struct Dropout {
  double rate = 0.5;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

struct ReLU {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
struct Tanh {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
struct Sigmoid {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
/// x Φ(x), the exact form.
struct GELU {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
/// Over the last axis.
struct Softmax {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
struct LogSoftmax {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// Any of the layers above, or any copyable type with the same build().
class Layer {
 public:
  template <class L>
  requires requires(const L& layer, NetworkBuilder& builder) { layer.build(builder); }
  Layer(L layer)  // NOLINT(*-explicit-*)
      : build_([layer = std::move(layer)](NetworkBuilder& builder) { layer.build(builder); }) {}
  void build(NetworkBuilder& builder) const { build_(builder); }

 private:
  std::function<void(NetworkBuilder&)> build_;
};

/// y = body(x) + shortcut(x) (He et al., 2016); an empty shortcut is x itself. Its layers are named
/// "<name>.<layer>" and "<name>.shortcut.<layer>", numbered from 1 in each where they have no name.
/// Throws Error where body and shortcut end in different shapes.
struct Residual {
  std::vector<Layer> body = {};
  std::vector<Layer> shortcut = {};
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
