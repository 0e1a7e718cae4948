// SPDX-License-Identifier: Apache-2.0
#include "series/series_record.h"

#include <algorithm>
#include <array>
#include <chrono>
#include <cmath>
#include <limits>
#include <set>
#include <string_view>

#include "base/check.h"
#include "base/json.h"

namespace linnet {
namespace {

// 1: without month_day; 2: dates are numbers with one separator, without a calendar
constexpr std::int64_t kVersion = 3;
constexpr std::int64_t kWeek = 7 * kDay;
constexpr std::size_t kLongestForm = 64;
constexpr std::size_t kDepth = 4;
constexpr const char* kWhat = "its series transform";
constexpr std::int64_t kMostNumbers = std::int64_t{1} << 26;  // of a window
constexpr std::int64_t kMostStep = std::int64_t{1} << 40;
constexpr std::array<std::string_view, 4> kTimeKinds{"rows", "number", "date", "compact"};
constexpr std::array<std::string_view, 3> kKinds{"number", "boolean", "category"};

using nlohmann::json;

/// Reads fields of an object that anybody may have written.
class Reader {
 public:
  explicit Reader(const json& object) : object_(object) {
    require<DataError>(object.is_object(), "{} is damaged", kWhat);
  }
  const json& need(const char* key) const {
    const auto found = object_.find(key);
    require<DataError>(found != object_.end(), "{} lacks '{}'", kWhat, key);
    return *found;
  }
  bool flag(const char* key) const {
    const json& value = need(key);
    require<DataError>(value.is_boolean(), "{}: '{}' is true or false", kWhat, key);
    return value.get<bool>();
  }
  std::string text(const char* key) const { return text_of(need(key), key); }
  std::vector<std::string> texts(const char* key) const {
    std::vector<std::string> all;
    for (const json& value : list(key)) all.push_back(text_of(value, key));
    return all;
  }
  const json& list(const char* key) const {
    const json& value = need(key);
    require<DataError>(value.is_array(), "{}: '{}' is an array", kWhat, key);
    return value;
  }
  std::int64_t integer(const char* key, std::int64_t least, std::int64_t most) const {
    const json& value = need(key);
    const bool in_range = value.is_number_integer() &&
                          (!value.is_number_unsigned() ||
                           value.get<std::uint64_t>() <= static_cast<std::uint64_t>(most)) &&
                          value.get<std::int64_t>() >= least && value.get<std::int64_t>() <= most;
    require<DataError>(in_range, "{}: '{}' is a whole number from {} to {}; got {}", kWhat, key,
                       least, most, value.dump());
    return value.get<std::int64_t>();
  }
  double number(const char* key, double least) const {
    const json& value = need(key);
    const bool good =
        value.is_number() && std::isfinite(value.get<double>()) && value.get<double>() >= least;
    require<DataError>(good, "{}: '{}' is a finite number of at least {}; got {}", kWhat, key,
                       least, value.dump());
    return value.get<double>();
  }
  template <class E, class Names>
  E one_of(const char* key, const Names& names) const {
    const std::string given = text(key);
    const auto found = std::ranges::find(names, std::string_view(given));
    require<DataError>(found != names.end(), "{}: '{}' is none of its kinds: '{}'", kWhat, key,
                       given);
    return static_cast<E>(found - names.begin());
  }

