// SPDX-License-Identifier: Apache-2.0
#include "config/given.h"

#include <algorithm>

#include "base/check.h"
#include "describe/nearest.h"

namespace linnet::command {

GivenOptions::GivenOptions(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() > 0) names_.insert(option->get_name());
  }
}

void GivenOptions::refuse(const std::vector<std::string>& names, const std::string& purpose,
                          const std::string& input) const {
  std::vector<std::string> given;
  std::ranges::copy_if(names, std::back_inserter(given),
                       [&](const auto& name) { return has(name); });
  if (given.empty()) return;
  const std::string last = given.back();
  given.pop_back();
  const std::string before = given.empty() ? "" : fmt::format("{} and ", fmt::join(given, ", "));
  fail("{}{} {} for {}; {}: leave {} out", before, last, given.empty() ? "is" : "are", purpose,
       input, given.empty() ? "it" : "them");
}

}  // namespace linnet::command
