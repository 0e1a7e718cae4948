// SPDX-License-Identifier: Apache-2.0
#include "config/layers.h"

#include <functional>
#include <map>
#include <type_traits>

#include "base/check.h"
#include "config/nearest.h"

namespace linnet::command {
namespace {

/// An integer, or [height, width].
Size2d size(Section& section, std::string_view key, Size2d otherwise, std::int64_t least = 1) {
  const toml::node* found = section.node(key);
  if (found == nullptr) return otherwise;
  if (found->is_integer()) return section.integer(key, 0, least);
  if (!found->is_array() || found->as_array()->size() != 2) {
    section.refuse_type(key, "an integer or [height, width]");
  }
  const std::vector<std::int64_t> both = section.integers(key, least);
  return {both[0], both[1]};
}

/// "valid", "same", or how many zeros on each side.
Padding2d padding(Section& section) {
  const toml::node* found = section.node("padding");
  if (found == nullptr) return Padding2d::valid();
  if (found->is_integer()) return Padding2d::all(section.integer("padding", 0));
  if (!found->is_string()) section.refuse_type("padding", "\"same\", \"valid\" or an integer");
  return section.choice("padding", 0, {"valid", "same"}) == 0 ? Padding2d::valid()
                                                              : Padding2d::same();
}

Initializer initializer(Section& section, std::string_view key, Initializer otherwise) {
  const toml::node* found = section.node(key);
  if (found == nullptr) return otherwise;
  if (found->is_number()) return {Initializer::Kind::constant, section.number(key, 0)};
  if (!found->is_string()) section.refuse_type(key, "a number or the name of an initializer");
  const std::size_t kind =
      section.choice(key, 0, {"glorot_uniform", "glorot_normal", "he_uniform", "he_normal"});
  return {static_cast<Initializer::Kind>(
              static_cast<std::size_t>(Initializer::Kind::glorot_uniform) + kind),
          0};
}

Layer conv2d(Section& s) {
  Conv2d layer;
  layer.filters = s.need("filters").integer("filters", 1, 1);
  layer.kernel = size(s, "kernel", layer.kernel);
  layer.stride = size(s, "stride", layer.stride);
  layer.padding = padding(s);
  layer.dilation = size(s, "dilation", layer.dilation);
  layer.groups = s.integer("groups", layer.groups, 1);
  layer.bias = s.flag("bias", layer.bias);
  layer.weight_init = initializer(s, "weight_init", layer.weight_init);
  layer.bias_init = initializer(s, "bias_init", layer.bias_init);
  layer.name = s.text("name", "");
  return layer;
}

Layer conv1d(Section& s) {
  Conv1d layer;
  layer.filters = s.need("filters").integer("filters", 1, 1);
  layer.kernel = s.integer("kernel", layer.kernel, 1);
  layer.stride = s.integer("stride", layer.stride, 1);
  layer.padding = padding(s);
  layer.dilation = s.integer("dilation", layer.dilation, 1);
  layer.groups = s.integer("groups", layer.groups, 1);
  layer.bias = s.flag("bias", layer.bias);
  layer.weight_init = initializer(s, "weight_init", layer.weight_init);
  layer.bias_init = initializer(s, "bias_init", layer.bias_init);
  layer.name = s.text("name", "");
  return layer;
}

Layer conv_transpose2d(Section& s) {
  ConvTranspose2d layer;
  layer.filters = s.need("filters").integer("filters", 1, 1);
  layer.kernel = size(s, "kernel", layer.kernel);
  layer.stride = size(s, "stride", layer.stride);
  layer.padding = padding(s);
  layer.output_padding = size(s, "output_padding", layer.output_padding, 0);
  layer.dilation = size(s, "dilation", layer.dilation);
  layer.groups = s.integer("groups", layer.groups, 1);
  layer.bias = s.flag("bias", layer.bias);
  layer.weight_init = initializer(s, "weight_init", layer.weight_init);
  layer.bias_init = initializer(s, "bias_init", layer.bias_init);
  layer.name = s.text("name", "");
  return layer;
}

Layer separable_conv2d(Section& s) {
  SeparableConv2d layer;
  layer.filters = s.need("filters").integer("filters", 1, 1);
  layer.kernel = size(s, "kernel", layer.kernel);
  layer.stride = size(s, "stride", layer.stride);
  layer.padding = padding(s);
  layer.dilation = size(s, "dilation", layer.dilation);
  layer.multiplier = s.integer("multiplier", layer.multiplier, 1);
  layer.bias = s.flag("bias", layer.bias);
  layer.weight_init = initializer(s, "weight_init", layer.weight_init);
  layer.bias_init = initializer(s, "bias_init", layer.bias_init);
  layer.name = s.text("name", "");
  return layer;
}

Layer dense(Section& s) {
  Dense layer;
  layer.units = s.need("units").integer("units", 1, 1);
  layer.bias = s.flag("bias", layer.bias);
  layer.weight_init = initializer(s, "weight_init", layer.weight_init);
  layer.bias_init = initializer(s, "bias_init", layer.bias_init);
  layer.name = s.text("name", "");
  return layer;
}

template <class Pool>
Layer pool(Section& s) {
  Pool layer;
  layer.size = size(s, "size", layer.size);
  layer.stride = size(s, "stride", layer.stride, 0);  // 0: the size
  layer.padding = padding(s);
  if constexpr (requires { layer.count_include_pad; }) {
    layer.count_include_pad = s.flag("count_include_pad", layer.count_include_pad);
  }
  layer.name = s.text("name", "");
  return layer;
}

template <class Pool>
Layer pool1d(Section& s) {
  Pool layer;
  layer.size = s.integer("size", layer.size, 1);
  layer.stride = s.integer("stride", layer.stride);  // 0: the size
  layer.padding = padding(s);
  layer.name = s.text("name", "");
  return layer;
}

Layer adaptive_avg_pool2d(Section& s) {
  AdaptiveAvgPool2d layer;
  layer.output = size(s, "output", layer.output);
  layer.name = s.text("name", "");
  return layer;
}

Layer reshape(Section& s) {
  Reshape layer;
  layer.sample = Shape(s.need("sample").integers("sample"));
  layer.name = s.text("name", "");
  return layer;
}

Layer rescale(Section& s) {
  Rescale layer;
  layer.scale = s.number("scale", layer.scale);
  layer.shift = s.number("shift", layer.shift);
  layer.name = s.text("name", "");
  return layer;
}

/// A number for all channels, or one each.
std::vector<double> channels(Section& section, std::string_view key,
                             std::vector<double> otherwise) {
  const toml::node* found = section.node(key);
  if (found == nullptr) return otherwise;
  if (found->is_number()) return {section.number(key, 0)};
  std::vector<double> values;
  if (const toml::array* array = found->as_array()) {
    for (const toml::node& value : *array) {
      if (value.is_number()) values.push_back(*value.value<double>());
    }
    if (!values.empty() && values.size() == array->size()) return values;
  }
  section.refuse_type(key, "a number or an array of numbers");
}

Layer normalize(Section& s) {
  Normalize layer;
  layer.mean = channels(s, "mean", layer.mean);
  layer.deviation = channels(s, "deviation", layer.deviation);
  layer.scale = s.number("scale", layer.scale);
  layer.name = s.text("name", "");
  return layer;
}

Layer batch_norm(Section& s) {
  BatchNorm layer;
  layer.epsilon = s.number("epsilon", layer.epsilon);
  layer.momentum = s.number("momentum", layer.momentum);
  layer.name = s.text("name", "");
  return layer;
}

Layer layer_norm(Section& s) {
  LayerNorm layer;
  layer.epsilon = s.number("epsilon", layer.epsilon);
  layer.axes = s.integer("axes", layer.axes, 1);
  layer.name = s.text("name", "");
  return layer;
}

Layer group_norm(Section& s) {
  GroupNorm layer;
  layer.groups = s.integer("groups", layer.groups, 1);
  layer.epsilon = s.number("epsilon", layer.epsilon);
  layer.name = s.text("name", "");
  return layer;
}

Layer dropout(Section& s) {
  Dropout layer;
  layer.rate = s.number("rate", layer.rate);
  layer.name = s.text("name", "");
  return layer;
}

Layer gelu(Section& s) {
  GELU layer;
  layer.tanh_form = s.flag("tanh_form", layer.tanh_form);
  layer.name = s.text("name", "");
  return layer;
}

Layer leaky_relu(Section& s) {
  LeakyReLU layer;
  layer.slope = s.number("slope", layer.slope);
  layer.name = s.text("name", "");
  return layer;
}

Layer elu(Section& s) {
  ELU layer;
  layer.alpha = s.number("alpha", layer.alpha);
  layer.name = s.text("name", "");
  return layer;
}

Layer softplus(Section& s) {
  Softplus layer;
  layer.beta = s.number("beta", layer.beta);
  layer.name = s.text("name", "");
  return layer;
}

Layer hard_tanh(Section& s) {
  HardTanh layer;
  layer.low = s.number("low", layer.low);
  layer.high = s.number("high", layer.high);
  layer.name = s.text("name", "");
  return layer;
}

Layer multi_head_attention(Section& s) {
  MultiHeadAttention layer;
  layer.heads = s.integer("heads", layer.heads, 1);
  layer.causal = s.flag("causal", layer.causal);
  layer.dropout = s.number("dropout", layer.dropout);
  layer.name = s.text("name", "");
  return layer;
}

Layer transformer_encoder(Section& s) {
  TransformerEncoder layer;
  layer.heads = s.integer("heads", layer.heads, 1);
  layer.feed_forward = s.integer("feed_forward", layer.feed_forward, 1);
  layer.dropout = s.number("dropout", layer.dropout);
  if (s.choice("activation", 0, {"relu", "gelu"}) == 1) layer.activation = GELU{};
  layer.norm_first = s.flag("norm_first", layer.norm_first);
  layer.causal = s.flag("causal", layer.causal);
  layer.epsilon = s.number("epsilon", layer.epsilon);
  layer.name = s.text("name", "");
  return layer;
}

Layer embedding(Section& s) {
  Embedding layer;
  layer.vocabulary = s.need("vocabulary").integer("vocabulary", 1, 1);
  layer.features = s.need("features").integer("features", 1, 1);
  layer.weight_init = initializer(s, "weight_init", layer.weight_init);
  layer.name = s.text("name", "");
  return layer;
}

/// A recurrent layer, in both directions if `bidirectional` says so.
template <class L>
Layer recurrent(Section& s) {
  L layer;
  layer.units = s.need("units").integer("units", 1, 1);
  if constexpr (std::is_same_v<L, SimpleRNN>) {
    if (s.choice("activation", 0, {"tanh", "relu"}) == 1) {
      layer.activation = SimpleRNN::Activation::relu;
    }
  }
  if constexpr (std::is_same_v<L, GRU>) layer.reset_after = s.flag("reset_after", true);
  layer.return_sequences = s.flag("return_sequences", layer.return_sequences);
  layer.reverse = s.flag("reverse", layer.reverse);
  layer.bias = s.flag("bias", layer.bias);
  layer.name = s.text("name", "");
  if (s.flag("bidirectional", false)) return Bidirectional{.layer = layer};
  return layer;
}

/// A layer that has a name and nothing else.
template <class L>
Layer plain(Section& s) {
  L layer;
  layer.name = s.text("name", "");
  return layer;
}

using Reader = std::function<Layer(Section&)>;

const std::map<std::string, Reader>& readers() {
  static const std::map<std::string, Reader> table{
      {"conv2d", conv2d},
      {"conv1d", conv1d},
      {"conv_transpose2d", conv_transpose2d},
      {"separable_conv2d", separable_conv2d},
      {"dense", dense},
      {"max_pool2d", pool<MaxPool2d>},
      {"avg_pool2d", pool<AvgPool2d>},
      {"adaptive_avg_pool2d", adaptive_avg_pool2d},
      {"max_pool1d", pool1d<MaxPool1d>},
      {"avg_pool1d", pool1d<AvgPool1d>},
      {"global_avg_pool1d", plain<GlobalAvgPool1d>},
      {"global_max_pool1d", plain<GlobalMaxPool1d>},
      {"global_avg_pool2d", plain<GlobalAvgPool2d>},
      {"global_max_pool2d", plain<GlobalMaxPool2d>},
      {"flatten", plain<Flatten>},
      {"reshape", reshape},
      {"rescale", rescale},
      {"normalize", normalize},
      {"batch_norm", batch_norm},
      {"layer_norm", layer_norm},
      {"group_norm", group_norm},
      {"dropout", dropout},
      {"relu", plain<ReLU>},
      {"tanh", plain<Tanh>},
      {"sigmoid", plain<Sigmoid>},
      {"gelu", gelu},
      {"leaky_relu", leaky_relu},
      {"elu", elu},
      {"selu", plain<SELU>},
      {"silu", plain<SiLU>},
      {"softplus", softplus},
      {"hard_sigmoid", plain<HardSigmoid>},
      {"hard_swish", plain<HardSwish>},
      {"hard_tanh", hard_tanh},
      {"softmax", plain<Softmax>},
      {"log_softmax", plain<LogSoftmax>},
      {"multi_head_attention", multi_head_attention},
      {"transformer_encoder", transformer_encoder},
      {"positional_embedding", plain<PositionalEmbedding>},
      {"embedding", embedding},
      {"simple_rnn", recurrent<SimpleRNN>},
      {"gru", recurrent<GRU>},
      {"lstm", recurrent<LSTM>},
  };
  return table;
}

}  // namespace

Layer read_layer(const toml::table& table, const std::string& file, const std::string& where) {
  Section section(table, file, where);
  if (!section.has("type")) section.refuse("type", fmt::format("{} needs the key 'type'", where));
  const std::string type = section.text("type", "");
  const auto found = readers().find(type);
  if (found == readers().end()) {
    std::vector<std::string> names;
    for (const auto& [name, reader] : readers()) names.push_back(name);
    const std::string near = did_you_mean(type, names);
    section.refuse("type",
                   fmt::format("unknown layer type '{}' in {}{}", type, where,
                               near.empty() ? fmt::format("; expected {}", listed(names)) : near));
  }
  Layer layer = found->second(section);
  // As in other libraries; here it is a layer of its own.
  if (section.has("activation") && !section.knows("activation")) {
    const std::string name = section.text("activation", "");
    section.refuse("activation",
                   fmt::format("{} takes no 'activation'; put a layer {{ type = \"{}\" }} after it",
                               type, readers().contains(name) ? name : "relu"));
  }
  section.close();
  return layer;
}

}  // namespace linnet::command
