// SPDX-License-Identifier: Apache-2.0
#include "config/options.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "config/duration.h"
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

CLI::Option& add_within_option(CLI::App& command, std::string& within, const std::string& does) {
  const auto check = [](std::string& given) -> std::string {
    if (seconds_of(given)) return {};
    return fmt::format("expected a time, e.g. 60s, 5m or 1h; got '{}'", given);
  };
  return *command
              .add_option("--within", within,
                          "Time limit for the whole command, e.g. 60s, 5m or 1h. " + does)
              ->check(CLI::Validator(check, "TIME"));
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

/// Accepts texts that stand for numbers, and integers of a range.
CLI::Validator named_or_integer(const Field& field) {
  const auto check = [field](std::string& given) -> std::string {
    double number = 0;
    const char* end = given.data() + given.size();
    const auto [stop, error] = std::from_chars(given.data(), end, number);
    const bool whole = error == std::errc() && stop == end && number == std::floor(number);
    if (whole && field.range.contains(number)) return {};
    if (std::ranges::count(field.names, given) > 0) return {};
    return fmt::format("expected {} or an integer {}; got '{}'", fmt::join(field.names, ", "),
                       field.range.text(), given);
  };
  return CLI::Validator(check, fmt::format("{{{}}}", fmt::join(field.names, ",")));
}

CLI::Validator without_mistake(const Field& field) {
  return CLI::Validator([mistake = field.mistake](std::string& given) { return mistake(given); },
                        field.names.empty() ? "TEXT"
                                            : fmt::format("{{{}}}", fmt::join(field.names, ",")));
}

/// Returns a number as one, where the field is a number.
Setting parsed(Form form, const std::string& given) {
  const char* end = given.data() + given.size();
  std::int64_t integer = 0;
  if (form == Form::integer && std::from_chars(given.data(), end, integer).ptr == end) {
    return {integer};
  }
  double number = 0;
  if (form == Form::number && std::from_chars(given.data(), end, number).ptr == end) {
    return {number};
  }
  return {given};
}

/// Restricts a flag's value to what the field takes.
void check(CLI::Option& option, const Field& field) {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<std::int32_t>::max());
  if (field.mistake != nullptr) {
    option.check(without_mistake(field));
  } else if (!field.values.empty()) {
    option.check(named_or_integer(field));
  } else if (!field.names.empty()) {
    option.check(one_of(field.names));
  } else if (field.format->names != nullptr) {
    option.check(one_of(field.format->names()));
  } else if (field.format == &kFormatOf<std::size_t>) {
    option.transform(byte_count(static_cast<std::uint64_t>(std::max(field.range.least, 0.0))));
  } else if (field.format->form == Form::integer) {
    option.check(at_least(static_cast<long long>(std::max(field.range.least, -kMost)),
                          static_cast<long long>(std::min(field.range.most, kMost))));
  } else if (field.format->form == Form::number) {
    option.check(number_in(field.range));
  }
}

}  // namespace

const Setting* given_value(const Setting& given, std::string_view key) {
  return find(*given.get_if<SettingTable>(), key);
}

void add_flags(CLI::App& command, const Description& options, Setting& given) {
  for (const Field& field : options.fields) {
    const std::string name(field.flag_name);
    if (name.empty() || command.get_option_no_throw(name) != nullptr) continue;
    const std::string help(field.flag_help);
    const Form form = field.format->form;
    const auto note = [&given, key = field.key](Setting value) {
      given.get_if<SettingTable>()->push_back({std::string(key), std::move(value)});
    };
    CLI::Option* option = nullptr;
    if (form == Form::truth && field.names.empty()) {
      option = command.add_flag_function(
          fmt::format("{},!--no-{}", name, name.substr(2)),
          [note](std::int64_t count) { note({count > 0}); }, help);
    } else if (form == Form::texts) {
      const auto all = [note](const std::vector<std::string>& texts) {
        note({Setting::List(texts.begin(), texts.end())});
      };
      option = command.add_option_function<std::vector<std::string>>(name, all, help);
      option->allow_extra_args(false);
    } else {
      const auto one = [note, form](const std::string& text) { note(parsed(form, text)); };
      option = command.add_option_function<std::string>(name, one, help);
      check(*option, field);
    }
    if (!field.flag_group.empty()) option->group(std::string(field.flag_group));
  }
}

}  // namespace linnet::command
