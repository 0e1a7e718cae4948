// SPDX-License-Identifier: Apache-2.0
#include "tasks/image/image_defaults.h"

#include <linnet/image_task.h>
#include <linnet/layers.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "base/ascii.h"
#include "base/check.h"
#include "base/utf8.h"
#include "nn/zoo/conv_norm.h"
#include "tasks/task_recipe.h"

namespace linnet {
namespace {

constexpr std::int64_t kFilters = 32;      // of the first block; twice as many in the next ones
constexpr std::int64_t kMostGrid = 16;     // pixels of the first block's shorter side
constexpr std::int64_t kHalvedFrom = 4;    // pixels of a block that the next one halves
constexpr std::int64_t kStridedFrom = 64;  // pixels of images whose first convolution has stride 2
constexpr double kDropout = 0.2;
constexpr double kAdamRate = 2e-3;  // of other networks
constexpr double kTurn = 10;        // degrees by which grey images are turned at most
constexpr double kRise = 0.2;       // share of the training in which the learning rate rises

/// Epochs follow from the number of images alone, so that the schedule runs to its end.
TaskRecipe recipe_for(std::int64_t images) {
  if (images < 300) return {16, 100, 0};
  if (images < 1000) return {32, 80, 0};
  if (images < 3000) return {64, 50, 0};
  if (images < 10000) return {64, 35, 0};
  if (images < 30000) return {64, 20, 0};
  return {128, 12, 0};
}

/// Returns whether the text has one character.
bool is_character(const std::string& name) {
  return std::ranges::count_if(name, begins_character) == 1;
}

/// Returns whether a word of the name is a side: "turn_left", "Right hand".
bool names_side(const std::string& name) {
  constexpr std::array<std::string_view, 4> kSides{"left", "right", "clockwise",
                                                   "counterclockwise"};
  const auto is_letter = [](char c) { return c >= 'a' && c <= 'z'; };
  const std::string lower = lower_ascii(name);
  for (auto begin = lower.begin(); begin != lower.end();) {
    const auto end = std::find_if_not(begin, lower.end(), is_letter);
    if (std::ranges::count(kSides, std::string_view(begin, end)) > 0) return true;
    begin = std::find_if(end, lower.end(), is_letter);
  }
  return false;
}

}  // namespace

Network image_network(const Shape& sample, std::int64_t outputs) {
  using zoo::conv;
  using zoo::norm;
  using zoo::relu;
  constexpr double kEpsilon = 1e-5;
  std::int64_t side = std::min(sample[0], sample[1]);
  const std::int64_t stride = side >= kStridedFrom ? 2 : 1;
  Network network(sample, {Rescale{}, conv(kFilters, 3, stride, "conv1"), norm(kEpsilon, "bn1"),
                           relu("relu1")});
  side = (side + stride - 1) / stride;
  for (; side > kMostGrid; side /= 2) network.add(MaxPool2d{});
  for (std::int64_t block = 0; block < 3; ++block) {
    const std::int64_t filters = kFilters << block;
    const std::int64_t step = block > 0 && side >= kHalvedFrom ? 2 : 1;
    side = (side + step - 1) / step;
    const std::string name = fmt::format("layer{}", block + 1);
    Residual residual{.body = {conv(filters, 3, step, "conv1"), norm(kEpsilon, "bn1"),
                               relu("relu1"), conv(filters, 3, 1, "conv2"), norm(kEpsilon, "bn2")},
                      .name = name};
    if (block > 0) residual.shortcut = {conv(filters, 1, step, "conv"), norm(kEpsilon, "bn")};
    network.add(residual).add(relu(name + ".relu"));
  }
  return network.add(GlobalAvgPool2d{})
      .add(Dropout{.rate = kDropout})
      .add(Dense{.units = outputs, .name = "fc"});
}

void suit_any_network(TrainingOptions& training) {
  training.optimizer = training_by({}, kAdamRate).optimizer;
}

bool may_be_mirrored(std::span<const std::string> classes) {
  return !std::ranges::all_of(classes, is_character) && std::ranges::none_of(classes, names_side);
}

TrainingOptions image_training(const Shape& sample, std::int64_t images) {
  require(sample.rank() == 3, "expected images (height, width, channels); got samples of {}",
          to_string(sample));
  TrainingOptions training = training_by(recipe_for(images), kAdamRate);
  training.optimizer =
      Muon{.learning_rate = 0.02, .weight_decay = 0.01, .adam_learning_rate = 3e-3};
  training.schedule = OneCycle{.rise = kRise};
  training.augment.padding = std::max<std::int64_t>(1, std::min(sample[0], sample[1]) / 8);
  training.augment.reflect = std::min(sample[0], sample[1]) > 1;
  training.augment.flip = sample[2] == 3 ? 0.5 : 0;
  training.augment.rotate = sample[2] == 1 ? kTurn : 0;
  return training;
}

}  // namespace linnet
