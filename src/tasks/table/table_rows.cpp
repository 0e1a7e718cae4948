// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/table_rows.h"

#include <fmt/format.h>

#include <utility>

#include "base/counted.h"
#include "table/transform_record.h"
#include "tasks/registry.h"
#include "tasks/table/model_rows.h"
#include "tasks/table/read_rows.h"
#include "tasks/table/table_fields.h"

namespace linnet {
namespace {

class TableRows final : public Task {
 public:
  TableRows() = default;
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

  bool made(const Model& model) const override { return !model.table().empty(); }
  std::string_view takes() const override { return "rows"; }
  bool reads(TaskFiles files) const override { return files == TaskFiles::tables; }
  Samples read(std::span<const std::filesystem::path> paths, const Model& model,
               const ReadOptions& options) const override {
    return read_rows(paths, model, options.sheet);
  }
  bool knows(const std::filesystem::path& /*path*/) const override { return true; }
  LabelledData load(const Model& model, const LabelledFiles& files) const override {
    ModelRows rows = measurable_rows(files.path, files.columns.sheet, model, files.force);
    LabelledData data{.splits = {.test = model.table().transform(rows.table)},
                      .notes = std::move(rows.notes),
                      .row_numbers = std::move(rows.numbers)};
    const std::vector<std::string>& notes = data.splits.test.info().notes;
    data.notes.insert(data.notes.end(), notes.begin(), notes.end());
    return data;
  }
  std::vector<std::string> targets(const Model& model) const override {
    return model.table().targets();
  }

  TableOptions reading(const Model& model) const override { return model.table().reading(); }
  std::vector<std::string> row_columns(const Model& model) const override {
    return model.table().input_columns();
  }
  std::size_t table_width(const Model& model) const override {
    return model.table().record().columns.size();
  }
  RequestRows samples_of(const Model& model, const Table& rows) const override {
    return {.data = model.table().inputs(rows), .notes = row_notes(model.table(), rows)};
  }
  void describe(const Model& model, nlohmann::ordered_json& json) const override {
    json["fields"] = fields_json(model.table());
  }

 private:
  TableTransform transform_;
  std::vector<std::int64_t> test_rows_;
  std::vector<std::int64_t> validation_rows_;
  std::optional<Table> table_;
};

}  // namespace

void register_table_task(Tasks& tasks) { tasks.add(std::make_unique<const TableRows>()); }

std::shared_ptr<const Task> task_of_rows(TableTask made, Table table) {
  return std::make_shared<const TableRows>(std::move(made), std::move(table));
}

}  // namespace linnet
