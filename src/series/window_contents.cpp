// SPDX-License-Identifier: Apache-2.0
// From rows of a table to the rows of windows.
#include "series/window_contents.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <optional>
#include <span>
#include <string_view>
#include <unordered_map>

#include "base/check.h"
#include "base/memory.h"
#include "series/calendar.h"
#include "series/find_step.h"
#include "table/column_reader.h"
#include "table/learned_range.h"

namespace linnet {
namespace {

constexpr double kDaysOfYear = 365.2425;
constexpr float kNaN = std::numeric_limits<float>::quiet_NaN();

/// Writes the values of one input, row by row of one series.
class ColumnWriter {
 public:
  ColumnWriter(const Table& table, const SeriesColumn& input, std::size_t column,
               const LearnedReading& reading)
      : column_(table, column, reading, input.column), input_(input) {
    std::int32_t place = 1;
    for (const std::string& text : input.categories) places_.emplace(whole_text(text), place++);
  }

  /// `row`: of the table, -1 for none. Returns the value in its unit; NaN: it is missing.
  double write(std::int64_t row, std::span<float> to) {
    const std::string_view text = row < 0 ? std::string_view() : text_of(row);
    const bool missing = text.empty();
    double value = std::numeric_limits<double>::quiet_NaN();
    if (!missing) {
      value = value_of(row, text);
      last_ = value;
    }
    std::ranges::fill(to, 0.0F);
    if (input_.kind == SeriesColumnKind::category) {
      to[static_cast<std::size_t>(last_.value_or(0))] = 1;
    } else {
      to[0] = scaled(last_.value_or(input_.mean), row);
    }
    if (input_.indicator) to.back() = missing ? 1 : 0;
    return value;
  }
  /// The value that stands for a missing one.
  double filled() const { return last_.value_or(input_.mean); }
  /// Begins another series.
  void restart() { last_.reset(); }

 private:
  /// A category may be called as missing values are.
  std::string_view text_of(std::int64_t row) const {
    const std::string_view field = column_.field(row);
    return places_.contains(whole_text(field)) ? field : column_.text(row);
  }

  double value_of(std::int64_t row, std::string_view text) const {
    switch (input_.kind) {
      case SeriesColumnKind::number: return column_.number(row);
      case SeriesColumnKind::boolean: {
        const std::optional<bool> value = boolean_of(text);
        if (!value) {
          fail<DataError>("{}: expected a boolean; got '{}'", column_.place(row), in_message(text));
        }
        return *value ? 1 : 0;
      }
      case SeriesColumnKind::category: break;
    }
    const auto found = places_.find(whole_text(text));
    return found == places_.end() ? 0 : found->second;
  }

  float scaled(double value, std::int64_t row) const {
    const double scaled = (value - input_.mean) / input_.std;
    const bool fits = std::abs(scaled) <= std::numeric_limits<float>::max() &&
                      std::abs(value) <= std::numeric_limits<float>::max();
    require<DataError>(fits, "{}: {} is too far from the training's mean {}",
                       row < 0 ? column_.table().name() : column_.place(row), value, input_.mean);
    return static_cast<float>(scaled);
  }

