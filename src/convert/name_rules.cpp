// SPDX-License-Identifier: Apache-2.0
#include "convert/name_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>

#include "base/check.h"

namespace linnet {
namespace {

constexpr std::array kResNet{
    NameRule{"conv1", "conv1", "conv1", "conv1_conv", "bn1"},
    NameRule{"bn1", "bn1", "bn1", "conv1_bn"},
    NameRule{"layer{s}.{b}.shortcut.conv", "layer{s}.{b}.downsample.0|layer{s}.{b}.shortcut.0",
             "layer{s}.{b}.downsample.0", "conv{s+1}_block{b+1}_0_conv",
             "layer{s}.{b}.shortcut.bn"},
    NameRule{"layer{s}.{b}.shortcut.bn", "layer{s}.{b}.downsample.1|layer{s}.{b}.shortcut.1",
             "layer{s}.{b}.downsample.1", "conv{s+1}_block{b+1}_0_bn"},
    NameRule{"layer{s}.{b}.conv{k}", "layer{s}.{b}.conv{k}", "layer{s}.{b}.conv{k}",
             "conv{s+1}_block{b+1}_{k}_conv", "layer{s}.{b}.bn{k}"},
    NameRule{"layer{s}.{b}.bn{k}", "layer{s}.{b}.bn{k}", "layer{s}.{b}.bn{k}",
             "conv{s+1}_block{b+1}_{k}_bn"},
    NameRule{"fc", "fc|linear", "fc", "predictions"},
};

// "norm.1" and "conv.1": of weights that torchvision published before 2018.
constexpr std::array kDenseNet{
    NameRule{"features.conv0", "features.conv0", "features.conv0", "conv1_conv|conv1/conv"},
    NameRule{"features.norm0", "features.norm0", "features.norm0", "conv1_bn|conv1/bn"},
    NameRule{"features.denseblock{b}.denselayer{i}.norm1",
             "features.denseblock{b}.denselayer{i}.norm1|"
             "features.denseblock{b}.denselayer{i}.norm.1",
             "features.denseblock{b}.denselayer{i}.norm1", "conv{b+1}_block{i}_0_bn"},
    NameRule{"features.denseblock{b}.denselayer{i}.conv1",
             "features.denseblock{b}.denselayer{i}.conv1|"
             "features.denseblock{b}.denselayer{i}.conv.1",
             "features.denseblock{b}.denselayer{i}.conv1", "conv{b+1}_block{i}_1_conv"},
    NameRule{"features.denseblock{b}.denselayer{i}.norm2",
             "features.denseblock{b}.denselayer{i}.norm2|"
             "features.denseblock{b}.denselayer{i}.norm.2",
             "features.denseblock{b}.denselayer{i}.norm2", "conv{b+1}_block{i}_1_bn"},
    NameRule{"features.denseblock{b}.denselayer{i}.conv2",
             "features.denseblock{b}.denselayer{i}.conv2|"
             "features.denseblock{b}.denselayer{i}.conv.2",
             "features.denseblock{b}.denselayer{i}.conv2", "conv{b+1}_block{i}_2_conv"},
    NameRule{"features.transition{t}.norm", "features.transition{t}.norm",
             "features.transition{t}.norm", "pool{t+1}_bn"},
    NameRule{"features.transition{t}.conv", "features.transition{t}.conv",
             "features.transition{t}.conv", "pool{t+1}_conv"},
    NameRule{"features.norm5", "features.norm5", "features.norm5", "bn"},
    NameRule{"classifier", "classifier", "classifier", "predictions|fc1000"},
};

// Keras has VGG-16 and no VGG-11; layers of torchvision and timm are numbered through.
constexpr std::array kVgg{
    NameRule{"features.0", "features.0", "features.0", "block1_conv1"},
    NameRule{"features.2", "features.2", "features.2", "block1_conv2"},
    NameRule{"features.5", "features.5", "features.5", "block2_conv1"},
    NameRule{"features.7", "features.7", "features.7", "block2_conv2"},
    NameRule{"features.10", "features.10", "features.10", "block3_conv1"},
    NameRule{"features.12", "features.12", "features.12", "block3_conv2"},
    NameRule{"features.14", "features.14", "features.14", "block3_conv3"},
    NameRule{"features.17", "features.17", "features.17", "block4_conv1"},
    NameRule{"features.19", "features.19", "features.19", "block4_conv2"},
    NameRule{"features.21", "features.21", "features.21", "block4_conv3"},
    NameRule{"features.24", "features.24", "features.24", "block5_conv1"},
    NameRule{"features.26", "features.26", "features.26", "block5_conv2"},
    NameRule{"features.28", "features.28", "features.28", "block5_conv3"},
    NameRule{"features.{n}", "features.{n}", "features.{n}", ""},
    NameRule{"classifier.0", "classifier.0", "pre_logits.fc1", "fc1", "", true},
    NameRule{"classifier.3", "classifier.3", "pre_logits.fc2", "fc2", "", true},
    NameRule{"classifier.6", "classifier.6", "head.fc", "predictions"},
};

constexpr std::array kCifarResNet{
    NameRule{"conv1", "conv1", "", ""},
    NameRule{"bn1", "bn1", "", ""},
    NameRule{"layer{s}.{b}.conv{k}", "layer{s}.{b}.conv{k}", "", ""},
    NameRule{"layer{s}.{b}.bn{k}", "layer{s}.{b}.bn{k}", "", ""},
    NameRule{"linear", "linear|fc", "", ""},
};

constexpr std::array kText{
    NameRule{"embedding_1", "embedding|embeddings|embed|emb", "", "embedding|embedding_{n}"},
    NameRule{"gru_1", "gru|rnn", "", "gru/gru_cell|gru_{n}/gru_cell"},
    NameRule{"lstm_1", "lstm|rnn", "", "lstm/lstm_cell|lstm_{n}/lstm_cell"},
    NameRule{"dense_1", "fc|linear|dense|head|classifier", "", "dense|dense_{n}"},
};

constexpr std::array kFamilies{
    Family{"resnet", kResNet, "fc"},     Family{"densenet", kDenseNet, "classifier"},
    Family{"vgg", kVgg, "classifier.6"}, Family{"cifar-resnet", kCifarResNet, "linear"},
    Family{"text", kText, "dense_1"},
};

constexpr std::int64_t kMostNumber = 1'000'000;  // of a layer among its siblings

/// A variable of a pattern: {s+1} is 's' and 1.
struct Variable {
  char name = 0;
  std::int64_t plus = 0;
};

/// Reads the variable that `pattern` begins with, and moves on to what follows it.
Variable take_variable(std::string_view& pattern) {
  LINNET_ASSERT(pattern.size() >= 3 && pattern[0] == '{');
  Variable variable{.name = pattern[1]};
  if (pattern[2] == '+') variable.plus = pattern[3] - '0';
  pattern.remove_prefix(pattern.find('}') + 1);
  return variable;
}

using Numbers = std::map<char, std::int64_t>;

std::optional<Numbers> numbers_in(std::string_view name, std::string_view pattern) {
  Numbers numbers;
  while (!pattern.empty()) {
    if (pattern[0] != '{') {
      if (name.empty() || name[0] != pattern[0]) return {};
      name.remove_prefix(1);
      pattern.remove_prefix(1);
      continue;
    }
    const Variable variable = take_variable(pattern);
    std::int64_t number = 0;
    const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (error != std::errc() || name[0] == '-' || number > kMostNumber) return {};
    numbers[variable.name] = number - variable.plus;
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  }
  return name.empty() ? std::optional(numbers) : std::nullopt;
}

/// Splits "a|b".
std::vector<std::string_view> alternatives(std::string_view names) {
  std::vector<std::string_view> all;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find('|'), names.size());
    all.push_back(names.substr(0, end));
    names.remove_prefix(std::min(end + 1, names.size()));
  }
  return all;
}

}  // namespace

