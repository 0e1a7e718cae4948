// SPDX-License-Identifier: Apache-2.0
#include "tasks/task.h"

#include <fmt/format.h>

#include <span>

#include "base/counted.h"
#include "base/join.h"

namespace linnet {

std::string_view Task::samples(const Dataset& train) const {
  return train.info().vocabulary.empty() ? "samples" : "texts";
}

std::string Task::title(const std::string& job, const Dataset& train) const {
  return fmt::format("{} on {}{}", job, train.info().name, classes_text(train));
}

std::vector<RefusedSettings> Task::refused() const {
  return {{TaskSettings::windows, "series, the rows of a table"},
          {TaskSettings::rows, "tables"},
          {TaskSettings::texts, "tables"}};
}

std::shared_ptr<const Task> task_of_arrays() {
  static const auto task = std::make_shared<const Task>();
  return task;
}

std::string classes_text(const Dataset& train) {
  const std::size_t classes = train.info().classes.size();
  return classes == 0 ? "" : fmt::format(": {}", counted(classes, "class"));
}

std::string some_names(const std::vector<std::string>& names) {
  constexpr std::size_t kShown = 3;
  if (names.size() <= kShown) return join(names, ", ");
  return fmt::format("{} and {} more", join(std::span(names).first(kShown), ", "),
                     names.size() - kShown);
}

}  // namespace linnet