  ColumnReader column_;
  const SeriesColumn& input_;
  std::unordered_map<std::string_view, std::int32_t> places_;
  std::optional<double> last_;
};

/// Where the channels of an input begin: the values of all targets come first.
struct Layout {
  std::vector<std::int64_t> past;
  std::vector<std::int64_t> known;      // -1: it is not known ahead
  std::vector<std::int64_t> indicator;  // of targets, -1: none
  std::int64_t calendar = 0;
  std::int64_t known_calendar = 0;
};

Layout layout_of(const SeriesRecord& record) {
  Layout layout;
  const std::int64_t targets = std::ssize(record.targets);
  std::int64_t next = targets;
  std::int64_t next_known = 0;
  for (std::int64_t i = 0; i < std::ssize(record.inputs); ++i) {
    const SeriesColumn& input = record.inputs[static_cast<std::size_t>(i)];
    if (i < targets) {
      layout.past.push_back(i);
      layout.indicator.push_back(input.indicator ? next : -1);
      next += input.indicator ? 1 : 0;
    } else {
      layout.past.push_back(next);
      next += input.width();
    }
    layout.known.push_back(input.known ? next_known : -1);
    next_known += input.known ? input.width() : 0;
  }
  layout.calendar = next;
  layout.known_calendar = next_known;
  return layout;
}

/// The turn of each cycle at a time, in [0, 1).
std::vector<double> turns_of(const std::vector<std::string>& cycles, std::int64_t time) {
  const std::int64_t day = floor_day(time);
  const DateTime date{.day = day, .seconds = static_cast<double>(time - day * kDay)};
  std::vector<double> turns;
  for (const std::string& cycle : cycles) {
    turns.push_back(cycle == "year"   ? date.day_of_year() / kDaysOfYear
                    : cycle == "week" ? (date.weekday() + date.seconds / kDay) / 7.0
                                      : date.seconds / kDay);
  }
  return turns;
}

Table joined(const Table& table, const SeriesRecord& record) {
  return join_times(table, SeriesColumns(record, table), record);
}

class Reading {
 public:
  Reading(const Table& table, std::shared_ptr<const SeriesRecord> record, bool for_forecast)
      : table_(one_row_a_time(joined(table, *record), SeriesColumns(*record, table), *record)),
        record_(*record),
        for_forecast_(for_forecast),
        columns_(*record, table_),
        layout_(layout_of(*record)),
        cycles_(record->cycles()) {
    contents_.record = std::move(record);
    contents_.name = table.name();
    contents_.channels = record_.channels();
    contents_.known_channels = record_.known_channels();
  }

  WindowContents read() {
    AlignedRows aligned = align(table_, columns_, record_);
    contents_.notes = std::move(aligned.notes);
    std::int64_t rows = 0;
    for (AlignedSeries& series : aligned.series) {
      if (for_forecast_) end_after_forecast(series);
      rows += std::ssize(series.rows);
    }
    const auto count = static_cast<std::size_t>(rows);
    contents_.past.resize(count * static_cast<std::size_t>(contents_.channels));
    contents_.known.resize(count * static_cast<std::size_t>(contents_.known_channels));
    contents_.targets.resize(count * contents_.target_count(), kNaN);
    contents_.filled.resize(count * contents_.target_count(), kNaN);
    for (const AlignedSeries& series : aligned.series) add_part(series);
    for (std::size_t i = 0; i < record_.inputs.size(); ++i) write(i, aligned.series);
    write_calendar(aligned.series);
    return std::move(contents_);
  }

 private:
  /// Cuts or extends a series to its last row with a target and `future` steps more.
  void end_after_forecast(AlignedSeries& series) const {
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < record_.targets.size(); ++i) {
      places.push_back(columns_.need(record_.inputs[i].column));
    }
    const auto has_target = [&](std::int64_t row) {
      return row >= 0 && std::ranges::any_of(places, [&](std::size_t column) {
               return !table_.missing(row, column);
             });
    };
    const auto last = std::ranges::find_if(series.rows.rbegin(), series.rows.rend(), has_target);
    const std::int64_t steps = series.rows.rend() - last;
    const std::string of =
        series.entity.empty() ? "" : fmt::format(" of the series '{}'", series.entity);
    require<DataError>(steps >= record_.past,
                       "'{}' holds {} steps{} up to its last value of '{}'; the model needs {}",
                       table_.name(), steps, of, record_.inputs[0].column, record_.past);
    const std::int64_t count = steps + record_.future;
    series.rows.resize(static_cast<std::size_t>(count), -1);
    if (std::ssize(series.times) > count) series.times.resize(static_cast<std::size_t>(count));
    while (std::ssize(series.times) < count) {
      series.times.push_back(record_.open.empty()
                                 ? time_at(record_, series.times.front(), std::ssize(series.times))
                                 : next_open(record_, series.times.back()));
    }
    for (const SeriesColumn& input : record_.inputs) {
      if (!input.known) continue;
      for (std::int64_t i = steps; i < std::ssize(series.rows); ++i) {
        require<DataError>(series.rows[static_cast<std::size_t>(i)] >= 0,
                           "'{}' has no row for {}{}, whose '{}' is known ahead; the forecast "
                           "needs it in the {} steps after the last value of '{}'",
                           table_.name(),
                           time_text(record_, series.times[static_cast<std::size_t>(i)]), of,
                           input.column, record_.future, record_.inputs[0].column);
      }
    }
  }

