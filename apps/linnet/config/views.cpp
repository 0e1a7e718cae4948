// SPDX-License-Identifier: Apache-2.0
#include "config/views.h"

#include <algorithm>
#include <charconv>
#include <cstdint>
#include <string_view>
#include <utility>

#include "base/check.h"

namespace linnet::command {
namespace {

constexpr const char* kViews = "expected flip, shift=PIXELS or both, such as flip,shift=1";

std::int64_t shift_of(const std::string& text, const std::string& number) {
  std::int64_t pixels = 0;
  const char* end = number.data() + number.size();
  const auto [stopped, error] = std::from_chars(number.data(), end, pixels);
  require(error == std::errc{} && stopped == end && pixels > 0, "--tta: {}; got '{}'", kViews,
          text);
  return pixels;
}

}  // namespace

void add_views_option(CLI::App& command, std::optional<std::string>& views) {
  command.add_option(
      "--tta", views,
      "Average the outputs over several views of each image: flip, the mirrored one\n"
      "too; shift=N, also moved by N pixels; e.g. flip,shift=1");
}

TestViews parse_views(const std::string& text) {
  constexpr std::string_view kShift = "shift=";
  TestViews views{.flip = false};
  for (std::size_t begin = 0; begin <= text.size();) {
    const std::size_t end = std::min(text.find(',', begin), text.size());
    const std::string entry = text.substr(begin, end - begin);
    const bool shifts = entry.starts_with(kShift);
    require(entry == "flip" || shifts, "--tta: {}; got '{}'", kViews, text);
    if (shifts) views.shift = shift_of(text, entry.substr(kShift.size()));
    if (!shifts) views.flip = true;
    begin = end + 1;
  }
  return views;
}

Model with_views(Model model, const std::optional<std::string>& views) {
  return views ? model.with_views(parse_views(*views)) : std::move(model);
}

}  // namespace linnet::command
