// SPDX-License-Identifier: Apache-2.0
#include "describe/flags.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "base/check.h"

namespace linnet {
namespace {

/// Keys of fields are views of these.
const std::string& kept(std::string text) {
  static std::set<std::string> all;
  return *all.insert(std::move(text)).first;
}

}  // namespace

Description by_flags(const Description& options) {
  Description named = options;
  std::erase_if(named.fields, [](const Field& field) { return field.flag_name.empty(); });
  for (Field& field : named.fields) {
    std::string key(field.flag_name.substr(2));
    std::ranges::replace(key, '-', '_');
    field.key = kept(std::move(key));
  }
  return named;
}

std::vector<std::string> flag_names(const Description& options) {
  std::vector<std::string> names;
  for (const Field& field : options.fields) {
    if (!field.flag_name.empty()) names.emplace_back(field.flag_name);
  }
  return names;
}

void refuse_flags(std::vector<std::string> names, std::string_view purpose,
                  std::string_view input) {
  if (names.empty()) return;
  const std::string last = names.back();
  names.pop_back();
  const std::string before = names.empty() ? "" : fmt::format("{} and ", fmt::join(names, ", "));
  fail("{}{} {} for {}; {}: leave {} out", before, last, names.empty() ? "is" : "are", purpose,
       input, names.empty() ? "it" : "them");
}

}  // namespace linnet
