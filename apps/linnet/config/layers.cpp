// SPDX-License-Identifier: Apache-2.0
#include "config/layers.h"

#include <algorithm>

#include "base/check.h"
#include "config/section.h"
#include "describe/nearest.h"
#include "nn/layer_types.h"

namespace linnet::command {
namespace {

constexpr int kMostDepth = 32;              // of custom layers in custom layers
constexpr std::size_t kMostLayers = 10000;  // custom layers of custom layers multiply

SettingPlace place_in(const toml::source_region& source) {
  return {static_cast<std::int64_t>(source.begin.line),
          static_cast<std::int64_t>(source.begin.column)};
}

/// { type = "gru", ..., bidirectional = true } is { type = "bidirectional", layer = {...} }.
void expand_bidirectional(SettingTable& table) {
  const auto found = std::find_if(table.begin(), table.end(), [](const SettingEntry& entry) {
    return entry.key == "bidirectional" && entry.value.get_if<bool>() != nullptr;
  });
  const std::string_view type = text_of(table, "type");
  if (found == table.end() || (type != "simple_rnn" && type != "gru" && type != "lstm")) return;
  const bool both = *found->value.get_if<bool>();
  table.erase(found);
  if (!both) return;
  const SettingPlace place = table.front().place;
  Setting inner(std::move(table), place);
  table = SettingTable();
  table.push_back({"type", {std::string("bidirectional"), place}, place});
  table.push_back({"layer", std::move(inner), place});
}

/// Calls visit for every text that names a parameter: "$filters".
template <class S, class F>
void for_each_parameter(S& setting, const F& visit) {
  if (auto* text = setting.template get_if<std::string>()) {
    if (text->starts_with('$')) visit(setting, text->substr(1));
  } else if (auto* list = setting.template get_if<Setting::List>()) {
    for (auto& item : *list) for_each_parameter(item, visit);
  } else if (auto* table = setting.template get_if<SettingTable>()) {
    for (auto& entry : *table) for_each_parameter(entry.value, visit);
  }
}

[[noreturn]] void refuse(SettingPlace place, const std::string& sentence) {
  throw SettingError(place, sentence);
}

}  // namespace

Setting setting_from(const toml::node& node, const std::string& file, std::int64_t most) {
  const SettingPlace place = place_in(node.source());
  if (const auto* table = node.as_table()) {
    SettingTable entries;
    for (auto&& [key, value] : *table) {
      entries.push_back(
          {std::string(key.str()), setting_from(value, file, most), place_in(key.source())});
    }
    // TOML's library sorts them; this is the file's order.
    std::stable_sort(entries.begin(), entries.end(),
                     [](const SettingEntry& a, const SettingEntry& b) {
                       return std::pair(a.place.line, a.place.column) <
                              std::pair(b.place.line, b.place.column);
                     });
    return {std::move(entries), place};
  }
  if (const auto* array = node.as_array()) {
    Setting::List list;
    for (const toml::node& item : *array) list.push_back(setting_from(item, file, most));
    return {std::move(list), place};
  }
  if (node.is_boolean()) return {*node.value<bool>(), place};
  if (node.is_string()) return {*node.value<std::string>(), place};
  if (node.is_floating_point()) return {*node.value<double>(), place};
  if (node.is_integer()) {
    const auto number = *node.value<std::int64_t>();
    require(number <= most && number >= -most, "{}expected an integer of at most {}; got {}",
            place_of(file, node.source()), most, number);
    return {number, place};
  }
  return {std::monostate(), place};
}

LayerReader::LayerReader(std::string file, const toml::node* own) : file_(std::move(file)) {
  if (own == nullptr) return;
  const Setting all = setting_from(*own, file_);
  placed_in(file_, [&] {
    const auto* table = all.get_if<SettingTable>();
    if (table == nullptr) refuse(all.place, "'layers' in the file must be a table");
    for (const SettingEntry& entry : *table) {
      const std::string where = fmt::format("[layers.{}]", entry.key);
      if (layer_types().find_recorded(entry.key) != nullptr) {
        refuse(entry.place, fmt::format("{} has the name of a layer type", where));
      }
      own_.emplace(entry.key, read_own(entry.value, where));
    }
  });
}

LayerReader::Own LayerReader::read_own(const Setting& definition, const std::string& where) const {
  const auto* table = definition.get_if<SettingTable>();
  if (table == nullptr) refuse(definition.place, fmt::format("{} must be a table", where));
  Own own;
  std::vector<std::string> names;
  for (const auto& [key, value, place] : *table) {
    if (key == "parameters") {
      const auto* list = value.get_if<Setting::List>();
      const auto is_text = [](const Setting& item) {
        return item.get_if<std::string>() != nullptr;
      };
      if (list == nullptr || !std::all_of(list->begin(), list->end(), is_text)) {
        refuse(value.place, fmt::format("'parameters' in {} must be an array of names", where));
      }
      for (const Setting& item : *list) own.parameters.push_back(*item.get_if<std::string>());
    } else if (key == "defaults") {
      const auto* defaults = value.get_if<SettingTable>();
      if (defaults == nullptr) {
        refuse(value.place, fmt::format("'defaults' in {} must be a table", where));
      }
      own.defaults = *defaults;
    } else if (key == "layers") {
      if (value.get_if<Setting::List>() == nullptr) {
        refuse(value.place, fmt::format("'layers' in {} must be an array of tables", where));
      }
      own.layers = value;
    } else {
      refuse(place, fmt::format("unknown key '{}' in {}{}", key, where,
                                did_you_mean(key, {"parameters", "defaults", "layers"})));
    }
  }
  if (own.layers.get_if<Setting::List>() == nullptr) {
    refuse(definition.place, fmt::format("{} needs the key 'layers'", where));
  }
  names = own.parameters;
  for (const SettingEntry& entry : own.defaults) names.push_back(entry.key);
  for (const std::string& name : names) {
    if (name == "type" || name == "name" || std::count(names.begin(), names.end(), name) > 1) {
      refuse(
          definition.place,
          fmt::format("{} has the parameter '{}' twice, or its name is a key that every layer has",
                      where, name));
    }
  }
  for_each_parameter(std::as_const(own.layers), [&](const Setting& at, const std::string& name) {
    if (std::count(names.begin(), names.end(), name) > 0) return;
    refuse(at.place,
           fmt::format("{} has no parameter '{}'{}", where, name, did_you_mean(name, names)));
  });
  return own;
}

Setting LayerReader::composed(const SettingTable& use, SettingPlace place,
                              const std::string& where) const {
  const std::string type(text_of(use, "type"));
  const Own& own = own_.find(type)->second;
  SettingTable values = own.defaults;
  SettingTable made;
  made.push_back({"type", {std::string("sequential"), place}, place});
  made.push_back({"kind", {type, place}, place});
  std::vector<std::string> keys = own.parameters;
  for (const SettingEntry& entry : own.defaults) keys.push_back(entry.key);
  for (const SettingEntry& entry : use) {
    if (entry.key == "type") continue;
    if (entry.key == "name") {
      made.push_back(entry);
      continue;
    }
    if (std::find(keys.begin(), keys.end(), entry.key) == keys.end()) {
      keys.emplace_back("name");
      refuse(entry.place, fmt::format("unknown key '{}' in {}{}", entry.key, where,
                                      did_you_mean(entry.key, keys)));
    }
    std::erase_if(values, [&](const SettingEntry& other) { return other.key == entry.key; });
    values.push_back(entry);
  }
  for (const std::string& parameter : own.parameters) {
    if (find(values, parameter) == nullptr) {
      refuse(place, fmt::format("{} needs the key '{}'", where, parameter));
    }
  }
  Setting layers = own.layers;
  for_each_parameter(layers, [&](Setting& at, const std::string& name) {
    at = Setting(*find(values, name));  // a copy: the name lies in what is replaced
  });
  made.push_back({"layers", std::move(layers), place});
  return {std::move(made), place};
}

void LayerReader::expand(Setting& setting, const std::string& where, int depth,
                         std::size_t& count) const {
  if (auto* list = setting.get_if<Setting::List>()) {
    for (Setting& item : *list) expand(item, where, depth, count);
    return;
  }
  auto* table = setting.get_if<SettingTable>();
  if (table == nullptr) return;
  const std::string type(text_of(*table, "type"));
  if (own_.contains(type)) {
    if (depth >= kMostDepth)
      refuse(setting.place, fmt::format("[layers.{}] contains itself", type));
    setting = composed(*table, setting.place, where);
    table = setting.get_if<SettingTable>();
    ++depth;
  } else if (type == "custom" || type == "block") {  // of model files alone
    read_layer(setting, where);
  }
  if (++count > kMostLayers) {
    refuse(setting.place, fmt::format("{} has more than {} layers", where, kMostLayers));
  }
  for (SettingEntry& entry : *table) expand(entry.value, where, depth, count);
  expand_bidirectional(*table);
}

Layer LayerReader::read(const Setting& entry, const std::string& where) const {
  return placed_in(file_, [&] {
    Setting expanded = entry;
    std::size_t count = 0;
    expand(expanded, where, 0, count);
    // A custom layer is a type as good as others where a name is wrong.
    const auto* table = expanded.get_if<SettingTable>();
    const std::string type(table == nullptr ? "" : text_of(*table, "type"));
    if (!type.empty() && layer_types().find(type) == nullptr) {
      std::vector<std::string> names;
      for (const auto& [name, own] : own_) names.push_back(name);
      const std::string near = did_you_mean(type, names);
      if (!near.empty()) {
        refuse(find(*table, "type")->place,
               fmt::format("unknown layer type '{}' in {}{}", type, where, near));
      }
    }
    return read_layer(expanded, where);
  });
}

std::string LayerReader::first_type(const Setting& entry) const {
  const auto* table = entry.get_if<SettingTable>();
  if (table == nullptr) return "";
  std::string type(text_of(*table, "type"));
  for (int depth = 0; depth < kMostDepth; ++depth) {
    const auto own = own_.find(type);
    if (own == own_.end()) return type;
    const auto& layers = *own->second.layers.get_if<Setting::List>();
    const auto* first = layers.empty() ? nullptr : layers.front().get_if<SettingTable>();
    type = first == nullptr ? "" : text_of(*first, "type");
  }
  return type;
}

}  // namespace linnet::command
