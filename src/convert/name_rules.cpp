// SPDX-License-Identifier: Apache-2.0
#include "convert/name_rules.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <map>

#include "base/ascii.h"
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

// torchvision numbers all blocks of these three in one row; timm numbers stages, and blocks in
// each.
constexpr std::array<std::uint8_t, 6> kMobileNetV2Stages{2, 4, 7, 11, 14, 17};
constexpr std::array kMobileNetV2{
    NameRule{"features.0.0", "features.0.0", "conv_stem", ""},
    NameRule{"features.0.1", "features.0.1", "bn1", ""},
    NameRule{"features.1.conv.0.0", "features.1.conv.0.0", "blocks.0.0.conv_dw", ""},
    NameRule{"features.1.conv.0.1", "features.1.conv.0.1", "blocks.0.0.bn1", ""},
    NameRule{"features.1.conv.1", "features.1.conv.1", "blocks.0.0.conv_pw", ""},
    NameRule{"features.1.conv.2", "features.1.conv.2", "blocks.0.0.bn2", ""},
    NameRule{"features.18.0", "features.18.0", "conv_head", ""},
    NameRule{"features.18.1", "features.18.1", "bn2", ""},
    NameRule{"features.{f}.conv.0.0", "features.{f}.conv.0.0", "blocks.{S}.{b}.conv_pw", ""},
    NameRule{"features.{f}.conv.0.1", "features.{f}.conv.0.1", "blocks.{S}.{b}.bn1", ""},
    NameRule{"features.{f}.conv.1.0", "features.{f}.conv.1.0", "blocks.{S}.{b}.conv_dw", ""},
    NameRule{"features.{f}.conv.1.1", "features.{f}.conv.1.1", "blocks.{S}.{b}.bn2", ""},
    NameRule{"features.{f}.conv.2", "features.{f}.conv.2", "blocks.{S}.{b}.conv_pwl", ""},
    NameRule{"features.{f}.conv.3", "features.{f}.conv.3", "blocks.{S}.{b}.bn3", ""},
    NameRule{"classifier.1", "classifier.1", "classifier", ""},
};

// The last stage is the convolution after the blocks. Part 2 of a block projects, or squeezes and
// then part 3 projects.
constexpr std::array<std::uint8_t, 6> kMobileNetV3LargeStages{2, 4, 7, 11, 13, 16};
constexpr std::array<std::uint8_t, 5> kMobileNetV3SmallStages{2, 4, 7, 9, 12};
constexpr std::array kMobileNetV3{
    NameRule{"features.0.0", "features.0.0", "conv_stem", ""},
    NameRule{"features.0.1", "features.0.1", "bn1", ""},
    NameRule{"features.1.block.0.0", "features.1.block.0.0", "blocks.0.0.conv_dw", ""},
    NameRule{"features.1.block.0.1", "features.1.block.0.1", "blocks.0.0.bn1", ""},
    NameRule{"features.1.block.1.fc1", "features.1.block.1.fc1", "blocks.0.0.se.conv_reduce", "",
             "", true, true},
    NameRule{"features.1.block.1.fc2", "features.1.block.1.fc2", "blocks.0.0.se.conv_expand", "",
             "", true, true},
    NameRule{"features.1.block.1.0", "features.1.block.1.0", "blocks.0.0.conv_pw", ""},
    NameRule{"features.1.block.1.1", "features.1.block.1.1", "blocks.0.0.bn2", ""},
    NameRule{"features.1.block.2.0", "features.1.block.2.0", "blocks.0.0.conv_pw", ""},
    NameRule{"features.1.block.2.1", "features.1.block.2.1", "blocks.0.0.bn2", ""},
    NameRule{"features.{f}.block.0.0", "features.{f}.block.0.0", "blocks.{S}.{b}.conv_pw", ""},
    NameRule{"features.{f}.block.0.1", "features.{f}.block.0.1", "blocks.{S}.{b}.bn1", ""},
    NameRule{"features.{f}.block.1.0", "features.{f}.block.1.0", "blocks.{S}.{b}.conv_dw", ""},
    NameRule{"features.{f}.block.1.1", "features.{f}.block.1.1", "blocks.{S}.{b}.bn2", ""},
    NameRule{"features.{f}.block.2.fc1", "features.{f}.block.2.fc1",
             "blocks.{S}.{b}.se.conv_reduce", "", "", true, true},
    NameRule{"features.{f}.block.2.fc2", "features.{f}.block.2.fc2",
             "blocks.{S}.{b}.se.conv_expand", "", "", true, true},
    NameRule{"features.{f}.block.2.0", "features.{f}.block.2.0", "blocks.{S}.{b}.conv_pwl", ""},
    NameRule{"features.{f}.block.2.1", "features.{f}.block.2.1", "blocks.{S}.{b}.bn3", ""},
    NameRule{"features.{f}.block.3.0", "features.{f}.block.3.0", "blocks.{S}.{b}.conv_pwl", ""},
    NameRule{"features.{f}.block.3.1", "features.{f}.block.3.1", "blocks.{S}.{b}.bn3", ""},
    NameRule{"features.{f}.0", "features.{f}.0", "blocks.{S}.{b}.conv", ""},
    NameRule{"features.{f}.1", "features.{f}.1", "blocks.{S}.{b}.bn1", ""},
    NameRule{"classifier.0", "classifier.0", "conv_head", "", "", true},
    NameRule{"classifier.3", "classifier.3", "classifier", ""},
};

