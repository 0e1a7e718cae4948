// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/export.h>
#include <linnet/types.h>

#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

namespace linnet {
class NetworkBuilder;
}

LINNET_API_BEGIN
namespace linnet {

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

/// Convolution along the steps of sequences (N, T, C). Weight (filters, 1, kernel,
/// channels / groups). Of the padding, left (before the first step) and right count.
struct Conv1d {
  std::int64_t filters = 0;
  std::int64_t kernel = 3;
  std::int64_t stride = 1;
  Padding2d padding = {};
  std::int64_t dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  Initializer weight_init = {};
  Initializer bias_init = kZeros;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// What leads back through a Conv2d of these settings, as PyTorch's ConvTranspose2d: the output has
/// (in - 1) stride + (kernel - 1) dilation + 1 + output_padding - padding pixels along each axis,
/// with padding "same" in * stride. Weight (channels, height, width, filters / groups).
/// Throws Error unless output_padding is below the stride.
struct ConvTranspose2d {
  std::int64_t filters = 0;
  Size2d kernel = 3;
  Size2d stride = 1;
  Padding2d padding = {};
  Size2d output_padding = 0;
  Size2d dilation = 1;
  std::int64_t groups = 1;
  bool bias = true;
  Initializer weight_init = {};
  Initializer bias_init = kZeros;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// A convolution channel by channel, then one of 1x1 over them (Chollet, 2017): layers
/// "<name>.depthwise" (without bias) and "<name>.pointwise". `multiplier` filters a channel.
struct SeparableConv2d {
  std::int64_t filters = 0;
  Size2d kernel = 3;
  Size2d stride = 1;
  Padding2d padding = {};
  Size2d dilation = 1;
  std::int64_t multiplier = 1;
  bool bias = true;
  Initializer weight_init = {};
  Initializer bias_init = kZeros;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// y = x wᵀ + b on (N, features), and on (N, T, features) at each of the T positions. Weight
/// (units, features).
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

/// Padding counts as zeros in the average, as PyTorch's default, or (as in Keras) not at all.
struct AvgPool2d {
  Size2d size = 2;
  Size2d stride = 0;  ///< 0: the size
  Padding2d padding = {};
  bool count_include_pad = true;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// The mean of `output` bins, of nearly equal size, that cover the image: PyTorch's bins, from
/// floor(i in / out) to ceil((i + 1) in / out).
struct AdaptiveAvgPool2d {
  Size2d output = 1;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// Over (N, T, C); of the padding, left and right count.
struct MaxPool1d {
  std::int64_t size = 2;
  std::int64_t stride = 0;  ///< 0: the size
  Padding2d padding = {};
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
/// As AvgPool2d: padding counts as zeros.
struct AvgPool1d {
  std::int64_t size = 2;
  std::int64_t stride = 0;  ///< 0: the size
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

/// (N, T, C) to (N, C), over the steps; over those alone that count where sequences have lengths.
struct GlobalAvgPool1d {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
struct GlobalMaxPool1d {
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

/// y = (x * scale - mean) / deviation, channel by channel (the last axis, at most 16), as
/// torchvision's ToTensor and Normalize do with pixels. Either vector may hold one value for all
/// channels. Where the channels agree it is a Rescale, and costs nothing either.
struct Normalize {
  std::vector<double> mean = {0};
  std::vector<double> deviation = {1};  ///< above 0
  double scale = 1.0 / 255;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
/// Mean and deviation of ImageNet's training images (red, green, blue in [0, 1]).
inline Normalize imagenet_pixels() { return {{0.485, 0.456, 0.406}, {0.229, 0.224, 0.225}}; }

/// Over the last axis; statistics and defaults are PyTorch's: running = (1 - momentum) * running +
/// momentum * batch (Keras writes 1 - momentum for it). One value per channel has no variance:
/// where a batch of the training, the last one too, gives it no more, train() throws Error before
/// the first step, as PyTorch does in it.
struct BatchNorm {
  double epsilon = 1e-5;
  double momentum = 0.1;
  Initializer weight_init = kOnes;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// Normalises over the last `axes` axes, then scales and shifts element by element (Ba et al.,
/// 2016). Weight and bias have the shape of those axes.
struct LayerNorm {
  double epsilon = 1e-5;
  std::int64_t axes = 1;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// Normalises each sample over the pixels and the channels of each of `groups` equal parts of the
/// last axis (Wu and He, 2018). As many groups as channels: instance norm.
struct GroupNorm {
  std::int64_t groups = 1;
  double epsilon = 1e-5;
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
/// x Φ(x), exactly or in PyTorch's approximation by a tanh.
struct GELU {
  bool tanh_form = false;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
// Activations as PyTorch defines them, its defaults included.

/// x above 0, else slope * x.
struct LeakyReLU {
  double slope = 0.01;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
/// x above 0, else alpha (e^x - 1).
struct ELU {
  double alpha = 1;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
struct SELU {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
/// x / (1 + e^-x), also called swish.
struct SiLU {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
/// log(1 + e^(beta x)) / beta. Throws Error unless beta > 0.
struct Softplus {
  double beta = 1;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
/// clip(x + 3, 0, 6) / 6
struct HardSigmoid {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
/// x clip(x + 3, 0, 6) / 6
struct HardSwish {
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};
/// clip(x, low, high). Throws Error unless low <= high.
struct HardTanh {
  double low = -1;
  double high = 1;
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

/// Rows of a table by their numbers: ids (N, ...) of i32 to (N, ..., features). Weight (vocabulary,
/// features), PyTorch's N(0, 1) at first; Keras begins with {Initializer::Kind::uniform, 0.05}. Ids
/// outside [0, vocabulary) give NaN.
struct Embedding {
  std::int64_t vocabulary = 0;
  std::int64_t features = 0;
  Initializer weight_init = {Initializer::Kind::normal, 1};
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// The first layer of a network of sequences that differ in length: ids (N, T) or (N, T, features),
/// padded at their ends. The network reads how many steps of each count as a further input
/// "input.lengths", i32 (N, 1): the lengths of the data set's column (Column::lengths). Recurrent
/// layers then end after the last step that counts and give 0 behind it (PyTorch's
/// pack_padded_sequence), attention gives weight to steps that count alone, and so do
/// GlobalAvgPool1d and GlobalMaxPool1d. Layers that work on each step alone hand the lengths on;
/// one that would take padding for data (Conv1d, BatchNorm, Flatten, ...) throws Error that says
/// so. Whatever lies in the padding, NaN too, has no part in outputs and gradients.
struct Lengths {
  void build(NetworkBuilder& builder) const;
};

// Recurrent layers take (N, steps, features), from a state of zeros, to (N, units), the state after
// the last step, or with return_sequences to (N, steps, units), the states after each. `reverse`
// goes from the last step to the first; sequences stay in the input's order. Formulas, order of the
// gates and initialisation, U(±1/sqrt(units)), are PyTorch's, and so are the parameters, which can
// be copied: "<name>.weight_ih_l0" (gates * units, features), "weight_hh_l0" (gates * units,
// units), "bias_ih_l0" and "bias_hh_l0" (gates * units); "_reverse" behind them in a reverse
// direction.

/// h' = f(w_ih x + b_ih + w_hh h + b_hh) (Elman, 1990).
struct SimpleRNN {
  enum class Activation : std::uint8_t { tanh, relu };
  std::int64_t units = 0;
  Activation activation = Activation::tanh;
  bool return_sequences = false;
  bool reverse = false;
  bool bias = true;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// Gated recurrent unit, gates r, z, n. reset_after: n = tanh(w_in x + b_in + r (w_hn h + b_hn)),
/// as in PyTorch, cuDNN and Keras; else n = tanh(w_in x + b_in + w_hn (r h) + b_hn), as in the
/// paper (Cho et al., 2014).
struct GRU {
  std::int64_t units = 0;
  bool reset_after = true;
  bool return_sequences = false;
  bool reverse = false;
  bool bias = true;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// Long short-term memory with forget gate, gates i, f, g, o.
struct LSTM {
  std::int64_t units = 0;
  bool return_sequences = false;
  bool reverse = false;
  bool bias = true;
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// The layer in both directions, each with parameters of its own; the results behind each other (as
/// PyTorch's bidirectional=True and Keras's default), or added. Last states are those after the
/// last step and, reversed, after the first one.
struct Bidirectional {
  enum class Merge : std::uint8_t { concat, sum };
  std::variant<SimpleRNN, GRU, LSTM> layer = GRU{};
  Merge merge = Merge::concat;
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

/// What several branches make of the same input, one behind the other along the last axis (of
/// images: the channels); an empty branch is the input itself. Layers are named
/// "<name>.<branch>.<layer>", branches from 1; where one branch alone has layers, "<name>.<layer>".
/// Throws Error where the results differ in more than their last extent.
struct Concat {
  std::vector<std::vector<Layer>> branches = {};
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// Attention of every position of (N, T, features) to all of them, by `heads` heads on features /
/// heads features each (Vaswani et al., 2017): softmax(q kᵀ / sqrt(features / heads)) v. Weights
/// are PyTorch's nn.MultiheadAttention: "in_proj_weight" (3 features, features) of query, key and
/// value, "in_proj_bias" (3 features), "out_proj.weight" (features, features) and "out_proj.bias"
/// (features); its initialisation too. Throws Error unless heads divide the features.
struct MultiHeadAttention {
  std::int64_t heads = 1;
  bool causal = false;  ///< no position sees those behind it
  double dropout = 0;   ///< of the weights that softmax gives
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// A block of a transformer's encoder on (N, T, features), as PyTorch's TransformerEncoderLayer:
/// x = norm1(x + dropout(attention(x))), then x = norm2(x +
/// dropout(linear2(dropout(f(linear1(x)))))) or, with norm_first, the norms before attention and
/// linear1. Parameters are named as there: "self_attn.in_proj_weight", "linear1.weight",
/// "norm1.weight".
struct TransformerEncoder {
  std::int64_t heads = 1;
  std::int64_t feed_forward = 2048;  ///< units of linear1
  double dropout = 0.1;
  Layer activation = ReLU{};
  bool norm_first = false;
  bool causal = false;
  double epsilon = 1e-5;  ///< of the layer norms
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

/// y = x + w for (N, T, features) and a weight (T, features): what tells positions apart.
struct PositionalEmbedding {
  Initializer weight_init = {Initializer::Kind::normal, 0.02};
  std::string name = {};
  void build(NetworkBuilder& builder) const;
};

}  // namespace linnet
LINNET_API_END
