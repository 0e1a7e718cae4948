// SPDX-License-Identifier: Apache-2.0
#include "torch_fixture.h"

#include <algorithm>
#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>

#include "data_sets.h"

namespace linnet::testing {
namespace {

using Json = nlohmann::json;

/// FNV-1a (32 bits) of the name, then MurmurHash3's finaliser of the element.
class Hash {
 public:
  explicit Hash(const std::string& name) {
    for (const char c : name) seed_ = (seed_ ^ static_cast<std::uint8_t>(c)) * 0x01000193U;
  }
  std::uint32_t operator()(std::size_t i) const {
    std::uint32_t x = static_cast<std::uint32_t>(i) * 0x9E3779B9U + seed_;
    x = (x ^ (x >> 16)) * 0x85EBCA6BU;
    x = (x ^ (x >> 13)) * 0xC2B2AE35U;
    return x ^ (x >> 16);
  }
  /// A multiple of 2^-23 in [-1, 1).
  double uniform(std::size_t i) const { return ((*this)(i) >> 8) * 0x1p-23 - 1; }

 private:
  std::uint32_t seed_ = 0x811C9DC5U;
};

TensorSummary summary_from(const Json& json) {
  TensorSummary summary{.norm = json.at(0).get<double>()};
  for (std::size_t k = 0; k < kProjections; ++k) summary.sums[k] = json.at(k + 1).get<double>();
  return summary;
}

/// Element i is value(i).
template <class T, class F>
Tensor made(std::int64_t count, const Shape& record, const F& value) {
  std::vector<T> values(static_cast<std::size_t>(count * record.elements()));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = value(i);
  return records(std::move(values), record);
}

std::vector<TorchTensor> tensors_from(const Json& json) {
  std::vector<TorchTensor> tensors;
  for (const Json& row : json) {
    TorchTensor tensor{.name = row.at("name").get<std::string>(),
                       .shape = Shape(row.at("shape").get<std::vector<std::int64_t>>()),
                       .start = row.at("start").get<std::array<double, 2>>()};
    if (row.contains("after")) tensor.after = summary_from(row.at("after"));
    if (row.contains("gradient")) {
      tensor.gradient = summary_from(row.at("gradient"));
      tensor.change = row.at("change").get<double>();
    }
    tensors.push_back(std::move(tensor));
  }
  return tensors;
}

}  // namespace

TensorSummary summarise(const std::string& name, std::span<const float> values) {
  const Hash hash(name + "#signs");
  TensorSummary summary;
  double squares = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double v = values[i];
    const std::uint32_t bits = hash(i);
    squares += v * v;
    for (std::size_t k = 0; k < kProjections; ++k) {
      summary.sums[k] += (1.0 - 2.0 * ((bits >> k) & 1U)) * v;
    }
  }
  summary.norm = std::sqrt(squares);
  return summary;
}

double distance(const TensorSummary& a, const TensorSummary& b) {
  double squares = 0;
  for (std::size_t k = 0; k < kProjections; ++k) squares += std::pow(a.sums[k] - b.sums[k], 2);
  return std::sqrt(squares / kProjections) / b.norm;
}

TorchFixture read_fixture(const std::filesystem::path& file) {
  std::ifstream in(file);
  const Json json = Json::parse(in);
  TorchFixture f;
  f.samples = json.at("samples").get<std::string>();
  f.targets = json.at("targets").get<std::string>();
  f.sample = Shape(json.at("sample").get<std::vector<std::int64_t>>());
  f.vocabulary = json.at("vocabulary").get<std::int64_t>();
  f.outputs = json.at("outputs").get<std::int64_t>();
  f.seed = json.at("seed").get<std::string>();
  f.batch = json.at("batch").get<std::int64_t>();
  f.steps = json.at("steps").get<std::int64_t>();
  const auto rate = json.at("learning_rate").get<double>();
  f.optimizer = json.at("optimizer").get<std::string>() == "adam"
                    ? Optimizer(Adam{.learning_rate = rate})
                    : SGD{.learning_rate = rate, .momentum = 0.9};
  f.losses = json.at("losses").get<std::vector<double>>();
  f.outputs_before = summary_from(json.at("outputs_before"));
  if (f.steps > 0) f.outputs_after = summary_from(json.at("outputs_after"));
  f.weights = tensors_from(json.at("weights"));
  f.statistics = tensors_from(json.at("statistics"));
  return f;
}

std::vector<float> initial_values(const TorchTensor& tensor) {
  const Hash hash(tensor.name);
  std::vector<float> values(static_cast<std::size_t>(tensor.shape.elements()));
  const auto [middle, radius] = tensor.start;
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(middle + radius * hash.uniform(i));
  }
  return values;
}

Dataset fixture_data(const TorchFixture& f, bool first) {
  const std::int64_t count = f.batch * (first ? 1 : std::max<std::int64_t>(f.steps, 1));
  const Hash sample("samples" + f.seed);
  const Hash target("targets" + f.seed);
  const auto below = [](std::uint32_t bits, std::int64_t end) {
    return static_cast<std::int32_t>((bits >> 8) % static_cast<std::uint32_t>(end));
  };
  Tensor x;
  if (f.samples == "u8") {
    x = made<std::uint8_t>(count, f.sample,
                           [&](auto i) { return static_cast<std::uint8_t>(sample(i) >> 24); });
  } else if (f.samples == "f32") {
    x = made<float>(count, f.sample, [&](auto i) { return static_cast<float>(sample.uniform(i)); });
  } else {
    x = made<std::int32_t>(count, f.sample, [&](auto i) { return below(sample(i), f.vocabulary); });
  }
  if (f.outputs == 0) return Dataset({{"x", x}});
  if (f.targets == "labels") {
    return data_of(x, made<std::int32_t>(count, {},
                                         [&](auto i) { return below(target(i), f.outputs); }));
  }
  return data_of(x, made<float>(count, {f.outputs}, [&](auto i) {
                   return static_cast<float>(f.targets == "answers" ? target(i) >> 31
                                                                    : target.uniform(i));
                 }));
}

}  // namespace linnet::testing
