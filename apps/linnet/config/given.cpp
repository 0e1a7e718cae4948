// SPDX-License-Identifier: Apache-2.0
#include "config/given.h"

#include <algorithm>
#include <utility>

#include "describe/flags.h"

namespace linnet::command {

GivenOptions::GivenOptions(const CLI::App& command) {
  for (const CLI::Option* option : command.get_options()) {
    if (option->count() == 0) continue;
    // A flag that is switched off, as by --no-streamed, is not given.
    const bool off = option->get_items_expected_max() == 0 && option->results().back() == "false";
    if (!off) given_[option->get_name()] = option->results();
  }
}

bool GivenOptions::has(const std::string& name, const std::string& value) const {
  const auto found = given_.find(name);
  return found != given_.end() && std::ranges::count(found->second, value) > 0;
}

void GivenOptions::refuse(const std::vector<std::string>& names, const std::string& purpose,
                          const std::string& input) const {
  std::vector<std::string> given;
  std::ranges::copy_if(names, std::back_inserter(given), [&](const std::string& name) {
    const std::size_t space = name.find(' ');
    return space == std::string::npos ? has(name)
                                      : has(name.substr(0, space), name.substr(space + 1));
  });
  refuse_flags(std::move(given), purpose, input);
}

}  // namespace linnet::command
