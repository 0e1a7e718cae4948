// SPDX-License-Identifier: Apache-2.0
#include "runtime/tuning_cache.h"

#include <nlohmann/json.hpp>

#include "base/check.h"
#include "base/files.h"
#include "base/json.h"

namespace linnet {
namespace {

std::map<std::string, std::string> load(const std::filesystem::path& file) {
  std::map<std::string, std::string> choices;
  std::string text;
  try {
    text = read_file(file);
  } catch (const Error&) {
    return choices;  // the first run on this machine
  }
  const auto json = json_or_null<nlohmann::json>(text, 8);
  if (!json.is_object()) return choices;
  for (const auto& [key, value] : json.items()) {
    if (value.is_string()) choices[key] = value.get<std::string>();
  }
  return choices;
}

void require_utf8(const std::string& text) {
  try {
    nlohmann::json(text).dump();
  } catch (const nlohmann::json::exception&) {
    fail("[tuning cache] expected keys and values in UTF-8");
  }
}

}  // namespace

TuningCache::TuningCache(std::filesystem::path file)
    : file_(std::move(file)), choices_(load(file_)) {}

std::optional<std::string> TuningCache::get(const std::string& key) const {
  const auto found = choices_.find(key);
  return found == choices_.end() ? std::nullopt : std::optional(found->second);
}

void TuningCache::put(const std::string& key, const std::string& value) {
  require_utf8(key);
  require_utf8(value);
  choices_[key] = value;
  unsaved_[key] = value;
  static_cast<void>(save());  // what fails is tried and told again when all is chosen
}

void TuningCache::flush() {
  if (file_.empty() || unsaved_.empty()) return;
  std::map<std::string, std::string> merged = load(file_);
  for (const auto& [key, value] : unsaved_) merged[key] = value;
  if (file_.has_parent_path()) {
    std::error_code ignored;  // writing the file reports what matters
    std::filesystem::create_directories(file_.parent_path(), ignored);
  }
  write_file_atomically(file_, nlohmann::json(merged).dump(1) + "\n");
  unsaved_.clear();
}

std::string TuningCache::save() {
  try {
    flush();
  } catch (const Error& error) {
    return fmt::format("measured choices could not be saved: {}", error.what());
  }
  return "";
}

}  // namespace linnet
