// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <cstddef>
#include <cstdint>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/check.h"
#include "base/utf8.h"
#include "describe/setting.h"

namespace linnet {

/// Returns a setting as JSON, where infinities are the texts "inf" and "-inf"; lists that are
/// nested deeper than `most_depth` are left empty. Throws Error for a NaN and for text that is not
/// UTF-8.
inline nlohmann::ordered_json json_of(const Setting& setting, std::size_t most_depth) {
  using Json = nlohmann::ordered_json;
  if (const auto* number = setting.get_if<double>()) {
    require(!std::isnan(*number), "a setting is NaN");
    if (std::isinf(*number)) return *number > 0 ? "inf" : "-inf";
    return *number;
  }
  if (const auto* text = setting.get_if<std::string>()) {
    require(is_utf8(*text), "the text '{}' is not UTF-8, which a model file needs", escaped(*text));
    return *text;
  }
  if (const auto* list = setting.get_if<Setting::List>()) {
    Json array = Json::array();
    if (most_depth == 0) return array;
    for (const Setting& item : *list) array.push_back(json_of(item, most_depth - 1));
    return array;
  }
  if (const auto* table = setting.get_if<SettingTable>()) {
    Json object = Json::object();
    for (const SettingEntry& entry : *table) {
      object[entry.key] = json_of(entry.value, most_depth == 0 ? 0 : most_depth - 1);
    }
    return object;
  }
  if (const auto* flag = setting.get_if<bool>()) return *flag;
  if (const auto* integer = setting.get_if<std::int64_t>()) return *integer;
  return nullptr;
}

/// Any JSON as a setting. Throws Error for whole numbers of 2^63 and more.
template <class Json>
Setting setting_from(const Json& json) {
  if (json.is_boolean()) return {json.template get<bool>()};
  if (json.is_number_integer()) {
    require(!json.is_number_unsigned() ||
                std::in_range<std::int64_t>(json.template get<std::uint64_t>()),
            "expected a whole number below 2^63; got {}", json.dump());
    return {json.template get<std::int64_t>()};
  }
  if (json.is_number()) return {json.template get<double>()};
  if (json.is_string()) return {json.template get<std::string>()};
  if (json.is_array()) {
    Setting::List list;
    for (const Json& item : json) list.push_back(setting_from(item));
    return {std::move(list)};
  }
  if (json.is_object()) {
    SettingTable table;
    for (const auto& [key, value] : json.items()) table.push_back({key, setting_from(value)});
    return {std::move(table)};
  }
  return {};
}

}  // namespace linnet