  void add_part(const AlignedSeries& series) {
    WindowContents::Part part{.entity = series.entity};
    contents_.times.insert(contents_.times.end(), series.times.begin(), series.times.end());
    part.rows = std::ssize(series.rows);
    if (!contents_.parts.empty()) {
      part.first = contents_.parts.back().first + contents_.parts.back().rows;
    }
    const auto known = std::ranges::find(record_.entities, whole_text(series.entity),
                                         [](const auto& text) { return whole_text(text); });
    if (known != record_.entities.end()) {
      part.id = 1 + static_cast<std::int32_t>(known - record_.entities.begin());
    }
    contents_.parts.push_back(std::move(part));
  }

  void write(std::size_t i, const std::vector<AlignedSeries>& all) {
    const SeriesColumn& input = record_.inputs[i];
    const bool target = i < record_.targets.size();
    ColumnWriter writer(table_, input, columns_.need(input.column), record_.learned);
    const double offset = target ? record_.targets[i].offset : 0;
    std::vector<float> values(static_cast<std::size_t>(input.width()));
    std::size_t at = 0;
    for (const AlignedSeries& series : all) {
      writer.restart();
      for (const std::int64_t row : series.rows) {
        const double value = writer.write(row, values);
        put(at, values, i);
        if (target) {
          const std::size_t place = at * contents_.target_count() + i;
          contents_.targets[place] = std::isnan(value) ? kNaN : static_cast<float>(value - offset);
          contents_.filled[place] = static_cast<float>(writer.filled() - offset);
        }
        ++at;
      }
    }
  }

  void put(std::size_t row, std::span<const float> values, std::size_t i) {
    float* const past = contents_.past.data() + row * static_cast<std::size_t>(contents_.channels);
    if (i < record_.targets.size()) {
      past[i] = values[0];
      if (layout_.indicator[i] >= 0) past[layout_.indicator[i]] = values.back();
    } else {
      std::ranges::copy(values, past + layout_.past[i]);
    }
    if (layout_.known[i] < 0) return;
    std::ranges::copy(values, contents_.known.data() +
                                  row * static_cast<std::size_t>(contents_.known_channels) +
                                  layout_.known[i]);
  }

  void write_calendar(const std::vector<AlignedSeries>& all) {
    if (cycles_.empty()) return;
    std::int64_t at = 0;
    for (const AlignedSeries& series : all) {
      for (std::int64_t i = 0; i < std::ssize(series.rows); ++i, ++at) {
        float* past = contents_.past.data() + at * contents_.channels + layout_.calendar;
        float* known =
            contents_.known.data() + at * contents_.known_channels + layout_.known_calendar;
        for (const double turn : turns_of(cycles_, series.times[static_cast<std::size_t>(i)])) {
          const double angle = 2 * std::numbers::pi * turn;
          *past++ = *known++ = static_cast<float>(std::sin(angle));
          *past++ = *known++ = static_cast<float>(std::cos(angle));
        }
      }
    }
  }

  Table table_;
  const SeriesRecord& record_;
  bool for_forecast_;
  SeriesColumns columns_;
  Layout layout_;
  std::vector<std::string> cycles_;
  WindowContents contents_;
};

std::vector<std::string> names_of(const SeriesColumn& input) {
  if (input.kind != SeriesColumnKind::category) return {input.column};
  std::vector<std::string> names{input.column + " unknown"};
  for (const std::string& one : input.categories) names.push_back(input.column + "=" + one);
  return names;
}

}  // namespace

const WindowContents::Part& WindowContents::part_of(std::int64_t row) const {
  const auto after = std::ranges::upper_bound(parts, row, {}, &Part::first);
  return *std::prev(after);
}

std::int64_t WindowContents::time_of(std::int64_t row) const {
  return times[static_cast<std::size_t>(row)];
}

