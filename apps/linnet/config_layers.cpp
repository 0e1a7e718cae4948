// SPDX-License-Identifier: Apache-2.0
#include "config_layers.h"

#include <functional>
#include <map>

#include "base/check.h"
#include "nearest.h"

namespace linnet::command {
namespace {

/// An integer, or [height, width].
Size2d size(Section& section, std::string_view key, Size2d otherwise) {
  const toml::node* found = section.node(key);
  if (found == nullptr) return otherwise;
  if (found->is_integer()) return section.integer(key, 0, 1);
  if (!found->is_array() || found->as_array()->size() != 2) {
    section.refuse_type(key, "an integer or [height, width]");
  }
  const std::vector<std::int64_t> both = section.integers(key);
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
  layer.stride = size(s, "stride", layer.stride);
  layer.padding = padding(s);
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

Layer batch_norm(Section& s) {
  BatchNorm layer;
  layer.epsilon = s.number("epsilon", layer.epsilon);
  layer.momentum = s.number("momentum", layer.momentum);
  layer.name = s.text("name", "");
  return layer;
}

Layer dropout(Section& s) {
  Dropout layer;
  layer.rate = s.number("rate", layer.rate);
  layer.name = s.text("name", "");
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
      {"dense", dense},
      {"max_pool2d", pool<MaxPool2d>},
      {"avg_pool2d", pool<AvgPool2d>},
      {"global_avg_pool2d", plain<GlobalAvgPool2d>},
      {"global_max_pool2d", plain<GlobalMaxPool2d>},
      {"flatten", plain<Flatten>},
      {"reshape", reshape},
      {"rescale", rescale},
      {"batch_norm", batch_norm},
      {"dropout", dropout},
      {"relu", plain<ReLU>},
      {"tanh", plain<Tanh>},
      {"sigmoid", plain<Sigmoid>},
      {"gelu", plain<GELU>},
      {"softmax", plain<Softmax>},
      {"log_softmax", plain<LogSoftmax>},
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
  section.close();
  return layer;
}

}  // namespace linnet::command
