// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

#include "datasets/survey.h"

namespace linnet {

/// What `linnet PATH` says: what lies there, and the commands that fit it, with what they do.
struct TaskPage {
  std::string found = {};  ///< a sentence
  std::vector<std::pair<std::string, std::string>> commands = {};

  /// Adds a command that comes after a training; runs have names of their own.
  void add_use(const std::string& fresh, const std::string& what) {
    commands.emplace_back("linnet predict runs/NAME " + fresh, "after it: " + what);
  }
};

/// Returns " (15 for the validation, 15 for the test)", of those that there are.
std::string held_out_text(std::size_t validation, std::size_t test);

/// What `linnet data info PATH` says.
struct TaskSurvey {
  nlohmann::ordered_json json = {};
  std::string text = {};
  bool all_usable = true;  ///< every file can be read
};

/// Returns what is said of a data set that lies at `path`.
TaskSurvey shown_survey(const Survey& survey, const std::string& path);

}  // namespace linnet
