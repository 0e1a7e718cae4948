// SPDX-License-Identifier: Apache-2.0
#include "config/checkpoints.h"

#include <fmt/format.h>

#include <array>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

#include "base/check.h"
#include "config/options.h"

namespace linnet::command {
namespace {

constexpr const char* kExpected =
    "expected a time (30s, 10min, 2h), a number of steps (500steps) or epoch";
constexpr std::string_view kSteps = "steps";
constexpr std::array<std::pair<std::string_view, double>, 3> kUnits{
    {{"s", 1}, {"min", 60}, {"h", 3600}}};

const std::vector<std::string>& on_failed_save_names() {
  static const std::vector<std::string> names{"stop", "continue"};
  return names;
}

/// "10min" to seconds, "500steps" to steps, "epoch" to neither; false for anything else.
bool set_every(std::string_view text, Checkpoints& checkpoints) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  checkpoints.every_steps = 0;
  checkpoints.every_seconds = 0;
  if (text == "epoch") return true;
  if (error != std::errc() || !(number > 0) || number > kLargestInteger) return false;
  if (unit == kSteps) {
    checkpoints.every_steps = static_cast<std::int64_t>(number);
    return static_cast<double>(checkpoints.every_steps) == number;
  }
  for (const auto& [name, seconds] : kUnits) {
    if (unit != name) continue;
    checkpoints.every_seconds = number * seconds;
    return true;
  }
  return false;
}

OnFailedSave on_failed_save(std::size_t index) {
  return index == 0 ? OnFailedSave::stop : OnFailedSave::proceed;
}

}  // namespace

void add_checkpoint_options(CLI::App& command, CheckpointSettings& settings) {
  const auto check = [](std::string& given) -> std::string {
    Checkpoints ignored;
    return set_every(given, ignored) ? "" : fmt::format("{}; got '{}'", kExpected, given);
  };
  command
      .add_option("--checkpoint-every", settings.every,
                  "Interval of checkpoints within an epoch, as a time (10min, the default) or\n"
                  "steps (500steps); epoch: only one after each epoch")
      ->check(CLI::Validator(check, "TIME|STEPS"));
  command
      .add_option("--keep-checkpoints", settings.keep,
                  "Number of newest checkpoints to keep, besides the best epoch's; 2 if not given")
      ->check(at_least(1));
  command
      .add_option(
          "--on-failed-save", settings.on_failed_save,
          "What follows when a checkpoint or the model cannot be saved: stop (the default)\n"
          "or continue and try again at the next one")
      ->check(one_of(on_failed_save_names()));
}

void apply(const CheckpointSettings& settings, Checkpoints& checkpoints) {
  if (settings.every) require(set_every(*settings.every, checkpoints), "{}", kExpected);
  checkpoints.keep = settings.keep.value_or(checkpoints.keep);
  if (settings.on_failed_save) {
    checkpoints.on_failed_save =
        on_failed_save(index_of(on_failed_save_names(), *settings.on_failed_save));
  }
}

void read_checkpoints(Section& section, Checkpoints& checkpoints) {
  const std::string every = section.text("checkpoint_every", "");
  if (section.has("checkpoint_every") && !set_every(every, checkpoints)) {
    section.refuse("checkpoint_every",
                   fmt::format("'checkpoint_every' in [training]: {}; got '{}'", kExpected, every));
  }
  checkpoints.keep = section.integer("keep_checkpoints", checkpoints.keep, 1);
  checkpoints.on_failed_save = on_failed_save(
      section.choice("on_failed_save", checkpoints.on_failed_save == OnFailedSave::stop ? 0 : 1,
                     on_failed_save_names()));
}

}  // namespace linnet::command
