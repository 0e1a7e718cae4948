// SPDX-License-Identifier: Apache-2.0
#include "table/transform_record.h"

#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "base/check.h"
#include "base/json.h"
#include "describe/setting_json.h"

namespace linnet {

inline constexpr std::array<std::string_view, 3> enum_names(DateOrder /*order*/) {
  return {"year_first", "day_first", "month_first"};
}
inline std::string_view enum_type(DateOrder /*order*/) { return "DateOrder"; }

inline constexpr std::array<std::string_view, 5> enum_names(Scaling /*scaling*/) {
  return {"standard", "min_max", "robust", "quantile", "log1p"};
}
inline std::string_view enum_type(Scaling /*scaling*/) { return "Scaling"; }

namespace {

// 1: numbers are standardised, the target is one column; 2: numbers have no range; 3: dates have
// no first year; no words, formats and offsets; 4: dates have no range
constexpr std::int64_t kVersion = 5;
constexpr std::int64_t kMostFeatures = std::int64_t{1} << 24;
constexpr std::size_t kDepth = 4;
constexpr const char* kWhat = "its table transform";

template <auto kMember>
Field number(std::string_view key) {
  return field<kMember>(key).finite();
}
template <auto kMember>
Field positive(std::string_view key) {
  return field<kMember>(key).above(0).finite();
}

const Kinds<TableInput>& inputs() {
  static const Kinds<TableInput> all = [] {
    Kinds<TableInput> kinds;
    kinds.add("number", "NumberInput",
              {field<&NumberInput::column>("column").required(),
               field<&NumberInput::scaling>("scaling"), number<&NumberInput::center>("center"),
               positive<&NumberInput::scale>("scale"), number<&NumberInput::quantiles>("quantiles"),
               number<&NumberInput::range>("range"), field<&NumberInput::integer>("integer"),
               number<&NumberInput::fill>("fill"), field<&NumberInput::interpolate>("interpolate"),
               field<&NumberInput::indicator>("indicator")},
              NumberInput{});
    kinds.add("boolean", "BooleanInput",
              {field<&BooleanInput::column>("column").required(),
               field<&BooleanInput::words>("words"),
               field<&BooleanInput::fill>("fill").between(0, 1),
               field<&BooleanInput::indicator>("indicator")},
              BooleanInput{});
    kinds.add("category", "CategoryInput",
              {field<&CategoryInput::column>("column").required(),
               field<&CategoryInput::categories>("categories"),
               field<&CategoryInput::missing>("missing"), field<&CategoryInput::fill>("fill"),
               field<&CategoryInput::embedded>("embedded")},
              CategoryInput{});
    kinds.add("date", "DateInput",
              {field<&DateInput::column>("column").required(), field<&DateInput::order>("order"),
               field<&DateInput::first_year>("first_year").between(0, 9900),
               number<&DateInput::mean>("mean"), positive<&DateInput::std>("std"),
               number<&DateInput::fill>("fill"), field<&DateInput::times>("times"),
               field<&DateInput::indicator>("indicator"), number<&DateInput::range>("range")},
              DateInput{});
    return kinds;
  }();
  return all;
}

const Kinds<LearnedTarget>& targets() {
  static const Kinds<LearnedTarget> all = [] {
    Kinds<LearnedTarget> kinds;
    kinds.add("classes", "ClassTarget",
              {field<&ClassTarget::column>("column").required(),
               field<&ClassTarget::classes>("classes").required()},
              ClassTarget{});
    kinds.add("value", "ValueTarget",
              {field<&ValueTarget::column>("column").required(),
               number<&ValueTarget::offset>("offset"), number<&ValueTarget::mean>("mean"),
               positive<&ValueTarget::std>("std")},
              ValueTarget{});
    kinds.add("values", "ValuesTarget",
              {field<&ValuesTarget::columns>("columns").required(),
               number<&ValuesTarget::offsets>("offsets"),
               number<&ValuesTarget::means>("means").required(),
               positive<&ValuesTarget::stds>("stds").required()},
              ValuesTarget{});
    kinds.add("labels", "LabelsTarget", {field<&LabelsTarget::columns>("columns").required()},
              LabelsTarget{});
    kinds.add("novelty", "NoveltyTarget", {}, NoveltyTarget{});
    return kinds;
  }();
  return all;
}

Setting texts(const std::vector<std::string>& values) {
  return FieldFormat<std::vector<std::string>>::write(values);
}

const Setting& need(const SettingTable& table, std::string_view key) {
  const Setting* found = find(table, key);
  require<DataError>(found != nullptr, "{} lacks '{}'", kWhat, key);
  return *found;
}

std::vector<std::string> read_texts(const SettingTable& table, std::string_view key) {
  const std::string where = kWhat;
  return FieldFormat<std::vector<std::string>>::read({key, where, need(table, key)});
}

void check_unique(const std::vector<std::string>& names, std::string_view what) {
  const std::set<std::string_view> all(names.begin(), names.end());
  require<DataError>(all.size() == names.size() && !names.empty(),
                     "{}: expected {} that differ; got {}", kWhat, what, names.size());
}

void check_numbers(const NumberInput& input) {
  const bool some = input.scaling == Scaling::quantile;
  require<DataError>(some ? input.quantiles.size() >= 2 && std::ranges::is_sorted(input.quantiles)
                          : input.quantiles.empty(),
                     "{}: expected {} of the column '{}'", kWhat,
                     some ? "at least 2 quantiles, in order," : "no quantiles", input.column);
}

void check_range(const std::vector<double>& range, const std::string& column) {
  require<DataError>(range.empty() || (range.size() == 2 && range[0] <= range[1]),
                     "{}: expected the least and the largest value of the column '{}', in order",
                     kWhat, column);
}

/// Days that date_text() can write.
void check_days(const DateInput& input) {
  constexpr double kMostDays = 10'000'000;
  for (const double day : input.range) {
    require<DataError>(std::abs(day) <= kMostDays,
                       "{}: the column '{}' has dates within {} days of 1970-01-01; got {}", kWhat,
                       input.column, kMostDays, day);
  }
}

/// Names that belong together do, and no number of features is beyond what a network may have.
void check(const TransformRecord& record) {
  check_unique(record.columns, "columns");
  const std::set<std::string_view> columns(record.columns.begin(), record.columns.end());
  std::set<std::string> read;
  const std::vector<std::string> targets = columns_of(record.target);
  const bool novelty = std::holds_alternative<NoveltyTarget>(record.target);
  if (!novelty) check_unique(targets, "targets");
  for (const std::string& target : targets) {
    require<DataError>(columns.contains(target), "{} has no column '{}'", kWhat, target);
    read.insert(target);
  }
  std::int64_t features = 0;
  for (const TableInput& input : record.inputs) {
    if (const auto* numbers = std::get_if<NumberInput>(&input)) {
      check_numbers(*numbers);
      check_range(numbers->range, numbers->column);
    }
    if (const auto* dates = std::get_if<DateInput>(&input)) {
      check_range(dates->range, dates->column);
      check_days(*dates);
    }
    require<DataError>(columns.contains(column_of(input)), "{} has no column '{}'", kWhat,
                       column_of(input));
    require<DataError>(read.insert(column_of(input)).second, "{} reads the column '{}' twice",
                       kWhat, column_of(input));
    if (const auto* category = std::get_if<CategoryInput>(&input)) {
      if (!category->missing || !category->categories.empty()) {
        check_unique(category->categories, "categories");
      }
      require<DataError>(category->fill.empty() ||
                             std::ranges::find(category->categories, category->fill) !=
                                 category->categories.end(),
                         "{}: the column '{}' has no category '{}'", kWhat, category->column,
                         category->fill);
      features += category->places();
    }
    features += width_of(input);
    require<DataError>(features <= kMostFeatures, "{} has more than {} features", kWhat,
                       kMostFeatures);
  }
  require<DataError>(!record.inputs.empty(), "{} has no inputs", kWhat);
  if (const auto* target = std::get_if<ClassTarget>(&record.target)) {
    check_unique(target->classes, "classes");
  }
  if (const auto* target = std::get_if<ValuesTarget>(&record.target)) {
    const std::size_t offsets = target->offsets.size();
    require<DataError>(target->means.size() == targets.size() &&
                           target->stds.size() == targets.size() &&
                           (offsets == 0 || offsets == targets.size()),
                       "{}: expected {} means and stds; got {} and {}", kWhat, targets.size(),
                       target->means.size(), target->stds.size());
  }
}

}  // namespace

std::vector<std::string_view> scaling_names() {
  const auto names = enum_names(Scaling());
  return {names.begin(), names.end()};
}

std::vector<std::string_view> missing_values_names() {
  return {"mean", "median", "most_frequent", "interpolate", "drop"};
}

std::vector<std::string> columns_of(const LearnedTarget& target) {
  if (const auto* classes = std::get_if<ClassTarget>(&target)) return {classes->column};
  if (const auto* value = std::get_if<ValueTarget>(&target)) return {value->column};
  if (const auto* values = std::get_if<ValuesTarget>(&target)) return values->columns;
  if (const auto* labels = std::get_if<LabelsTarget>(&target)) return labels->columns;
  return {};
}

TableTarget kind_of(const LearnedTarget& target) {
  if (std::holds_alternative<ClassTarget>(target)) return TableTarget::classes;
  if (std::holds_alternative<NoveltyTarget>(target)) return TableTarget::novelty;
  return std::holds_alternative<LabelsTarget>(target) ? TableTarget::labels : TableTarget::value;
}

std::int64_t width_of(const TableInput& input) {
  return static_cast<std::int64_t>(names_of(input).size());
}

std::vector<std::string> names_of(const TableInput& input) {
  const std::string& column = column_of(input);
  std::vector<std::string> names{column};
  bool indicator = false;
  if (const auto* number = std::get_if<NumberInput>(&input)) {
    indicator = number->indicator;
  } else if (const auto* boolean = std::get_if<BooleanInput>(&input)) {
    indicator = boolean->indicator;
  } else if (const auto* date = std::get_if<DateInput>(&input)) {
    indicator = date->indicator;
    for (const char* circle : {"year", "week", "day"}) {
      if (circle == std::string_view("day") && !date->times) continue;
      names.push_back(fmt::format("{} {} sine", column, circle));
      names.push_back(fmt::format("{} {} cosine", column, circle));
    }
  } else if (const auto* category = std::get_if<CategoryInput>(&input)) {
    if (category->embedded) return {};
    names = {column + " unknown"};
    for (const std::string& one : category->categories) names.push_back(column + "=" + one);
    if (category->missing) names.push_back(column + " missing");
    return names;
  }
  if (indicator) names.push_back(column + " missing");
  return names;
}

std::string json_of(const TransformRecord& record) {
  Setting::List read;
  for (const TableInput& input : record.inputs) read.push_back(inputs().write(input, false));
  SettingTable formats;
  for (const auto& [column, format] : record.reading.formats) {
    formats.push_back({column, {format.text()}});
  }
  SettingTable table{{"version", {kVersion}},
                     {"header", {record.reading.header}},
                     {"missing", texts(record.reading.missing)},
                     {"words", texts(record.reading.words)},
                     {"formats", {std::move(formats)}},
                     {"columns", texts(record.columns)},
                     {"inputs", {std::move(read)}},
                     {"target", targets().write(record.target, true)}};
  const GivenReading& given = record.reading.given;
  if (!given.empty()) table.push_back({"reading", {given.text()}});
  return json_of(Setting(table), kDepth).dump();
}

namespace {

/// Renames what the first version called otherwise.
void update(SettingTable& input) {
  if (text_of(input, "kind") != "number") return;
  for (SettingEntry& entry : input) {
    if (entry.key == "mean") entry.key = "center";
    if (entry.key == "std") entry.key = "scale";
  }
}

}  // namespace

TransformRecord transform_record_from(const std::string& text) {
  const Setting all = setting_from(parse_json<nlohmann::json>(text, kDepth, kWhat));
  const auto* table = all.get_if<SettingTable>();
  require<DataError>(table != nullptr, "{} is damaged", kWhat);
  const auto* version = need(*table, "version").get_if<std::int64_t>();
  require<DataError>(version != nullptr && *version >= 1 && *version <= kVersion,
                     "{} is of another version than 1 to {}; a newer Linnet wrote it", kWhat,
                     kVersion);
  TransformRecord record;
  const auto* header = need(*table, "header").get_if<bool>();
  const auto* list = need(*table, "inputs").get_if<Setting::List>();
  const Setting& target = need(*table, "target");
  require<DataError>(header != nullptr && list != nullptr && target.get_if<SettingTable>(),
                     "{} is damaged", kWhat);
  record.reading.header = *header;
  record.reading.given = GivenReading::from(text_of(*table, "reading"), kWhat);
  record.reading.missing = read_texts(*table, "missing");
  if (*version >= 4) {
    record.reading.words = read_texts(*table, "words");
    const auto* formats = need(*table, "formats").get_if<SettingTable>();
    require<DataError>(formats != nullptr, "{} is damaged", kWhat);
    for (const SettingEntry& entry : *formats) {
      record.reading.formats[entry.key] = NumberFormat::from(text_of(*formats, entry.key), kWhat);
    }
  }
  record.columns = read_texts(*table, "columns");
  for (Setting input : *list) {
    require<DataError>(input.get_if<SettingTable>() != nullptr, "{} is damaged", kWhat);
    if (*version == 1) update(*input.get_if<SettingTable>());
    record.inputs.push_back(inputs().read(input, kWhat, "number"));
  }
  record.target = targets().read(target, kWhat, "value");
  check(record);
  return record;
}

}  // namespace linnet
