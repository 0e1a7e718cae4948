// SPDX-License-Identifier: Apache-2.0
#include "config/checkpoints.h"

#include <fmt/format.h>

#include <charconv>
#include <cmath>
#include <string_view>

#include "base/check.h"
#include "config/duration.h"
#include "config/options.h"

namespace linnet::command {
namespace {

constexpr const char* kExpected =
    "expected a time (30s, 10m, 2h), a number of steps (500steps) or epoch";
constexpr std::string_view kSteps = "steps";

/// "10m" to seconds, "500steps" to steps, "epoch" to neither; false for anything else.
bool set_every(std::string_view text, Checkpoints& checkpoints) {
  double number = 0;
  const auto [rest, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  const std::string_view unit = text.substr(static_cast<std::size_t>(rest - text.data()));
  checkpoints.every_steps = 0;
  checkpoints.every_seconds = 0;
  if (text == "epoch") return true;
  if (error == std::errc() && unit == kSteps) {
    if (!(number > 0) || number > kLargestInteger) return false;
    checkpoints.every_steps = static_cast<std::int64_t>(number);
    return static_cast<double>(checkpoints.every_steps) == number;
  }
  const std::optional<double> seconds = seconds_of(text);
  checkpoints.every_seconds = seconds.value_or(0);
  return seconds.has_value();
}

}  // namespace

void add_checkpoint_option(CLI::App& command, std::optional<std::string>& every) {
  const auto check = [](std::string& given) -> std::string {
    Checkpoints ignored;
    return set_every(given, ignored) ? "" : fmt::format("{}; got '{}'", kExpected, given);
  };
  command
      .add_option("--checkpoint-every", every,
                  "Interval of checkpoints within an epoch, as a time (10m, the default) or\n"
                  "steps (500steps); epoch: only one after each epoch")
      ->check(CLI::Validator(check, "TIME|STEPS"));
}

void set_interval(const std::string& text, Checkpoints& checkpoints) {
  require(set_every(text, checkpoints), "{}; got '{}'", kExpected, text);
}

void read_interval(Section& section, Checkpoints& checkpoints) {
  const std::string every = section.text("checkpoint_every", "");
  if (section.has("checkpoint_every") && !set_every(every, checkpoints)) {
    section.refuse("checkpoint_every",
                   fmt::format("'checkpoint_every' in [training]: {}; got '{}'", kExpected, every));
  }
}

}  // namespace linnet::command