std::string_view NameRule::names_of(WeightNames names) const {
  switch (names) {
    case WeightNames::torchvision: return torchvision;
    case WeightNames::timm: return timm;
    case WeightNames::keras: return keras;
    case WeightNames::linnet: break;
  }
  return ours;
}

std::span<const Family> families() { return kFamilies; }

const Family& family_named(std::string_view name) {
  const auto found = std::ranges::find(kFamilies, name, &Family::name);
  LINNET_ASSERT(found != kFamilies.end());
  return *found;
}

std::optional<std::string> renamed(std::string_view name, std::string_view pattern,
                                   std::string_view result) {
  const std::optional<Numbers> numbers = numbers_in(name, pattern);
  if (!numbers) return {};
  std::string text;
  while (!result.empty()) {
    if (result[0] != '{') {
      text += result[0];
      result.remove_prefix(1);
      continue;
    }
    const Variable variable = take_variable(result);
    const auto number = numbers->find(variable.name);
    if (number == numbers->end() || number->second + variable.plus < 0) return {};
    text += std::to_string(number->second + variable.plus);
  }
  return text;
}

std::vector<std::string> our_names(const Family& family, WeightNames names,
                                   std::string_view layer) {
  std::vector<std::string> all;
  for (const NameRule& rule : family.rules) {
    for (const std::string_view pattern : alternatives(rule.names_of(names))) {
      auto ours = renamed(layer, pattern, rule.ours);
      if (ours && std::ranges::find(all, *ours) == all.end()) all.push_back(std::move(*ours));
    }
  }
  return all;
}

std::optional<TheirName> their_name(const Family& family, WeightNames names,
                                    std::string_view layer) {
  for (const NameRule& rule : family.rules) {
    const std::vector<std::string_view> patterns = alternatives(rule.names_of(names));
    if (patterns.empty()) continue;
    if (auto name = renamed(layer, rule.ours, patterns[0])) return TheirName{&rule, *name};
  }
  return {};
}

}  // namespace linnet
