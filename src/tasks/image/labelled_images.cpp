// SPDX-License-Identifier: Apache-2.0
#include "tasks/image/labelled_images.h"

#include <fmt/format.h>

#include <utility>

namespace linnet {
namespace {

class Images final : public Task {
 public:
  using Task::Task;

  std::string_view samples(const Dataset& /*train*/) const override { return "images"; }
  std::string title(const std::string& /*job*/, const Dataset& train) const override {
    return fmt::format("Images of {}{}", train.info().name, classes_text(train));
  }
  std::vector<RefusedSettings> refused() const override { return {}; }
};

}  // namespace

std::shared_ptr<const Task> task_of_images(Splits data, std::vector<std::string> notes) {
  return std::make_shared<const Images>(std::move(data), std::move(notes));
}

}  // namespace linnet
