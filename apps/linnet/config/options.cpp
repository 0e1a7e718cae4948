// SPDX-License-Identifier: Apache-2.0
#include "config/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <functional>
#include <utility>

#include "describe/nearest.h"

namespace linnet::command {

void set_most_used(CLI::App& command, std::initializer_list<const char*> names) {
  for (const char* name : names) command.get_option(name)->group(kMostUsed);
}

CLI::Validator one_of(std::vector<std::string> names) {
  const auto check = [names](std::string& given) -> std::string {
    if (std::find(names.begin(), names.end(), given) != names.end()) return {};
    return fmt::format("expected {}; got '{}'{}", listed(names), given, did_you_mean(given, names));
  };
  const bool comma = std::ranges::count(names, ",") > 0;
  return CLI::Validator(check, fmt::format("{{{}}}", fmt::join(names, comma ? " " : ",")));
}

std::vector<std::string> choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const auto begin = type.find('{');
  const auto end = type.rfind('}');
  if (begin == std::string::npos || end == std::string::npos) return {};
  const std::string names = type.substr(begin + 1, end - begin - 1);
  return CLI::detail::split(names, names.find(' ') == std::string::npos ? ',' : ' ');
}

bool takes_column(const CLI::Option& option) {
  return option.get_items_expected_max() > 0 && option.get_description().starts_with("Column ");
}

std::size_t index_of(const std::vector<std::string>& names, const std::string& name) {
  return static_cast<std::size_t>(
      std::distance(names.begin(), std::find(names.begin(), names.end(), name)));
}

CLI::Validator at_least(long long least, long long most) {
  const auto check = [least, most](std::string& given) -> std::string {
    long long value = 0;
    const char* end = given.data() + given.size();
    const auto [stop, error] = std::from_chars(given.data(), end, value);
    if (error == std::errc() && stop == end && value >= least && value <= most) {
      return {};
    }
    const bool whole =
        stop == end && (error == std::errc() || error == std::errc::result_out_of_range);
    if (whole && given[0] != '-' && (error != std::errc() || value > most)) {
      return fmt::format("expected an integer of at most {}; got '{}'", most, given);
    }
    return fmt::format("expected an integer of at least {}; got '{}'", least, given);
  };
  return CLI::Validator(check, "N");
}

CLI::Validator byte_count(std::uint64_t least) {
  const auto convert = [least](std::string& given) -> std::string {
    const std::string text = given;
    try {
      // CLI11 would take -1 for 2^64 - 1, and MiB for 1MiB.
      const bool number = !text.empty() && text[0] >= '0' && text[0] <= '9';
      if (number && CLI::AsSizeValue(false)(given).empty() && std::stoull(given) >= least) {
        return {};
      }
    } catch (const std::exception&) {  // CLI11 speaks of factors, std::stoull() of nothing
    }
    return fmt::format("expected a number of bytes of at least {}, e.g. {} or 512MiB; got '{}'",
                       least, 512 << 20, text);
  };
  return CLI::Validator(convert, "BYTES");
}

void add_disabled_passes(CLI::App& command, std::vector<std::string>& passes) {
  command.add_option("--disable-pass", passes,
                     "For diagnosis: leave out this pass over the graph of a training; the error "
                     "for an unknown one names them all");
}

namespace {

/// Accepts numbers of a range.
CLI::Validator number_in(const Range& range) {
  const auto check = [range](std::string& given) -> std::string {
    double number = 0;
    const char* end = given.data() + given.size();
    const auto [stop, error] = std::from_chars(given.data(), end, number);
    if (error == std::errc() && stop == end && range.contains(number)) return {};
    const std::string text = range.text();
    return fmt::format("expected a number{}{}; got '{}'", text.starts_with("at ") ? " of " : " ",
                       text, given);
  };
  return CLI::Validator(check, "NUMBER");
}

template <class T>
Setting parsed(const std::string& given) {
  T number{};
  std::from_chars(given.data(), given.data() + given.size(), number);
  return {number};
}

/// Adds a flag with a value, which `note` gets where the flag is given.
void add_valued(CLI::App& command, const Field& field, const Setting& otherwise,
                const std::function<void(Setting)>& note) {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<std::int32_t>::max());
  const auto add = [&](Setting (*read)(const std::string&)) {
    return command.add_option_function<std::string>(
        std::string(field.flag_name), [note, read](const std::string& given) { note(read(given)); },
        std::string(field.flag_help));
  };
  if (field.format == &kFormatOf<std::size_t>) {
    add(&parsed<std::int64_t>)
        ->transform(byte_count(static_cast<std::uint64_t>(std::max(field.range.least, 0.0))));
  } else if (otherwise.get_if<std::int64_t>() != nullptr) {
    add(&parsed<std::int64_t>)
        ->check(at_least(static_cast<long long>(std::max(field.range.least, -kMost)),
                         static_cast<long long>(std::min(field.range.most, kMost))));
  } else {
    add(&parsed<double>)->check(number_in(field.range));
  }
}

}  // namespace

void add_flags(CLI::App& command, const Description& options, Setting& given) {
  for (const Field& field : options.fields) {
    if (field.flag_name.empty()) continue;
    const auto note = [&given, key = field.key](Setting value) {
      given.get_if<SettingTable>()->push_back({std::string(key), std::move(value)});
    };
    const Setting otherwise = field.write(options.defaults.get());
    if (otherwise.get_if<bool>() == nullptr) {
      add_valued(command, field, otherwise, note);
      continue;
    }
    const std::string name(field.flag_name.substr(2));
    command.add_flag_function(
        fmt::format("--{0},!--no-{0}", name), [note](std::int64_t count) { note({count > 0}); },
        std::string(field.flag_help));
  }
}

}  // namespace linnet::command
