// SPDX-License-Identifier: Apache-2.0
#include "c_api/options.h"

#include <algorithm>
#include <initializer_list>
#include <iterator>
#include <vector>

#include "base/json.h"
#include "describe/nearest.h"
#include "describe/setting_json.h"
#include "model/optimizers.h"
#include "model/options.h"
#include "nn/layer_types.h"

namespace linnet::c_api {
namespace {

constexpr std::size_t kMostDepth = 64;  // layers in layers, and their settings

/// A kind alone stands for an object with it.
Setting as_kind(Setting setting, std::string_view key, const std::string& where) {
  if (auto* name = setting.get_if<std::string>()) {
    return {SettingTable{{"kind", {std::move(*name)}}}};
  }
  if (setting.get_if<SettingTable>() == nullptr) {
    FieldReading{key, where, setting}.refuse_type("a name, or an object with a \"kind\"");
  }
  return setting;
}

}  // namespace

Setting parse_options(const char* text, std::string_view what) {
  if (text == nullptr || *text == '\0') return {SettingTable()};
  Setting parsed =
      setting_from(parse_json<nlohmann::ordered_json>(text, kMostDepth, std::string(what)));
  require(parsed.get_if<SettingTable>() != nullptr,
          "expected {} to be a JSON object such as {{\"key\": 1}}; got {}", what,
          article_and_type(parsed));
  return parsed;
}

std::optional<Setting> taken(Setting& table, std::string_view key) {
  auto& entries = *table.get_if<SettingTable>();
  const auto found = std::ranges::find(entries, key, &SettingEntry::key);
  if (found == entries.end()) return {};
  Setting value = std::move(found->value);
  entries.erase(found);
  return value;
}

Setting taken_table(Setting& table, std::string_view key) {
  std::optional<Setting> found = taken(table, key);
  if (!found) return {SettingTable()};
  if (found->get_if<SettingTable>() == nullptr) {
    FieldReading{key, "the options", *found}.refuse_type("an object");
  }
  return *std::move(found);
}

void refuse_others(const Setting& table, std::initializer_list<std::string_view> known) {
  const auto& entries = *table.get_if<SettingTable>();
  if (entries.empty()) return;
  const std::vector<std::string> names(known.begin(), known.end());
  fail("unknown key '{}' in the options{}", entries.front().key,
       did_you_mean(entries.front().key, names, "known are"));
}

ModelOptions read_model_options(const Setting& table, const std::string& where) {
  ModelOptions options;
  read_options(options, table, where);
  return options;
}

void read_training_options(TrainingOptions& options, Setting table, const std::string& where) {
  if (const auto given = taken(table, "optimizer")) {
    const std::string name = "'optimizer' in " + where;
    options.optimizer = optimizers().read(as_kind(*given, "optimizer", where), name, "adam");
  }
  if (const auto given = taken(table, "schedule")) {
    const std::string name = "'schedule' in " + where;
    options.schedule = schedules().read(as_kind(*given, "schedule", where), name, "constant");
  }
  read_options(options, table, where);
}

Network read_network(const char* text) {
  Setting table = parse_options(text, "the network");
  const std::string where = "the network";
  const std::optional<Setting> input = taken(table, "input");
  const std::optional<Setting> layers = taken(table, "layers");
  require(input && layers, "expected the network to have the keys 'input' and 'layers'");
  refuse_others(table, {"input", "layers"});
  const auto* list = layers->get_if<Setting::List>();
  if (list == nullptr) FieldReading{"layers", where, *layers}.refuse_type("an array");
  std::vector<Layer> read;
  for (const Setting& layer : *list) {
    read.push_back(read_layer(layer, fmt::format("layer {} of the network", read.size() + 1)));
  }
  const auto kind = [](const Setting& layer) -> std::string_view {
    if (const auto* name = layer.get_if<std::string>()) return *name;
    return text_of(*layer.get_if<SettingTable>(), "type");
  };
  const auto first =
      std::ranges::find_if(*list, [&](const Setting& layer) { return kind(layer) != "lengths"; });
  const bool ids = first != list->end() && kind(*first) == "embedding";
  const FieldReading from{"input", where, *input};
  return Network(FieldFormat<Shape>::read(from), std::move(read), ids ? DType::i32 : DType::f32);
}

}  // namespace linnet::c_api