constexpr std::array kEfficientNet{
    NameRule{"features.0.0", "features.0.0", "conv_stem", ""},
    NameRule{"features.0.1", "features.0.1", "bn1", ""},
    NameRule{"features.1.{b}.block.0.0", "features.1.{b}.block.0.0", "blocks.0.{b}.conv_dw", ""},
    NameRule{"features.1.{b}.block.0.1", "features.1.{b}.block.0.1", "blocks.0.{b}.bn1", ""},
    NameRule{"features.1.{b}.block.1.fc1", "features.1.{b}.block.1.fc1",
             "blocks.0.{b}.se.conv_reduce", "", "", true, true},
    NameRule{"features.1.{b}.block.1.fc2", "features.1.{b}.block.1.fc2",
             "blocks.0.{b}.se.conv_expand", "", "", true, true},
    NameRule{"features.1.{b}.block.2.0", "features.1.{b}.block.2.0", "blocks.0.{b}.conv_pw", ""},
    NameRule{"features.1.{b}.block.2.1", "features.1.{b}.block.2.1", "blocks.0.{b}.bn2", ""},
    NameRule{"features.{S+1}.{b}.block.0.0", "features.{S+1}.{b}.block.0.0",
             "blocks.{S}.{b}.conv_pw", ""},
    NameRule{"features.{S+1}.{b}.block.0.1", "features.{S+1}.{b}.block.0.1", "blocks.{S}.{b}.bn1",
             ""},
    NameRule{"features.{S+1}.{b}.block.1.0", "features.{S+1}.{b}.block.1.0",
             "blocks.{S}.{b}.conv_dw", ""},
    NameRule{"features.{S+1}.{b}.block.1.1", "features.{S+1}.{b}.block.1.1", "blocks.{S}.{b}.bn2",
             ""},
    NameRule{"features.{S+1}.{b}.block.2.fc1", "features.{S+1}.{b}.block.2.fc1",
             "blocks.{S}.{b}.se.conv_reduce", "", "", true, true},
    NameRule{"features.{S+1}.{b}.block.2.fc2", "features.{S+1}.{b}.block.2.fc2",
             "blocks.{S}.{b}.se.conv_expand", "", "", true, true},
    NameRule{"features.{S+1}.{b}.block.3.0", "features.{S+1}.{b}.block.3.0",
             "blocks.{S}.{b}.conv_pwl", ""},
    NameRule{"features.{S+1}.{b}.block.3.1", "features.{S+1}.{b}.block.3.1", "blocks.{S}.{b}.bn3",
             ""},
    NameRule{"features.8.0", "features.8.0", "conv_head", ""},
    NameRule{"features.8.1", "features.8.1", "bn2", ""},
    NameRule{"classifier.1", "classifier.1", "classifier", ""},
};

constexpr std::array kConvNeXt{
    NameRule{"stem.{n}", "features.0.{n}", "stem.{n}", ""},
    NameRule{"stages.{s}.downsample.{n}", "features.{2s}.{n}", "stages.{s}.downsample.{n}", ""},
    NameRule{"stages.{s}.blocks.{b}.conv_dw", "features.{2s+1}.{b}.block.0",
             "stages.{s}.blocks.{b}.conv_dw", ""},
    NameRule{"stages.{s}.blocks.{b}.norm", "features.{2s+1}.{b}.block.2",
             "stages.{s}.blocks.{b}.norm", ""},
    NameRule{"stages.{s}.blocks.{b}.mlp.fc1", "features.{2s+1}.{b}.block.3",
             "stages.{s}.blocks.{b}.mlp.fc1", ""},
    NameRule{"stages.{s}.blocks.{b}.mlp.fc2", "features.{2s+1}.{b}.block.5",
             "stages.{s}.blocks.{b}.mlp.fc2", ""},
    NameRule{"stages.{s}.blocks.{b}.layer_scale", "features.{2s+1}.{b}", "stages.{s}.blocks.{b}",
             ""},
    NameRule{"head.norm", "classifier.0", "head.norm", ""},
    NameRule{"head.fc", "classifier.2", "head.fc", ""},
};

