// SPDX-License-Identifier: Apache-2.0
// Networks of the zoo against torchvision's and timm's: the same weights, by their names, and the
// same pixels give the same outputs (tests/fixtures/make_network_fixtures.py made them).
#include <gtest/gtest.h>
#include <linnet/convert.h>

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "convert/known_networks.h"
#include "convert/layouts.h"
#include "convert/name_rules.h"
#include "convert/network_layers.h"

namespace linnet {
namespace {

constexpr double kTolerance = 1e-4;  // of the outputs' norm

/// A number of 32 bits for each place, as bits() of the fixtures' script makes it.
class Bits {
 public:
  explicit Bits(std::string_view name) {
    for (const char c : name) start_ = (start_ ^ static_cast<unsigned char>(c)) * 16777619U;
  }
  std::uint32_t operator[](std::size_t place) const {
    std::uint32_t x = start_ + static_cast<std::uint32_t>(place) * 0x9E3779B9U;
    x = (x ^ (x >> 16U)) * 0x85EBCA6BU;
    x = (x ^ (x >> 13U)) * 0xC2B2AE35U;
    return x ^ (x >> 16U);
  }

 private:
  std::uint32_t start_ = 2166136261U;
};

/// Returns the weight that value() of the script makes.
Tensor weight_named(const std::string& name, const Shape& shape) {
  Tensor tensor(DType::f32, shape);
  const Bits bits(name);
  double mean = 0;
  double range = 0.1;
  if (name.ends_with("running_var")) {
    mean = 1;
    range = 0.3;
  } else if (name.ends_with("gamma") || name.ends_with("layer_scale")) {
    mean = 0.5;
    range = 0.2;
  } else if (name.ends_with("weight")) {
    mean = shape.rank() > 1 ? 0 : 1;
    range =
        shape.rank() > 1
            ? std::sqrt(6.0 * static_cast<double>(shape[0]) / static_cast<double>(shape.elements()))
            : 0.2;
  }
  const std::span<float> numbers = tensor.as_writable<float>();
  for (std::size_t i = 0; i < numbers.size(); ++i) {
    numbers[i] = static_cast<float>(mean + range * (bits[i] / 0x1p31 - 1));
  }
  return tensor;
}

/// Returns a network's weights by the names that a library has for them.
State weights_of(const KnownNetwork& known, const NetworkSizes& sizes) {
  const Family& family = family_named(known.family);
  State state;
  for (const WeightLayer& layer : weight_layers(known.make(sizes).definition())) {
    const auto there = their_name(family, sizes.names, layer.name);
    for (const TheirTensor& tensor : their_tensors(layer, sizes.names, *there->rule, false)) {
      const std::string name = tensor_name(there->name, ".", tensor.role);
      state.set(name, weight_named(name, tensor.shape));
    }
  }
  return state;
}

TEST(NetworkOutputs, AreThoseOfTheOtherLibraries) {
  std::ifstream file(LINNET_NETWORK_OUTPUTS);
  int compared = 0;
  for (const nlohmann::json& entry : nlohmann::json::parse(file)) {
    const auto side = entry.at("side").get<std::int64_t>();
    const auto library = entry.at("names").get<std::string>();
    ImportOptions options;
    options.network = entry.at("network").get<std::string>();
    options.image = {side, side};
    SCOPED_TRACE(options.network + " of " + library);
    const KnownNetwork& known = known_network(options.network);
    NetworkSizes sizes{.names = library == "timm" ? WeightNames::timm : WeightNames::torchvision};
    sizes.image = options.image;
    sizes.classes = entry.at("classes").get<std::int64_t>();
    const State theirs = weights_of(known, sizes);
    Imported imported = import_weights(theirs, options, {.device = "cpu", .threads = 1});
    EXPECT_EQ(imported.names, sizes.names);
    Tensor pixels(DType::u8, {1, side, side, 3});
    const Bits bits("pixels");
    const std::span<std::uint8_t> bytes = pixels.as_writable<std::uint8_t>();
    for (std::size_t i = 0; i < bytes.size(); ++i) {
      bytes[i] = static_cast<std::uint8_t>(bits[i] >> 24U);
    }
    const Tensor outputs = imported.model.predict(pixels);
    const auto expected = entry.at("outputs").get<std::vector<double>>();
    ASSERT_EQ(outputs.shape(), (Shape{1, std::ssize(expected)}));
    double off = 0;
    double norm = 0;
    for (std::size_t i = 0; i < expected.size(); ++i) {
      off += std::pow(outputs.as<float>()[i] - expected[i], 2);
      norm += std::pow(expected[i], 2);
    }
    EXPECT_LT(std::sqrt(off / norm), kTolerance);
    // And back.
    EXPECT_TRUE(same_bits(export_weights(imported.model, sizes.names), theirs));
    ++compared;
  }
  EXPECT_EQ(compared, 15);
}

}  // namespace
}  // namespace linnet
