// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/table_rows.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "base/check.h"
#include "base/counted.h"
#include "base/folder.h"
#include "describe/nearest.h"
#include "table/transform_record.h"
#include "tasks/options.h"
#include "tasks/registry.h"
#include "tasks/table/model_rows.h"
#include "tasks/table/novelty.h"
#include "tasks/table/read_rows.h"
#include "tasks/table/smooth_table.h"
#include "tasks/table/table_fields.h"
#include "tasks/table/table_survey.h"

namespace linnet {
namespace {

using Names = std::vector<std::string>;

const Description& task_flags() {
  static const Description kAll = [] {
    Description all = description_of<TableTaskOptions>();
    all.fields = joined({all.fields, lifted<&TableTaskOptions::transform>(
                                         description_of<TableTransformOptions>().fields)});
    return by_flags(all);
  }();
  return kAll;
}

TableTaskOptions task_options(const DataSettings& settings) {
  TableTaskOptions options;
  settings.read(task_flags(), &options);
  options.fold = settings.fold;
  // A method without a column.
  if (const auto all = options.transform.column_scaling.extract(""); !all.empty()) {
    options.transform.scaling = all.mapped();
  }
  require(options.folds == 0 || !settings.has({"test"}),
          "--folds measures on each part in turn; leave out --test");
  require(!settings.has({"split"}) || (options.group.empty() && options.time.empty()),
          "--split says how rows are split at random; leave it out with --group and --time");
  return options;
}

Names names_of(const Table& table) {
  Names names;
  for (const TableColumn& column : table.columns()) names.push_back(column.name);
  return names;
}

/// What to do for a column of texts, which the network of a table does not read; "": there is none.
std::string note_on_sentences(const Table& table, const Names& targets) {
  for (std::size_t column = 0; column < table.columns().size(); ++column) {
    const std::string& name = table.columns()[column].name;
    if (std::ranges::count(targets, name) > 0 || !holds_sentences(table, column)) continue;
    return fmt::format("the column '{0}' holds texts: --text '{0}' learns from them instead", name);
  }
  return "";
}

bool novelty(const TableTransform& transform) {
  return transform.target_kind() == TableTarget::novelty;
}

class TableRows final : public Task {
 public:
  TableRows() = default;
  TableRows(TableTask made, Table table, std::int64_t folds, std::string_view of_default)
      : Task(std::move(made.data), std::move(made.notes)),
        transform_(std::move(made.transform)),
        test_rows_(std::move(made.test_rows)),
        validation_rows_(std::move(made.validation_rows)),
        table_(std::move(table)),
        folds_(folds),
        of_default_(of_default) {}

  std::string_view samples(const Dataset& /*train*/) const override { return "rows"; }
  std::string title(const std::string& /*job*/, const Dataset& train) const override {
    return fmt::format("Prediction of {} from {} of {}", some_names(transform_.targets()),
                       counted(columns().size(), "column"), train.info().name);
  }
  std::string_view is() const override { return "is a table"; }
  std::vector<TaskFlags> flags() const override {
    return {{.all = &task_flags()}, {.all = &flags_of<TableOptions>()}};
  }
  bool accepts(TaskSettings settings) const override { return settings != TaskSettings::images; }

