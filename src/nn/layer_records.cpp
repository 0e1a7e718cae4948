// SPDX-License-Identifier: Apache-2.0
#include "nn/layer_records.h"

#include <algorithm>

#include "base/check.h"
#include "nn/layer_types.h"

namespace linnet {
namespace {

/// Returns whether a setting is a layer's record, or the description of one.
bool is_layer(const Setting& setting) {
  const auto* table = setting.get_if<SettingTable>();
  return table != nullptr && find(*table, "type") != nullptr;
}

void set_name(SettingTable& table, const std::string& name) {
  if (!table.empty() && table.front().key == "name") {
    table.front().value.value = name;
  } else {
    table.insert(table.begin(), {"name", {name}});
  }
}

/// Replaces descriptions of layers by the records of what was built from them: the first of the
/// same type that is left, since layers are built in the order of the fields.
void take_parts(Setting& setting, std::vector<Setting>& parts, std::size_t& next) {
  if (auto* list = setting.get_if<Setting::List>()) {
    for (Setting& item : *list) take_parts(item, parts, next);
    return;
  }
  if (!is_layer(setting)) return;
  const std::string type(text_of(*setting.get_if<SettingTable>(), "type"));
  for (std::size_t i = next; i < parts.size(); ++i) {
    if (text_of(*parts[i].get_if<SettingTable>(), "type") != type) continue;
    setting = std::move(parts[i]);
    next = i + 1;
    return;
  }
}

void visit_records(const Setting& setting, const std::function<void(const SettingTable&)>& visit) {
  if (const auto* list = setting.get_if<Setting::List>()) {
    for (const Setting& item : *list) visit_records(item, visit);
  } else if (is_layer(setting)) {
    const auto& table = *setting.get_if<SettingTable>();
    for (const SettingEntry& entry : table) visit_records(entry.value, visit);
    if (!text_of(table, "name").empty()) visit(table);
  }
}

bool is_of(std::string_view name, std::string_view layer) {
  return name == layer || (name.starts_with(layer) && name[layer.size()] == '.');
}

bool replace_in(Setting::List& records, std::string_view layer, const Setting& by);

bool replace_in(Setting& setting, std::string_view layer, const Setting& by) {
  if (auto* list = setting.get_if<Setting::List>()) return replace_in(*list, layer, by);
  auto* table = setting.get_if<SettingTable>();
  if (table == nullptr) return false;
  return std::any_of(table->begin(), table->end(),
                     [&](SettingEntry& entry) { return replace_in(entry.value, layer, by); });
}

bool replace_in(Setting::List& records, std::string_view layer, const Setting& by) {
  const auto is_one = [&](const Setting& record) {
    const auto* table = record.get_if<SettingTable>();
    return table != nullptr && is_of(text_of(*table, "name"), layer);
  };
  const auto first = std::find_if(records.begin(), records.end(), is_one);
  if (first != records.end()) {
    *first = by;
    records.erase(std::remove_if(first + 1, records.end(), is_one), records.end());
    return true;
  }
  return std::any_of(records.begin(), records.end(),
                     [&](Setting& record) { return replace_in(record, layer, by); });
}

}  // namespace

Setting layer_record(const Layer& layer, const std::string& name, std::vector<Setting> parts) {
  Setting record = write_layer(layer, true);
  auto& table = *record.get_if<SettingTable>();
  if (layer_types().find(layer.type()) == nullptr) {
    table.back().value = {std::move(parts)};
  } else {
    std::size_t next = 0;
    for (SettingEntry& entry : table) take_parts(entry.value, parts, next);
  }
  set_name(table, name);
  return record;
}

Setting block_record(const std::string& name, const std::string& weights,
                     std::vector<Setting> parts) {
  return {SettingTable{{"name", {name}},
                       {"type", {std::string("block")}},
                       {"weights", {weights}},
                       {"layers", {std::move(parts)}}}};
}

Setting checked_record(const Setting& record) {
  return write_layer(read_recorded_layer(record, "a layer's record"), true);
}

void for_each_record(const std::vector<Setting>& records,
                     const std::function<void(const SettingTable&)>& visit) {
  for (const Setting& record : records) visit_records(record, visit);
}

void replace_record(std::vector<Setting>& records, std::string_view layer, const Setting& by) {
  if (!replace_in(records, layer, by)) records.push_back(by);
}

std::string settings_text(const SettingTable& record) {
  const LayerType* type = layer_types().find(text_of(record, "type"));
  if (type == nullptr) return "";
  std::string text;
  for (const Field& field : type->fields.fields) {
    const Setting* given = find(record, field.key);
    if (field.key == "name" || given == nullptr || is_layer(*given)) continue;
    const auto* list = given->get_if<Setting::List>();
    const bool layers = list != nullptr && !list->empty() &&
                        (is_layer(list->front()) || list->front().get_if<Setting::List>());
    if (layers || *given == field.write(type->fields.defaults.get())) continue;
    text += fmt::format("{}{} = {}", text.empty() ? "" : ", ", field.key, to_toml(*given));
  }
  return text;
}

}  // namespace linnet
