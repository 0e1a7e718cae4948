// SPDX-License-Identifier: Apache-2.0
#include "series/calendar.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/series_transform.h>

#include <functional>

#include "message_of.h"
#include "series/fit_series.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;

constexpr std::int64_t kHour = 3600;
constexpr std::int64_t kMonday = 4 * kDay;  // 1970-01-05

SeriesTransform fitted(const Table& table, SeriesFit options = {}) {
  options.targets = {"y"};
  options.past = 2;
  if (options.season == 0) options.season = 1;
  return SeriesTransform(fit_series(table, options).record);
}

/// A table of the times from Monday on that `open` takes.
Table table_at(std::int64_t step, std::int64_t count,
               const std::function<bool(std::int64_t)>& open) {
  std::string text = "t,y\n";
  for (std::int64_t i = 0; i < count; ++i) {
    const std::int64_t time = i * step;
    if (!open(time)) continue;
    text += date_text("%Y-%m-%d %H:%M", (kMonday + time) / kDay, time % kDay);
    text += fmt::format(",{}\n", i * i % 17);
  }
  return parse_table(text);
}

std::int64_t weekday(std::int64_t time) { return time / kDay % 7; }

/// The times that follow the last row.
std::vector<std::string> next_times(const Table& table, const SeriesTransform& transform,
                                    int count) {
  const SeriesRecord& record = *transform.record();
  const std::string last(table.text(table.rows() - 1, 0));
  const DateTime date = *date_of(last, record.reading);
  std::int64_t time = date.day * kDay + static_cast<std::int64_t>(date.seconds);
  std::vector<std::string> times;
  for (int i = 0; i < count; ++i) {
    time = next_open(record, time);
    times.push_back(time_text(record, time));
  }
  return times;
}

TEST(Calendar, BusinessDays) {
  // Four weeks; the Wednesday of the second is a holiday.
  const Table table =
      table_at(kDay, 26, [](std::int64_t t) { return weekday(t) < 5 && t != 9 * kDay; });
  const SeriesTransform transform = fitted(table, {.future = 7});
  EXPECT_EQ(calendar_text(*transform.record()), "Monday to Friday");
  const SeriesWindows windows = transform.windows(table);
  EXPECT_EQ(windows.size(), table.rows() - 8) << "no row is missing";
  EXPECT_EQ(windows.notes(),
            std::vector<std::string>{"1 further pauses of the calendar, such as that before "
                                     "1970-01-15 00:00, are holidays, not missing rows"});
  EXPECT_EQ(next_times(table, transform, 2),
            (std::vector<std::string>{"1970-02-02 00:00", "1970-02-03 00:00"}));
  EXPECT_EQ(calendar_season(5, *transform.record()), 5);
  EXPECT_EQ(calendar_season(253, *transform.record()), 261);
  // Two weeks say it too.
  const Table two = table_at(kDay, 12, [](std::int64_t t) { return weekday(t) < 5; });
  EXPECT_EQ(calendar_text(*fitted(two).record()), "Monday to Friday");
}

TEST(Calendar, SessionsWithPauses) {
  const auto open = [](std::int64_t t) {
    const std::int64_t second = t % kDay;
    return weekday(t) < 5 && ((second >= 9 * kHour && second <= 11 * kHour) ||
                              (second >= 13 * kHour && second <= 15 * kHour));
  };
  // In the first Tuesday's session a row is missing; the second Monday is a holiday.
  const Table table = table_at(kHour / 2, 28 * 48 - 3 * 48, [&](std::int64_t t) {
    return open(t) && t != kDay + 10 * kHour && t / kDay != 7;
  });
  const SeriesTransform transform = fitted(table);
  EXPECT_EQ(calendar_text(*transform.record()),
            "Monday to Friday, 09:00 to 11:00 and 13:00 to 15:00");
  const SeriesWindows windows = transform.windows(table);
  EXPECT_EQ(windows.notes()[0],
            "1 times are missing between steps of 30 minutes, the first 1970-01-06 10:00: their "
            "values are the last ones before");
  EXPECT_EQ(next_times(table, transform, 1)[0], "1970-01-30 09:00");
  const SeriesTransform again = SeriesTransform::from_json(transform.to_json());
  EXPECT_EQ(again.to_json(), transform.to_json());
  EXPECT_EQ(steps_of_day(*again.record()), 10);
  EXPECT_EQ(steps_of_week(*again.record()), 50);
}

