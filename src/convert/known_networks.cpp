// SPDX-License-Identifier: Apache-2.0
#include "convert/known_networks.h"

#include <linnet/layers.h>
#include <linnet/zoo.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>

#include "nn/definition.h"
#include "nn/zoo/designs.h"
#include "ops/arithmetic/arithmetic.h"
#include "ops/channel_scale/channel_scale.h"

namespace linnet {
namespace {

constexpr double kKerasEpsilon = 1.001e-5;
constexpr double kMobileNetV3Epsilon = 1e-3;  // timm has 1e-5
constexpr std::int64_t kImageNet = 224;
constexpr std::int64_t kCifar = 32;

zoo::ImageOptions image_options(const NetworkSizes& sizes) {
  zoo::ImageOptions options;
  options.sample = {sizes.image[0], sizes.image[1], 3};
  options.classes = sizes.classes;
  options.pixels = pixels_layer(sizes.pixels);
  if (sizes.names == WeightNames::keras) {
    options.epsilon = kKerasEpsilon;
    options.stride_first = true;
  }
  return options;
}

using ImageNetwork = Network (*)(const zoo::ImageOptions& options);

template <ImageNetwork make>
Network image_network(const NetworkSizes& sizes) {
  return make(image_options(sizes));
}

template <ImageNetwork make>
Network small_stem(const NetworkSizes& sizes) {
  zoo::ImageOptions options = image_options(sizes);
  options.small_stem = true;
  return make(options);
}

template <std::int64_t depth>
Network cifar_resnet(const NetworkSizes& sizes) {
  return zoo::cifar_resnet(depth, image_options(sizes));
}

template <Network (*make)(const zoo::VggOptions& options), bool batch_norm>
Network vgg(const NetworkSizes& sizes) {
  zoo::VggOptions options;
  options.sample = {sizes.image[0], sizes.image[1], 3};
  options.classes = sizes.classes;
  options.pixels = pixels_layer(sizes.pixels);
  options.batch_norm = batch_norm;
  return make(options);
}

template <Network (*make)(const zoo::TextOptions& options)>
Network text(const NetworkSizes& sizes) {
  return make({.steps = sizes.steps,
               .vocabulary = sizes.vocabulary,
               .features = sizes.features,
               .units = sizes.units,
               .classes = sizes.classes});
}

/// A name of a variant as an argument of a template.
template <std::size_t size>
struct Variant {
  constexpr Variant(const char (&text)[size]) { std::ranges::copy(text, name); }  // NOLINT
  char name[size];
};

template <Network (*make)(std::string_view size, const zoo::ImageOptions& options), Variant variant>
Network variant_network(const NetworkSizes& sizes) {
  return make(variant.name, image_options(sizes));
}

template <std::int64_t scale>
Network efficientnet(const NetworkSizes& sizes) {
  return zoo::efficientnet(scale, image_options(sizes));
}

template <ImageNetwork make>
Network mobilenet_v3(const NetworkSizes& sizes) {
  zoo::ImageOptions options = image_options(sizes);
  if (sizes.names != WeightNames::timm) options.epsilon = kMobileNetV3Epsilon;
  return make(options);
}

constexpr std::array kNetworks{
    KnownNetwork{"resnet18", "resnet", kImageNet, image_network<zoo::resnet18>},
    KnownNetwork{"resnet34", "resnet", kImageNet, image_network<zoo::resnet34>},
    KnownNetwork{"resnet50", "resnet", kImageNet, image_network<zoo::resnet50>},
    KnownNetwork{"resnet101", "resnet", kImageNet, image_network<zoo::resnet101>},
    KnownNetwork{"resnet18-cifar", "resnet", kCifar, small_stem<zoo::resnet18>},
    KnownNetwork{"resnet34-cifar", "resnet", kCifar, small_stem<zoo::resnet34>},
    KnownNetwork{"resnet50-cifar", "resnet", kCifar, small_stem<zoo::resnet50>},
    KnownNetwork{"resnet101-cifar", "resnet", kCifar, small_stem<zoo::resnet101>},
    KnownNetwork{"cifar-resnet20", "cifar-resnet", kCifar, cifar_resnet<20>},
    KnownNetwork{"cifar-resnet32", "cifar-resnet", kCifar, cifar_resnet<32>},
    KnownNetwork{"cifar-resnet44", "cifar-resnet", kCifar, cifar_resnet<44>},
    KnownNetwork{"cifar-resnet56", "cifar-resnet", kCifar, cifar_resnet<56>},
    KnownNetwork{"cifar-resnet110", "cifar-resnet", kCifar, cifar_resnet<110>},
    KnownNetwork{"densenet121", "densenet", kImageNet, image_network<zoo::densenet121>},
    KnownNetwork{"densenet169", "densenet", kImageNet, image_network<zoo::densenet169>},
    KnownNetwork{"vgg11", "vgg", kImageNet, vgg<zoo::vgg11, false>},
    KnownNetwork{"vgg16", "vgg", kImageNet, vgg<zoo::vgg16, false>},
    KnownNetwork{"vgg11-bn", "vgg", kImageNet, vgg<zoo::vgg11, true>},
    KnownNetwork{"vgg16-bn", "vgg", kImageNet, vgg<zoo::vgg16, true>},
    KnownNetwork{"mobilenet_v2", "mobilenet_v2", kImageNet, image_network<zoo::mobilenet_v2>},
    KnownNetwork{"mobilenet_v3_small", "mobilenet_v3_small", kImageNet,
                 mobilenet_v3<zoo::mobilenet_v3_small>},
    KnownNetwork{"mobilenet_v3_large", "mobilenet_v3_large", kImageNet,
                 mobilenet_v3<zoo::mobilenet_v3_large>},
    KnownNetwork{"efficientnet_b0", "efficientnet", kImageNet, efficientnet<0>},
    KnownNetwork{"efficientnet_b1", "efficientnet", 240, efficientnet<1>},
    KnownNetwork{"efficientnet_b2", "efficientnet", 288, efficientnet<2>},
    KnownNetwork{"convnext_atto", "convnext", kImageNet, variant_network<zoo::convnext, "atto">},
    KnownNetwork{"convnext_femto", "convnext", kImageNet, variant_network<zoo::convnext, "femto">},
    KnownNetwork{"convnext_pico", "convnext", kImageNet, variant_network<zoo::convnext, "pico">},
    KnownNetwork{"convnext_nano", "convnext", kImageNet, variant_network<zoo::convnext, "nano">},
    KnownNetwork{"convnext_tiny", "convnext", kImageNet, variant_network<zoo::convnext, "tiny">},
    KnownNetwork{"regnet_x_400mf", "regnet", kImageNet, variant_network<zoo::regnet, "x_400mf">},
    KnownNetwork{"regnet_x_800mf", "regnet", kImageNet, variant_network<zoo::regnet, "x_800mf">},
    KnownNetwork{"regnet_x_1_6gf", "regnet", kImageNet, variant_network<zoo::regnet, "x_1_6gf">},
    KnownNetwork{"regnet_y_400mf", "regnet", kImageNet, variant_network<zoo::regnet, "y_400mf">},
    KnownNetwork{"regnet_y_800mf", "regnet", kImageNet, variant_network<zoo::regnet, "y_800mf">},
    KnownNetwork{"regnet_y_1_6gf", "regnet", kImageNet, variant_network<zoo::regnet, "y_1_6gf">},
    KnownNetwork{"vit_tiny", "vit", kImageNet, variant_network<zoo::vit, "tiny">},
    KnownNetwork{"vit_small", "vit", kImageNet, variant_network<zoo::vit, "small">},
    KnownNetwork{"vit_base", "vit", kImageNet, variant_network<zoo::vit, "base">},
    KnownNetwork{"gru-text", "text", 0, text<zoo::gru_text>},
    KnownNetwork{"lstm-text", "text", 0, text<zoo::lstm_text>},
};

constexpr std::array<PixelScale, 5> kScales{PixelScale::imagenet, PixelScale::caffe,
                                            PixelScale::unit, PixelScale::symmetric,
                                            PixelScale::raw};

/// The factors and shifts of three channels.
struct Scaling {
  std::array<double, 3> scale;
  std::array<double, 3> shift;
};

std::optional<Scaling> scaling_of(const Op& op) {
  if (const auto* channels = dynamic_cast<const ChannelScaleOp*>(&op)) {
    const ChannelScaleAttrs& a = channels->attrs();
    if (a.scale.size() != 3) return {};
    return Scaling{{a.scale[0], a.scale[1], a.scale[2]}, {a.shift[0], a.shift[1], a.shift[2]}};
  }
  if (const auto* all = dynamic_cast<const ScaleOp*>(&op)) {
    const double scale = all->attrs().alpha;
    const double shift = all->attrs().beta;
    return Scaling{{scale, scale, scale}, {shift, shift, shift}};
  }
  return {};
}

/// Returns what the first operator of a network does with its input.
std::optional<Scaling> scaling_of(const Network& network) {
  const NetworkDefinition& definition = network.definition();
  for (const Node& node : definition.graph.nodes()) {
    if (node.inputs.size() == 1 && node.inputs[0] == definition.inputs[0].value) {
      return scaling_of(*node.op);
    }
  }
  return {};
}

bool near(const std::array<double, 3>& a, const std::array<double, 3>& b) {
  return std::ranges::equal(a, b, [](double x, double y) {
    return std::abs(x - y) <= 1e-6 * std::max(1e-3, std::abs(y));
  });
}

}  // namespace

const KnownNetwork& known_network(std::string_view name) {
  return zoo::design_named<KnownNetwork>("network", kNetworks, name);
}

PixelScale published_pixels(const KnownNetwork& known, WeightNames names) {
  const bool half = known.family == "vit" || known.name == "efficientnet_b1";
  if (names == WeightNames::timm && half) return PixelScale::symmetric;
  const bool caffe = names == WeightNames::keras && known.family != "densenet";
  return caffe ? PixelScale::caffe : PixelScale::imagenet;
}

Layer pixels_layer(PixelScale scale) {
  switch (scale) {
    case PixelScale::imagenet: return imagenet_pixels();
    case PixelScale::caffe:
      return Normalize{.mean = {123.68, 116.779, 103.939}, .std = {1}, .scale = 1};
    case PixelScale::unit: return Rescale{};
    case PixelScale::symmetric: return Rescale{.scale = 2.0 / 255, .shift = -1};
    case PixelScale::raw: break;
  }
  return Rescale{.scale = 1};
}

std::vector<std::string> network_names() {
  std::vector<std::string> names;
  for (const KnownNetwork& network : kNetworks) names.emplace_back(network.name);
  return names;
}

std::optional<PixelScale> pixel_scale_of(const Network& network) {
  const Shape sample = network.input_shape();
  const std::optional<Scaling> own = scaling_of(network);
  if (!own || sample.rank() != 3 || sample[2] != 3) return {};
  for (const PixelScale scale : kScales) {
    const std::optional<Scaling> known = scaling_of(Network({1, 1, 3}, {pixels_layer(scale)}));
    if (known && near(own->scale, known->scale) && near(own->shift, known->shift)) return scale;
  }
  return {};
}

}  // namespace linnet
