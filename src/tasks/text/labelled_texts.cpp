// SPDX-License-Identifier: Apache-2.0
#include "tasks/text/labelled_texts.h"

#include <fmt/format.h>

#include <utility>

namespace linnet {
namespace {

class Texts final : public Task {
 public:
  using Task::Task;

  std::string_view samples(const Dataset& /*train*/) const override { return "texts"; }
  std::string title(const std::string& /*job*/, const Dataset& train) const override {
    return fmt::format("Texts of {}{}", train.info().name, classes_text(train));
  }
  std::vector<RefusedSettings> refused() const override { return {}; }
};

}  // namespace

std::shared_ptr<const Task> task_of_texts(Splits data, std::vector<std::string> notes) {
  return std::make_shared<const Texts>(std::move(data), std::move(notes));
}

}  // namespace linnet