constexpr std::array kRegNet{
    NameRule{"stem.0", "stem.0", "stem.conv", ""},
    NameRule{"stem.1", "stem.1", "stem.bn", ""},
    NameRule{"trunk_output.block{s}.block{s}-{b}.shortcut.proj.0",
             "trunk_output.block{s}.block{s}-{b}.proj.0", "s{s}.b{b+1}.downsample.conv", ""},
    NameRule{"trunk_output.block{s}.block{s}-{b}.shortcut.proj.1",
             "trunk_output.block{s}.block{s}-{b}.proj.1", "s{s}.b{b+1}.downsample.bn", ""},
    NameRule{"trunk_output.block{s}.block{s}-{b}.f.a.0", "trunk_output.block{s}.block{s}-{b}.f.a.0",
             "s{s}.b{b+1}.conv1.conv", ""},
    NameRule{"trunk_output.block{s}.block{s}-{b}.f.a.1", "trunk_output.block{s}.block{s}-{b}.f.a.1",
             "s{s}.b{b+1}.conv1.bn", ""},
    NameRule{"trunk_output.block{s}.block{s}-{b}.f.b.0", "trunk_output.block{s}.block{s}-{b}.f.b.0",
             "s{s}.b{b+1}.conv2.conv", ""},
    NameRule{"trunk_output.block{s}.block{s}-{b}.f.b.1", "trunk_output.block{s}.block{s}-{b}.f.b.1",
             "s{s}.b{b+1}.conv2.bn", ""},
    NameRule{"trunk_output.block{s}.block{s}-{b}.f.se.fc{n}",
             "trunk_output.block{s}.block{s}-{b}.f.se.fc{n}", "s{s}.b{b+1}.se.fc{n}", "", "", true,
             true},
    NameRule{"trunk_output.block{s}.block{s}-{b}.f.c.0", "trunk_output.block{s}.block{s}-{b}.f.c.0",
             "s{s}.b{b+1}.conv3.conv", ""},
    NameRule{"trunk_output.block{s}.block{s}-{b}.f.c.1", "trunk_output.block{s}.block{s}-{b}.f.c.1",
             "s{s}.b{b+1}.conv3.bn", ""},
    NameRule{"fc", "fc", "head.fc", ""},
};

constexpr std::array kVit{
    NameRule{"patch_embed.proj", "conv_proj", "patch_embed.proj", ""},
    NameRule{"token", ".", ".", ""},
    NameRule{"positions", "encoder", ".", ""},
    NameRule{"blocks.{b}.norm1", "encoder.layers.encoder_layer_{b}.ln_1", "blocks.{b}.norm1", ""},
    NameRule{"blocks.{b}.self_attn", "encoder.layers.encoder_layer_{b}.self_attention",
             "blocks.{b}.attn.qkv", ""},
    NameRule{"blocks.{b}.self_attn.out_proj",
             "encoder.layers.encoder_layer_{b}.self_attention.out_proj", "blocks.{b}.attn.proj",
             ""},
    NameRule{"blocks.{b}.norm2", "encoder.layers.encoder_layer_{b}.ln_2", "blocks.{b}.norm2", ""},
    NameRule{"blocks.{b}.linear1",
             "encoder.layers.encoder_layer_{b}.mlp.0|encoder.layers.encoder_layer_{b}.mlp.linear_1",
             "blocks.{b}.mlp.fc1", ""},
    NameRule{"blocks.{b}.linear2",
             "encoder.layers.encoder_layer_{b}.mlp.3|encoder.layers.encoder_layer_{b}.mlp.linear_2",
             "blocks.{b}.mlp.fc2", ""},
    NameRule{"norm", "encoder.ln", "norm", ""},
    NameRule{"head", "heads.head", "head", ""},
};

constexpr std::array kText{
    NameRule{"embedding_1", "embedding|embeddings|embed|emb", "", "embedding|embedding_{n}"},
    NameRule{"gru_1", "gru|rnn", "", "gru/gru_cell|gru_{n}/gru_cell"},
    NameRule{"lstm_1", "lstm|rnn", "", "lstm/lstm_cell|lstm_{n}/lstm_cell"},
    NameRule{"dense_1", "fc|linear|dense|head|classifier", "", "dense|dense_{n}"},
};

