// SPDX-License-Identifier: Apache-2.0
#include "describe/setting.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace linnet {
namespace {

std::string in_quotes(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    if (c == '"' || c == '\\') {
      out += '\\';
      out += c;
    } else if (static_cast<unsigned char>(c) < 0x20) {
      out += fmt::format("\\u{:04x}", static_cast<unsigned>(c));
    } else {
      out += c;
    }
  }
  return out + '"';
}

std::string to_text(std::monostate) { return "?"; }
std::string to_text(const std::shared_ptr<const Layer>& /*layer*/) { return "a layer"; }
std::string to_text(bool flag) { return flag ? "true" : "false"; }
std::string to_text(std::int64_t number) { return fmt::format("{}", number); }
std::string to_text(double number) { return fmt::format("{}", number); }
std::string to_text(const std::string& text) { return in_quotes(text); }

std::string to_text(const Setting::List& list) {
  std::string out = "[";
  for (const Setting& item : list) out += (out.size() > 1 ? ", " : "") + to_toml(item);
  return out + "]";
}

std::string to_text(const SettingTable& table) {
  if (table.empty()) return "{}";
  std::string out = "{";
  for (const SettingEntry& entry : table) {
    out += fmt::format("{} {} = {}", out.size() > 1 ? "," : "", entry.key, to_toml(entry.value));
  }
  return out + " }";
}

}  // namespace

bool operator==(const SettingEntry& a, const SettingEntry& b) {
  return a.key == b.key && a.value == b.value;
}

bool operator==(const Setting& a, const Setting& b) { return a.value == b.value; }

const Setting* find(const SettingTable& table, std::string_view key) {
  const auto found = std::find_if(table.begin(), table.end(),
                                  [&](const SettingEntry& entry) { return entry.key == key; });
  return found == table.end() ? nullptr : &found->value;
}

std::string_view text_of(const SettingTable& table, std::string_view key) {
  const Setting* found = find(table, key);
  const std::string* text = found == nullptr ? nullptr : found->get_if<std::string>();
  return text == nullptr ? std::string_view() : std::string_view(*text);
}

std::string_view article_and_type(const Setting& setting) {
  constexpr std::array<std::string_view, 8> kNames{"a date or time", "a truth value", "an integer",
                                                   "a number",       "a string",      "an array",
                                                   "a table",        "a layer"};
  return kNames[setting.value.index()];
}

std::string to_toml(const Setting& setting) {
  return std::visit([](const auto& value) { return to_text(value); }, setting.value);
}

}  // namespace linnet