TEST(Calendar, IsNoneOfRowsThatAreMissingByChance) {
  const auto none = [](const Table& table) { return fitted(table).record()->open.empty(); };
  EXPECT_TRUE(none(table_at(kDay, 60, [](std::int64_t t) { return t / kDay % 11 != 4; })));
  EXPECT_TRUE(none(table_at(kDay, 9, [](std::int64_t t) { return t / kDay != 3; })));
  EXPECT_TRUE(none(table_at(kHour, 24 * 30, [](std::int64_t t) { return t / kHour % 37 != 5; })));
  EXPECT_TRUE(none(table_at(kDay, 60, [](std::int64_t) { return true; })));
  EXPECT_TRUE(none(table_at(kDay, 70, [](std::int64_t t) { return t / kDay % 7 == 0; })));
}

TEST(Calendar, NightsOfAWeekOfMeasurements) {
  const Table table = table_at(kHour, 24 * 6, [](std::int64_t t) { return t % kDay >= 6 * kHour; });
  const SeriesTransform transform = fitted(table);
  EXPECT_EQ(calendar_text(*transform.record()), "Monday to Sunday, 06:00 to 23:00");
  EXPECT_EQ(next_times(table, transform, 1)[0], "1970-01-11 06:00");
}

Table table_of(const std::vector<std::string>& times) {
  std::string text = "t,y,c\n";
  for (std::size_t i = 0; i < times.size(); ++i) {
    text += fmt::format("\"{}\",{}.5,{}\n", times[i], i * i % 5, i % 2 == 0 ? "a" : "b");
  }
  return parse_table(text);
}

TEST(SeriesTimes, OfManyForms) {
  const auto last_step = [](const std::vector<std::string>& times) {
    const Table table = table_of(times);
    const SeriesTransform transform = fitted(table);
    const SeriesWindows windows = transform.windows(table);
    return step_text(*transform.record()) + "|" + windows.place(windows.size() - 1, 0).time;
  };
  EXPECT_EQ(last_step({"1949-04", "1949-03", "1949-02", "1949-01"}), "1 month|1949-04");
  EXPECT_EQ(last_step({"2023Q3", "2023Q4", "2024Q1", "2024Q2"}), "3 months|2024Q2");
  EXPECT_EQ(last_step({"Nov 2023", "Dec 2023", "Jan 2024", "Feb 2024"}), "1 month|Feb 2024");
  EXPECT_EQ(last_step({"30-Dec-99", "31-Dec-99", "01-Jan-00", "02-Jan-00"}), "1 day|02-Jan-00");
  EXPECT_EQ(last_step({"1/31/2024 11:00 PM", "2/1/2024 12:00 AM", "2/1/2024 1:00 AM",
                       "2/1/2024 2:00 AM"}),
            "1 hour|2/1/2024 2:00 AM");
  EXPECT_EQ(last_step({"202311", "202312", "202401", "202402"}), "1 month|202402");
  EXPECT_EQ(last_step({"2020-W52", "2020-W53", "2021-W01", "2021-W02"}), "7 days|2021-W02");
  EXPECT_EQ(last_step({"2024-01-31", "2024-02-29", "2024-03-29", "2024-04-30", "2024-05-31"}),
            "1 month|2024-05-31")
      << "the last business days of months";
  EXPECT_EQ(last_step({"2024-03-01", "2024-04-01", "2024-05-01", "2024-06-03", "2024-07-01"}),
            "1 month|2024-07-01")
      << "the first ones";
}