constexpr std::array kFamilies{
    Family{"resnet", kResNet, "fc"},
    Family{"densenet", kDenseNet, "classifier"},
    Family{"vgg", kVgg, "classifier.6"},
    Family{"cifar-resnet", kCifarResNet, "linear"},
    Family{"mobilenet_v2", kMobileNetV2, "classifier.1", "features.18.0", kMobileNetV2Stages},
    Family{"mobilenet_v3_small", kMobileNetV3, "classifier.3", "features.12.0",
           kMobileNetV3SmallStages},
    Family{"mobilenet_v3_large", kMobileNetV3, "classifier.3", "features.16.0",
           kMobileNetV3LargeStages},
    Family{"efficientnet", kEfficientNet, "classifier.1", "features.8.0"},
    Family{"convnext", kConvNeXt, "head.fc"},
    Family{"regnet", kRegNet, "fc", "trunk_output.block1.block1-0.f.a.0"},
    Family{"vit", kVit, "head", "positions"},
    Family{"text", kText, "dense_1"},
};

constexpr std::int64_t kMostNumber = 1'000'000;  // of a layer among its siblings

/// A variable of a pattern: {2s+1} is 's', 2 times, and 1.
struct Variable {
  char name = 0;
  std::int64_t times = 1;
  std::int64_t plus = 0;
};

/// Reads the variable that `pattern` begins with, and moves on to what follows it.
Variable take_variable(std::string_view& pattern) {
  LINNET_ASSERT(pattern.size() >= 3 && pattern[0] == '{');
  Variable variable;
  pattern.remove_prefix(1);
  if (is_digit(pattern[0])) {
    variable.times = pattern[0] - '0';
    pattern.remove_prefix(1);
  }
  variable.name = pattern[0];
  if (pattern[1] == '+') variable.plus = pattern[2] - '0';
  pattern.remove_prefix(pattern.find('}') + 1);
  return variable;
}

using Numbers = std::map<char, std::int64_t>;
using Stages = std::span<const std::uint8_t>;

/// Notes what a variable stands for where its number is `number`; false: it cannot be that.
bool note(Numbers& numbers, const Variable& variable, std::int64_t number, Stages stages) {
  number -= variable.plus;
  if (number % variable.times != 0) return false;
  number /= variable.times;
  if (variable.name == 'f') {
    const auto after = std::ranges::upper_bound(stages, number);
    if (after == stages.begin()) return false;
    numbers['S'] = after - stages.begin();
    numbers['b'] = number - *(after - 1);
    return true;
  }
  numbers[variable.name] = number;
  return variable.name >= 'a' || number >= 1;
}

/// Returns the number that a variable of a result stands for; none: there is none.
std::optional<std::int64_t> number_of(const Numbers& numbers, const Variable& variable,
                                      Stages stages) {
  const bool all = variable.name == 'f';
  const auto found = numbers.find(all ? 'S' : variable.name);
  if (found == numbers.end()) return {};
  std::int64_t number = found->second;
  if (all) {
    const auto block = numbers.find('b');
    if (number > std::ssize(stages) || block == numbers.end()) return {};
    number = stages[static_cast<std::size_t>(number - 1)] + block->second;
  }
  number = number * variable.times + variable.plus;
  return number < 0 ? std::nullopt : std::optional(number);
}

std::optional<Numbers> numbers_in(std::string_view name, std::string_view pattern, Stages stages) {
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
    if (!note(numbers, variable, number, stages)) return {};
    name.remove_prefix(static_cast<std::size_t>(end - name.data()));
  }
  return name.empty() ? std::optional(numbers) : std::nullopt;
}

/// Splits "a|b"; "." is the empty name.
std::vector<std::string_view> alternatives(std::string_view names) {
  std::vector<std::string_view> all;
  while (!names.empty()) {
    const std::size_t end = std::min(names.find('|'), names.size());
    const std::string_view name = names.substr(0, end);
    all.push_back(name == "." ? std::string_view() : name);
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
                                   std::string_view result, Stages stages) {
  const std::optional<Numbers> numbers = numbers_in(name, pattern, stages);
  if (!numbers) return {};
  std::string text;
  while (!result.empty()) {
    if (result[0] != '{') {
      text += result[0];
      result.remove_prefix(1);
      continue;
    }
    const Variable variable = take_variable(result);
    const auto number = number_of(*numbers, variable, stages);
    if (!number) return {};
    text += std::to_string(*number);
  }
  return text;
}

std::string tensor_name(std::string_view layer, std::string_view separator, std::string_view role) {
  std::string name(layer);
  if (!layer.empty()) name += separator;
  return name += role;
}

std::vector<std::string> our_names(const Family& family, WeightNames names,
                                   std::string_view layer) {
  std::vector<std::string> all;
  for (const NameRule& rule : family.rules) {
    for (const std::string_view pattern : alternatives(rule.names_of(names))) {
      auto ours = renamed(layer, pattern, rule.ours, family.stages);
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
    if (auto name = renamed(layer, rule.ours, patterns[0], family.stages))
      return TheirName{&rule, *name};
  }
  return {};
}

}  // namespace linnet
