// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/table_rows.h"

#include <fmt/format.h>

#include <utility>

#include "base/counted.h"

namespace linnet {
namespace {

class TableRows final : public Task {
 public:
  TableRows(TableTask made, Table table)
      : Task(std::move(made.data), std::move(made.notes)),
        transform_(std::move(made.transform)),
        test_rows_(std::move(made.test_rows)),
        validation_rows_(std::move(made.validation_rows)),
        table_(std::move(table)) {}

  std::string_view samples(const Dataset& /*train*/) const override { return "rows"; }
  std::string title(const std::string& /*job*/, const Dataset& train) const override {
    return fmt::format("Prediction of {} from {} of {}", some_names(transform_.targets()),
                       counted(columns().size(), "column"), train.info().name);
  }
  std::string_view is() const override { return "is a table"; }
  std::vector<RefusedSettings> refused() const override {
    return {{TaskSettings::images, "images"},
            {TaskSettings::texts, "texts"},
            {TaskSettings::windows, "windows of a series (--past)"}};
  }

  std::vector<TaskInput> inputs() const override {
    std::vector<TaskInput> all{{"numbers", std::ssize(transform_.feature_names()), "features"},
                               {"categories", transform_.id_columns(), "columns of ids"}};
    std::erase_if(all, [](const TaskInput& input) { return input.width == 0; });
    return all;
  }
  std::string fixed_head(const std::string& data) const override {
    return fmt::format("tables: a model of '{}' predicts what it learned before", data);
  }
  void finish(Network& network, TrainingOptions& training) const override {
    add_target_scale(network, transform_);
    for (OutputLoss& loss : training.output_losses) loss.output = network.output_names().front();
  }
  void replace_loss(TrainingOptions& training, std::optional<Loss> chosen,
                    bool by_output) const override {
    if (chosen || by_output) training.output_losses.clear();
  }
  void equip(Model& model) const override { model.set_table(transform_); }

  bool learns_classes() const override { return transform_.target_kind() == TableTarget::classes; }
  std::vector<std::string> columns() const override { return transform_.input_columns(); }
  std::optional<Table> table() const override { return table_; }
  std::vector<std::int64_t> row_numbers(bool test) const override {
    return test ? test_rows_ : validation_rows_;
  }

 private:
  TableTransform transform_;
  std::vector<std::int64_t> test_rows_;
  std::vector<std::int64_t> validation_rows_;
  Table table_;
};

}  // namespace

std::shared_ptr<const Task> task_of_rows(TableTask made, Table table) {
  return std::make_shared<const TableRows>(std::move(made), std::move(table));
}

}  // namespace linnet