 private:
  static std::string text_of(const json& value, const char* key) {
    require<DataError>(value.is_string(), "{}: '{}' holds text", kWhat, key);
    return value.get<std::string>();
  }
  const json& object_;
};

void check_unique(const std::vector<std::string>& names, std::string_view what) {
  const std::set<std::string_view> all(names.begin(), names.end());
  require<DataError>(all.size() == names.size(), "{}: expected {} that differ", kWhat, what);
}

void check(const SeriesRecord& record) {
  check_unique(record.columns, "columns");
  check_unique(record.entities, "series");
  const std::set<std::string_view> columns(record.columns.begin(), record.columns.end());
  std::set<std::string_view> read;
  const auto take = [&](const std::string& column) {
    require<DataError>(columns.contains(column), "{} has no column '{}'", kWhat, column);
    require<DataError>(read.insert(column).second, "{} reads the column '{}' twice", kWhat, column);
  };
  require<DataError>(record.time.empty() == (record.time_kind == TimeKind::rows),
                     "{}: a column of the time has a kind, and no other has", kWhat);
  require<DataError>(!record.months || record.dates(), "{}: months are steps of dates", kWhat);
  if (!record.time.empty()) take(record.time);
  if (!record.time_of_day.empty()) {
    require<DataError>(record.time_kind == TimeKind::date, "{}: times of day belong to dates",
                       kWhat);
    take(record.time_of_day);
  }
  if (!record.entity.empty()) take(record.entity);
  std::int64_t channels = 0;
  for (const SeriesColumn& input : record.inputs) {
    take(input.column);
    check_unique(input.categories, "categories");
    channels += input.width();
  }
  require<DataError>(!record.targets.empty() && record.targets.size() <= record.inputs.size(),
                     "{} has {} targets of {} columns", kWhat, record.targets.size(),
                     record.inputs.size());
  for (std::size_t i = 0; i < record.targets.size(); ++i) {
    const SeriesColumn& target = record.inputs[i];
    require<DataError>(target.kind == SeriesColumnKind::number && !target.known,
                       "{}: the target '{}' is a number that is not known ahead", kWhat,
                       target.column);
  }
  channels += 6;  // of the calendar
  require<DataError>((record.past + record.future) * channels <= kMostNumbers,
                     "{}: a window of {} + {} steps of {} channels has more than {} numbers", kWhat,
                     record.past, record.future, channels, kMostNumbers);
}

json open_json(const std::vector<OpenTime>& open) {
  json parts = json::array();
  for (const OpenTime& part : open) parts.push_back({part.from, part.to});
  return parts;
}

json json_of(const SeriesColumn& column) {
  return {{"column", column.column},
          {"range", column.range},
          {"kind", kKinds[static_cast<std::size_t>(column.kind)]},
          {"mean", column.mean},
          {"std", column.std},
          {"categories", column.categories},
          {"indicator", column.indicator},
          {"known", column.known}};
}

/// Returns the two ends of a range, which older files lack.
std::vector<double> range_of(const json& object, const char* key) {
  if (!object.contains(key)) return {};
  std::vector<double> range;
  for (const json& end : Reader(object).list(key)) {
    const bool good = end.is_number() && std::isfinite(end.get<double>());
    range.push_back(good ? end.get<double>() : std::numeric_limits<double>::quiet_NaN());
  }
  require<DataError>(range.empty() || (range.size() == 2 && range[0] <= range[1]),
                     "{}: '{}' holds the two ends of a range, in order", kWhat, key);
  return range;
}

SeriesColumn column_from(const json& object) {
  const Reader read(object);
  return {.column = read.text("column"),
          .kind = read.one_of<SeriesColumnKind>("kind", kKinds),
          .mean = read.number("mean", std::numeric_limits<double>::lowest()),
          .std = read.number("std", std::numeric_limits<double>::min()),
          .categories = read.texts("categories"),
          .indicator = read.flag("indicator"),
          .known = read.flag("known"),
          .range = range_of(object, "range")};
}

}  // namespace

std::vector<std::string> SeriesRecord::cycles() const {
  std::vector<std::string> names;
  if (!dates()) return names;
  const std::int64_t seconds = months ? step * 30 * kDay : step;
  if (2 * seconds < 365 * kDay) names.emplace_back("year");
  if (2 * seconds < 7 * kDay) names.emplace_back("week");
  if (2 * seconds < kDay) names.emplace_back("day");
  return names;
}

std::int64_t SeriesRecord::channels() const {
  std::int64_t count = 2 * std::ssize(cycles());
  for (const SeriesColumn& input : inputs) count += input.width();
  return count;
}

std::int64_t SeriesRecord::known_channels() const {
  std::int64_t count = 2 * std::ssize(cycles());
  for (const SeriesColumn& input : inputs) count += input.known ? input.width() : 0;
  return count;
}

std::string step_text(const SeriesRecord& record) {
  const auto with = [](std::int64_t count, const char* unit) {
    return fmt::format("{} {}{}", count, unit, count == 1 ? "" : "s");
  };
  const std::int64_t step = record.step;
  if (record.time_kind == TimeKind::rows) return with(step, "row");
  if (!record.dates()) return with(step, "unit");
  if (record.months) return with(step, "month");
  if (step % kDay == 0) return with(step / kDay, "day");
  if (step % 3600 == 0) return with(step / 3600, "hour");
  if (step % 60 == 0) return with(step / 60, "minute");
  return with(step, "second");
}

std::string time_text(const SeriesRecord& record, std::int64_t time) {
  if (!record.dates()) return fmt::format("{}", time);
  const std::int64_t day = floor_day(time);
  const std::int64_t seconds = time - day * kDay;
  constexpr std::int64_t kMostDays = 10'000'000;  // what std::chrono knows as a date
  if (day < -kMostDays || day > kMostDays) return fmt::format("day {} after 1970-01-01", day);
  return date_text(record.form, day, seconds);
}

std::vector<std::string_view> same_time_names() {
  return {"refuse", "first", "last", "mean", "sum"};
}
std::vector<std::string_view> off_step_names() { return {"refuse", "nearest"}; }

std::string json_of(const SeriesRecord& record) {
  json inputs = json::array();
  for (const SeriesColumn& input : record.inputs) inputs.push_back(json_of(input));
  json targets = json::array();
  for (const SeriesTarget& target : record.targets) {
    targets.push_back({{"offset", target.offset},
                       {"change", target.change},
                       {"naive_error", target.naive_error},
                       {"trend", target.trend}});
  }
  json formats = json::object();
  for (const auto& [column, format] : record.learned.formats) formats[column] = format.text();
  json all{{"version", kVersion},
           {"header", record.learned.header},
           {"missing", record.learned.missing},
           {"words", record.learned.words},
           {"formats", std::move(formats)},
           {"columns", record.columns},
           {"time", record.time},
           {"time_kind", kTimeKinds[static_cast<std::size_t>(record.time_kind)]},
           {"order", date_order_names()[static_cast<std::size_t>(record.reading.order)]},
           {"first_year", record.reading.first_year},
           {"form", record.form},
           {"months", record.months},
           {"month_day", record.month_day},
           {"step", record.step},
           {"time_range", record.times},
           {"open", open_json(record.open)},
           {"same_time", same_time_names()[static_cast<std::size_t>(record.same_time)]},
           {"off_step", off_step_names()[static_cast<std::size_t>(record.off_step)]},
           {"entity", record.entity},
           {"entities", record.entities},
           {"past", record.past},
           {"future", record.future},
           {"season", record.season},
           {"targets", std::move(targets)},
           {"inputs", std::move(inputs)}};
  if (!record.time_of_day.empty()) all["time_of_day"] = record.time_of_day;
  if (!record.learned.given.empty()) all["reading"] = record.learned.given.text();
  return all.dump();
}

namespace {

/// Reads what version 3 added.
void read_calendar(const Reader& read, SeriesRecord& record) {
  constexpr std::int64_t kMostYear = 9900;
  record.reading.first_year = static_cast<int>(read.integer("first_year", 0, kMostYear));
  record.form = read.text("form");
  require<DataError>(record.form.size() <= kLongestForm, "{}: 'form' has more than {} bytes", kWhat,
                     kLongestForm);
  record.same_time = read.one_of<SameTime>("same_time", same_time_names());
  record.off_step = read.one_of<OffStep>("off_step", off_step_names());
  std::int64_t last = -1;
  for (const json& part : read.list("open")) {
    const bool pair = part.is_array() && part.size() == 2 && part[0].is_number_integer() &&
                      part[1].is_number_integer();
    const OpenTime open = pair ? OpenTime{part[0].get<std::int64_t>(), part[1].get<std::int64_t>()}
                               : OpenTime{kWeek, 0};
    require<DataError>(open.from > last && open.from <= open.to && open.to < kWeek &&
                           record.dates() && !record.months && record.step <= kDay,
                       "{}: 'open' holds parts of a week, in order, of steps of at most a day",
                       kWhat);
    last = open.to;
    record.open.push_back(open);
  }
}

/// Returns the form of dates that version 2 described by their order and a separator.
std::string older_form(const Reader& read, const SeriesRecord& record) {
  const std::string mark = read.text("separator");
  require<DataError>(mark == "-" || mark == "/" || mark == ".",
                     "{}: 'separator' is '-', '/' or '.'; got '{}'", kWhat, mark);
  const bool times = read.flag("times");
  if (record.time_kind == TimeKind::compact) return "%Y%m%d";
  const std::array<std::string, 3> forms{"%Y" + mark + "%m" + mark + "%d",
                                         "%d" + mark + "%m" + mark + "%Y",
                                         "%m" + mark + "%d" + mark + "%Y"};
  const std::string& date = forms[static_cast<std::size_t>(record.reading.order)];
  return !times ? date : date + (record.step % 60 == 0 ? " %H:%M" : " %H:%M:%S");
}

}  // namespace

SeriesRecord series_record_from(const std::string& text) {
  const auto all = parse_json<json>(text, kDepth, kWhat);
  const Reader read(all);
  const std::int64_t version = read.integer("version", 1, std::numeric_limits<std::int64_t>::max());
  require<DataError>(version <= kVersion,
                     "{} is of another version than 1 to {}; a newer Linnet wrote it", kWhat,
                     kVersion);
  SeriesRecord record;
  record.learned.header = read.flag("header");
  record.learned.given =
      GivenReading::from(all.contains("reading") ? read.text("reading") : "", kWhat);
  record.learned.missing = read.texts("missing");
  if (all.contains("words")) record.learned.words = read.texts("words");
  if (all.contains("formats")) {
    require<DataError>(all["formats"].is_object(), "{}: 'formats' is damaged", kWhat);
    for (const auto& [column, format] : all["formats"].items()) {
      require<DataError>(format.is_string(), "{}: 'formats' is damaged", kWhat);
      record.learned.formats[column] = NumberFormat::from(format.get<std::string>(), kWhat);
    }
  }
  record.columns = read.texts("columns");
  record.time = read.text("time");
  if (all.contains("time_of_day")) record.time_of_day = read.text("time_of_day");
  record.time_kind = read.one_of<TimeKind>("time_kind", kTimeKinds);
  record.reading.order = read.one_of<DateOrder>("order", date_order_names());
  record.months = read.flag("months");
  if (version >= 2) {
    record.month_day = read.integer("month_day", 0, record.months ? kFirstWorkday : 0);
  }
  record.step = read.integer("step", 1, record.months ? 1200 : kMostStep);
  record.times = range_of(all, "time_range");
  constexpr double kLatest = 4611686018427387904.0;  // 2^62: times are std::int64_t
  for (const double time : record.times) {
    require<DataError>(std::abs(time) <= kLatest,
                       "{}: 'time_range' holds times from -2^62 to 2^62; got {}", kWhat, time);
  }
  if (version >= 3) {
    read_calendar(read, record);
  } else {
    record.form = older_form(read, record);
  }
  record.entity = read.text("entity");
  record.entities = read.texts("entities");
  record.past = read.integer("past", 1, kMostSteps);
  record.future = read.integer("future", 1, kMostSteps);
  record.season = read.integer("season", 1, kMostSteps);
  for (const json& target : read.list("targets")) {
    const Reader of(target);
    const bool offset = target.contains("offset");
    record.targets.push_back(
        {.offset = offset ? of.number("offset", std::numeric_limits<double>::lowest()) : 0,
         .change = of.number("change", std::numeric_limits<double>::min()),
         .naive_error = of.number("naive_error", 0),
         .trend = of.flag("trend")});
  }
  for (const json& input : read.list("inputs")) record.inputs.push_back(column_from(input));
  check(record);
  return record;
}

}  // namespace linnet