TEST(SeriesTimes, RowsOfTheSameTime) {
  const Table table = table_of(
      {"2024-01-01", "2024-01-02", "2024-01-02", "2024-01-03", "2024-01-04", "2024-01-05"});
  const std::string message = message_of([&] { fitted(table); });
  EXPECT_NE(message.find("row 3 (line 4), column 't': the time 2024-01-02 occurs twice (also in "
                         "row 2); expected one row for each time; --same-time says"),
            std::string::npos)
      << message;
  const Table tenths = table_of({"2024-01-01 00:00:01.1", "2024-01-01 00:00:01.2"});
  EXPECT_NE(message_of([&] { fitted(tenths); })
                .find("the time 2024-01-01 00:00:01.2 is that of row 1, 2024-01-01 00:00:01.1, in "
                      "whole seconds"),
            std::string::npos);
  const auto second = [&](SameTime same_time) {
    SeriesFit options{
        .targets = {"y"}, .past = 1, .future = 1, .season = 1, .same_time = same_time};
    const FittedSeries made = fit_series(table, options);
    EXPECT_NE(made.notes.back().size(), 0U);
    const SeriesTransform transform =
        SeriesTransform::from_json(SeriesTransform(made.record).to_json());
    return transform.windows(table).actual(0, 0, 0);
  };
  EXPECT_EQ(second(SameTime::first), 1.5);
  EXPECT_EQ(second(SameTime::last), 4.5);
  EXPECT_EQ(second(SameTime::mean), 3);
  EXPECT_EQ(second(SameTime::sum), 6);
}

TEST(SeriesTimes, BetweenStepsMoveToTheNearest) {
  const Table table = table_of({"2024-01-01 00:00:02", "2024-01-01 01:00:01", "2024-01-01 01:59:58",
                                "2024-01-01 03:00:05", "2024-01-01 05:00:00"});
  EXPECT_NE(message_of([&] { fitted(table); }).find("--off-step nearest moves such times"),
            std::string::npos);
  const SeriesTransform transform = fitted(table, {.off_step = OffStep::nearest});
  EXPECT_EQ(step_text(*transform.record()), "1 hour");
  const SeriesWindows windows = transform.windows(table);
  EXPECT_EQ(windows.place(0, 0).time, "2024-01-01 02:00:00");
  EXPECT_EQ(windows.notes()[0].substr(0, 23), "1 times are missing bet");
  // Events by hour.
  const Table events = table_of({"2024-01-01 00:10", "2024-01-01 00:12", "2024-01-01 01:05",
                                 "2024-01-01 02:20", "2024-01-01 02:10", "2024-01-01 03:10"});
  const SeriesTransform hourly =
      fitted(events, {.step = "1h", .same_time = SameTime::sum, .off_step = OffStep::nearest});
  EXPECT_EQ(hourly.windows(events).size(), 2);
  EXPECT_EQ(hourly.windows(events).actual(0, 0, 0), 4.5 + 1.5);
  EXPECT_NE(message_of([&] { fitted(events, {.step = "1 fortnight"}); }).find("e.g. 15min"),
            std::string::npos);
}

// What version 2 wrote.
TEST(SeriesTransform, ReadsDatesOfOlderFiles) {
  const Table table = table_of({"01/02/2024", "02/02/2024", "03/02/2024", "04/02/2024"});
  std::string text = fitted(table).to_json();
  const auto replace = [&](const std::string& from, const std::string& to) {
    const std::size_t at = text.find(from);
    ASSERT_NE(at, std::string::npos) << from << " in " << text;
    text.replace(at, from.size(), to);
  };
  replace("\"form\":\"%d/%m/%Y\"", "\"separator\":\"/\",\"times\":false");
  replace("\"version\":3", "\"version\":2");
  replace("\"first_year\":1950,", "");
  replace("\"open\":[],", "");
  const SeriesTransform older = SeriesTransform::from_json(text);
  EXPECT_EQ(older.windows(table).place(0, 0).time, "03/02/2024");
}

}  // namespace
}  // namespace linnet::test