  TaskClaim claims(const std::filesystem::path& path, const DataSettings& settings) const override {
    const bool others = settings.has({"past", "text"});  // a series, texts
    if (others) return {};
    if (!is_table(path, settings)) return {is_file(path) ? TaskClaim::unlikely : TaskClaim::none};
    return {settings.has({"target"}) ? TaskClaim::surely : TaskClaim::perhaps};
  }
  PreparedTask prepare(const std::filesystem::path& path,
                       const TaskFileOptions& how) const override;
  TaskPage page(const std::filesystem::path& path) const override {
    return page_of_table(read_table(path), path.string());
  }
  TaskSurvey survey(const std::filesystem::path& path, const DataSettings& settings,
                    const SurveyProgress& /*progress*/) const override {
    const Names targets = task_options(settings).target.names;
    return survey_of_table(read_table(path, reading_of(settings)), path.string(),
                           targets.empty() ? "" : targets.front());
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
  std::string_view fixed_network() const override {
    return novelty(transform_) ? "a novelty (task in [data]) is learned by a network of its own"
                               : std::string_view();
  }
  void finish(Network& network, TrainingOptions& training) const override {
    require(of_default_.empty(),
            "{} is for default networks; leave it out with a network of your own", of_default_);
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
  std::int64_t folds() const override { return folds_; }
  std::optional<TaskReport> report(Model& model) const override {
    if (!novelty(transform_)) return std::nullopt;
    return report_of_novelty(model, data());
  }
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
  std::optional<TaskReport> score(Model& model, const Dataset& data,
                                  const std::string& /*part*/) const override {
    if (!novelty(model.table())) return std::nullopt;
    return score_of_novelty(model, data);
  }
  std::vector<std::string> targets(const Model& model) const override {
    return model.table().targets();
  }
  std::optional<double> threshold(const Model& model) const override {
    return novelty(model.table()) ? novelty_threshold(model) : std::nullopt;
  }

  TableOptions reading(const Model& model) const override { return model.table().reading(); }
  std::vector<std::string> row_columns(const Model& model) const override {
    return model.table().input_columns();
  }
  std::size_t table_width(const Model& model) const override {
    return model.table().record().columns.size();
  }
  std::size_t features(const Model& model) const override {
    return model.table().feature_names().size();
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
  std::int64_t folds_ = 0;
  std::string_view of_default_ = {};  ///< the option that the user gives for default networks
};

PreparedTask TableRows::prepare(const std::filesystem::path& path,
                                const TaskFileOptions& how) const {
  const DataSettings& settings = how.settings;
  const Table table = settings.rows ? *settings.rows : read_table(path, reading_of(settings));
  TableTaskOptions options = task_options(settings);
  options.seed = how.seed;
  if (how.from != nullptr) options.fitted = how.from->table();
  const bool novelty = options.fitted.empty()
                           ? options.transform.target == TableTarget::novelty
                           : options.fitted.target_kind() == TableTarget::novelty;
  if (novelty) {
    require(!settings.has({"target"}),
            "a novelty is learned of all columns, without a target; leave out --target "
            "(--ignore leaves out a column)");
    require(!settings.has({"ensemble", "folds", "validation_folds"}) && !how.least_squares,
            "a novelty is learned by one network, once; leave out --ensemble, --folds, "
            "--validation-folds and [levenberg_marquardt]");
  }
  if (options.fitted.empty()) {
    require(novelty || settings.has({"target"}),
            "--target names the column of '{}' that is predicted, one of {}; --task novelty needs "
            "none",
            path.string(), listed(names_of(table)));
  } else {
    require(!settings.has({"scale", "ignore", "task"}),
            "the columns are transformed as those of '{}' were; leave out --scale, --ignore and "
            "--task",
            how.from_name);
  }
  const std::string_view of_default = settings.has({"ensemble"})           ? "--ensemble"
                                      : settings.has({"validation_folds"}) ? "--validation-folds"
                                                                           : "";
  if (of_default.empty() && !settings.has({"validation"})) {
    options.validation_folds = how.validation_folds;
  }
  require(of_default.empty() || how.from == nullptr,
          "{} makes a new network; leave it out to train that of '{}' further", of_default,
          how.from_name);
  require(of_default.empty() || !how.least_squares,
          "{} trains by gradients; leave it out with [levenberg_marquardt]", of_default);
  if (how.least_squares) options.ensemble = options.validation_folds = 1;
  const std::string sentences = note_on_sentences(table, options.target.names);
  TableTask made = [&] {
    try {
      return table_task(table, options);
    } catch (const DataError& error) {
      throw DataError(std::string(error.what()) + (sentences.empty() ? "" : "; " + sentences));
    }
  }();
  if (how.least_squares) take_least_squares(made);
  if (!sentences.empty() && options.fitted.empty()) made.notes.push_back("warning: " + sentences);
  PreparedTask prepared{.network = how.from != nullptr ? how.from->network() : made.network,
                        .training = made.training};
  for (OutputLoss& loss : prepared.training.output_losses) {
    loss.output = prepared.network.output_names().front();
  }
  prepared.task =
      std::make_shared<const TableRows>(std::move(made), table, options.folds, of_default);
  return prepared;
}

}  // namespace

void register_table_task(Tasks& tasks) { tasks.add(std::make_unique<const TableRows>()); }

TableOptions reading_of(const DataSettings& settings) {
  auto options = settings.read<TableOptions>();
  if (std::ranges::count(options.missing, "") > 0) options.missing_words.clear();
  require(!options.types.contains(""), "--type is COLUMN=TYPE; got a type without a column");
  return options;
}

bool is_table(const std::filesystem::path& path, const DataSettings& settings) {
  std::error_code none;
  if (std::filesystem::is_directory(path, none)) return false;
  return is_table_name(path) || (is_file(path) && settings.has({"target"}));
}

bool holds_sentences(const Table& table, std::size_t column) {
  constexpr std::int64_t kRows = 50;
  constexpr std::ptrdiff_t kWords = 4;
  const ColumnType type = table.columns()[column].type;
  if (type != ColumnType::category && type != ColumnType::identifier) return false;
  const std::int64_t rows = std::min(kRows, table.rows());
  std::ptrdiff_t words = 0;
  for (std::int64_t row = 0; row < rows; ++row) {
    words += 1 + std::ranges::count(table.text(row, column), ' ');
  }
  return words >= kWords * rows;
}

}  // namespace linnet
