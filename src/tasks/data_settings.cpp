// SPDX-License-Identifier: Apache-2.0
#include "tasks/data_settings.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <utility>

namespace linnet {

bool DataSettings::has(const std::vector<std::string_view>& keys) const {
  return std::ranges::any_of(keys, [&](std::string_view key) {
    return find(*given.get_if<SettingTable>(), key) != nullptr;
  });
}

void DataSettings::read(const Description& options, void* object) const {
  SettingTable arguments;
  SettingTable file;
  for (const SettingEntry& entry : *given.get_if<SettingTable>()) {
    const Field* field = options.find(entry.key);
    if (field == nullptr) continue;
    SettingEntry one = entry;
    // An option that may be given several times, for a field that is one text.
    const auto* texts = entry.value.get_if<Setting::List>();
    if (texts != nullptr && texts->size() == 1 && field->format->form == Form::text) {
      one.value = Setting(texts->front());
    }
    (entry.value.place.line == 0 ? arguments : file).push_back(std::move(one));
  }
  options.read(object, {std::move(file)}, "[data]");
  options.read(object, {std::move(arguments)}, "");
}

void DataSettings::refuse(const std::vector<std::string_view>& keys, std::string_view purpose,
                          std::string_view input) const {
  std::vector<std::string> names;
  for (const SettingEntry& entry : *given.get_if<SettingTable>()) {
    const bool* truth = entry.value.get_if<bool>();
    if (truth != nullptr && !*truth) continue;  // --no-header
    if (std::ranges::count(keys, entry.key) == 0) continue;
    std::string& name = names.emplace_back(entry.key);
    if (entry.value.place.line > 0) {
      name = fmt::format("'{}' in [data]", name);
    } else {
      std::ranges::replace(name, '_', '-');
      name.insert(0, "--");
    }
  }
  refuse_flags(std::move(names), purpose, input);
}

}  // namespace linnet