bool WindowContents::has_targets(std::int64_t row) const {
  const auto values =
      std::span(targets).subspan(static_cast<std::size_t>(row) * target_count(), target_count());
  return std::ranges::none_of(values, [](float value) { return std::isnan(value); });
}

std::shared_ptr<const WindowContents> read_series(const Table& table,
                                                  std::shared_ptr<const SeriesRecord> record,
                                                  bool for_forecast) {
  return in_memory(fmt::format("the series of '{}'", table.name()), [&] {
    return std::make_shared<const WindowContents>(
        Reading(table, std::move(record), for_forecast).read());
  });
}

std::vector<std::string> unlike_training(const WindowContents& contents) {
  const SeriesRecord& record = *contents.record;
  const Layout layout = layout_of(record);
  std::vector<std::string> notes;
  OutsideNotes outside;
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    const SeriesColumn& input = record.inputs[i];
    const bool rises = i < record.targets.size() && record.targets[i].trend;
    if (input.range.size() != 2 || rises) continue;
    outside.begin(input.column, "outside the training's range", numbers_text(input.range));
    // Rounded as ColumnWriter does, so that the ends themselves are inside.
    const auto scaled = [&](double value) {
      return static_cast<float>((value - input.mean) / input.std);
    };
    const float least = scaled(input.range[0]);
    const float largest = scaled(input.range[1]);
    for (const WindowContents::Part& part : contents.parts) {
      const std::int64_t end = part.first + part.rows - record.future;
      for (std::int64_t row = end - record.past; row < end; ++row) {
        const float value =
            contents.past[static_cast<std::size_t>(row * contents.channels + layout.past[i])];
        if (value >= least && value <= largest) continue;
        outside.add(fmt::format("{:.6g}", input.mean + input.std * static_cast<double>(value)));
      }
    }
  }
  outside.finish(contents.name, notes);
  const double step = static_cast<double>(record.months ? record.step * 31 * kDay : record.step);
  for (const WindowContents::Part& part : contents.parts) {
    const std::int64_t time = contents.time_of(part.first + part.rows - record.future - 1);
    if (!is_far(record.times, static_cast<double>(time), step * static_cast<double>(record.future)))
      continue;
    notes.push_back(fmt::format(
        "the last step of '{}'{} is {}, far from the training's times, {} to {}", contents.name,
        part.entity.empty() ? "" : fmt::format(", series '{}',", part.entity),
        time_text(record, time), time_text(record, static_cast<std::int64_t>(record.times[0])),
        time_text(record, static_cast<std::int64_t>(record.times[1]))));
    break;  // one stands for all
  }
  return notes;
}

std::vector<std::int64_t> complete_windows(const WindowContents& contents) {
  const std::int64_t past = contents.record->past;
  const std::int64_t future = contents.record->future;
  std::vector<std::int64_t> starts;
  for (const WindowContents::Part& part : contents.parts) {
    std::int64_t complete = 0;  // rows with all targets, up to the current one
    for (std::int64_t row = part.first; row < part.first + part.rows; ++row) {
      complete = contents.has_targets(row) ? complete + 1 : 0;
      const std::int64_t start = row - past - future + 1;
      if (complete >= future && start >= part.first) starts.push_back(start);
    }
  }
  return starts;
}

std::vector<std::string> channel_names(const SeriesRecord& record, bool known) {
  std::vector<std::string> names;
  std::vector<std::string> indicators;
  const auto is_target = [&](std::size_t i) { return i < record.targets.size(); };
  for (std::size_t i = 0; i < record.inputs.size(); ++i) {
    const SeriesColumn& input = record.inputs[i];
    if (known && !input.known) continue;
    if (!is_target(i)) {  // the targets' values come first, their indicators next
      names.insert(names.end(), indicators.begin(), indicators.end());
      indicators.clear();
    }
    for (std::string& name : names_of(input)) names.push_back(std::move(name));
    if (!input.indicator) continue;
    (is_target(i) ? indicators : names).push_back(input.column + " missing");
  }
  names.insert(names.end(), indicators.begin(), indicators.end());
  for (const std::string& cycle : record.cycles()) {
    names.push_back(cycle + " sine");
    names.push_back(cycle + " cosine");
  }
  return names;
}

}  // namespace linnet
