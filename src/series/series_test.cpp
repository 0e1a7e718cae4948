// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/series_transform.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "data_sets.h"
#include "message_of.h"
#include "series/fit_series.h"
#include "series/series_record.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;
using linnet::testing::vector_of;
using nlohmann::json;

SeriesTransform fitted(const Table& table, const SeriesFit& options) {
  return SeriesTransform(fit_series(table, options).record);
}

std::vector<float> record_of(const Column& column, std::int64_t index) {
  std::vector<float> values(static_cast<std::size_t>(column.source->record().elements()));
  column.source->read(index, std::as_writable_bytes(std::span(values)));
  return values;
}

/// Two series of three channels; some values are missing, rows are not sorted by series.
std::string two_series(int steps) {
  std::string text = "shop,day,holiday,sales,price\n";
  for (int i = 0; i < steps; ++i) {
    for (const char* shop : {"north", "south"}) {
      const double sales = 10 * std::sin(0.7 * i) + (shop[0] == 'n' ? 50 : 5);
      text += fmt::format("{},2024-01-{:02},{},{},{:.3f}\n", shop, i + 1, i % 7 == 6 ? "yes" : "no",
                          i == 9 ? std::string("NA") : fmt::format("{:.4f}", sales),
                          2 + std::cos(0.3 * i));
    }
  }
  return text;
}

TEST(SeriesTimes, ARowOfTotalsIsRefused) {
  std::string text = "date,y\n";
  for (int i = 1; i < 31; ++i) text += fmt::format("2024-01-{:02},{}\n", i, i * 7 % 11);
  const SeriesFit options{.targets = {"y"}, .past = 5, .future = 2};
  EXPECT_EQ(fit_series(parse_table(text), options).record->time, "date");
  const std::string error =
      message_of([&] { fit_series(parse_table(text + "Summe,150\n"), options); });
  EXPECT_TRUE(error.starts_with("a series has no totals: the last row (line 32) of ")) << error;
  EXPECT_TRUE(error.ends_with("the values of 'date' are read as texts; remove it from the file"));
}

TEST(SeriesTimes, OfTwoColumnsAreJoined) {
  const auto rows = [](const char* third, int days) {
    std::string text = "shop,date,time,y\n";
    for (int i = 0; i < 24 * days; ++i) {
      for (const char* shop : {"a", "b"}) {
        const std::string time = fmt::format(fmt::runtime(third), i % 24);
        text += fmt::format("{},{:02}.03.2024,{},{}\n", shop, 1 + i / 24, time, i * 7 % 11);
      }
    }
    return parse_table(text);
  };
  const SeriesFit options{.targets = {"y"}, .entity = "shop", .past = 5, .future = 2};
  const Table table = rows("{:02}:00", 9);
  const FittedSeries made = fit_series(table, options);
  EXPECT_EQ(made.record->time_of_day, "time");
  EXPECT_EQ(made.record->step, 3600);
  EXPECT_EQ(made.notes[0], "the time is 'date' with the times of day of 'time'");
  const SeriesTransform again = SeriesTransform::from_json(SeriesTransform(made.record).to_json());
  const SeriesWindows windows = again.windows(table);
  EXPECT_EQ(windows.size(), 2 * (9 * 24 - 6));
  EXPECT_EQ(windows.place(0, 1).time, "01.03.2024 06:00");
  EXPECT_EQ(windows.actual(0, 1, 0), 6 * 7 % 11);
  // The column is not an input too.
  EXPECT_EQ(std::ranges::count(again.channels(), "time"), 0);
  Table headless = parse_table(
      "a,01.03.2024,00:00,1\na,01.03.2024,01:00,2\na,01.03.2024,02:00,1\n"
      "a,01.03.2024,03:00,2\na,01.03.2024,04:00,3\na,01.03.2024,05:00,2\n"
      "a,01.03.2024,06:00,4\n");
  EXPECT_FALSE(headless.has_header());
  EXPECT_EQ(again.windows(headless).size(), 1);
  EXPECT_EQ(message_of([&] { again.windows(parse_table("shop,date,y\na,01.03.2024,1\n")); }),
            "'table' has no column 'time', from which the model learned");
  // One row a day: the times are something else, hours.
  std::string daily = "date,sunrise,y\n";
  for (int i = 1; i < 29; ++i) {
    daily += fmt::format("2024-02-{:02},07:{:02},{}\n", i, 59 - i, i % 5);
  }
  const FittedSeries days =
      fit_series(parse_table(daily), {.targets = {"y"}, .past = 3, .future = 1});
  EXPECT_EQ(days.record->time_of_day, "");
  EXPECT_EQ(days.record->inputs[1].column, "sunrise");
  EXPECT_EQ(days.record->inputs[1].kind, SeriesColumnKind::number);
  // --same-time sum wants the days.
  SeriesFit sums = options;
  sums.same_time = SameTime::sum;
  EXPECT_EQ(fit_series(table, sums).record->step, kDay);
}

TEST(SeriesWindows, EqualADoubleLoop) {
  const int steps = 24;
  const std::int64_t past = 5;
  const std::int64_t future = 3;
  const Table table = parse_table(two_series(steps));
  const SeriesTransform transform = fitted(table, {.targets = {"sales"},
                                                   .entity = "shop",
                                                   .past = past,
                                                   .future = future,
                                                   .known = {"holiday"},
                                                   .season = 7});
  EXPECT_EQ(transform.channels(),
            (std::vector<std::string>{"sales", "sales missing", "holiday", "price", "year sine",
                                      "year cosine", "week sine", "week cosine"}));
  EXPECT_EQ(transform.known_channels(),
            (std::vector<std::string>{"holiday", "year sine", "year cosine", "week sine",
                                      "week cosine"}));
  // Means and stds over all rows, since nothing is held out.
  double mean = 0;
  double square = 0;
  double price = 0;
  double price_square = 0;
  int count = 0;
  for (std::int64_t row = 0; row < table.rows(); ++row) {
    price += table.number(row, 4);
    price_square += table.number(row, 4) * table.number(row, 4);
    if (table.missing(row, 3)) continue;
    mean += table.number(row, 3);
    square += table.number(row, 3) * table.number(row, 3);
    ++count;
  }
  mean /= count;
  const double std = std::sqrt(square / count - mean * mean);
  price /= 2.0 * steps;
  const double price_std = std::sqrt(price_square / (2.0 * steps) - price * price);

  const Dataset data = transform.windows(table).data();
  std::int64_t window = 0;
  for (int shop = 0; shop < 2; ++shop) {
    for (std::int64_t start = 0; start + past + future <= steps; ++start) {
      bool complete = true;
      for (std::int64_t i = 0; i < future; ++i) complete = complete && start + past + i != 9;
      if (!complete) continue;
      const std::vector<float> x = record_of(data.column("past"), window);
      const std::vector<float> known = record_of(data.column("future"), window);
      const std::vector<float> y = record_of(data.column("sales"), window);
      ASSERT_EQ(x.size(), 8U * past);
      for (std::int64_t i = 0; i < past + future; ++i) {
        const std::int64_t step = start + i;
        const std::int64_t row = 2 * step + shop;
        const bool missing = table.missing(row, 3);
        const double sales = table.number(missing ? row - 2 : row, 3);
        const float holiday = step % 7 == 6 ? 1 : 0;
        const double day = static_cast<double>(step) / 365.2425 * 6.283185307179586;
        if (i < past) {
          const float* channels = x.data() + 8 * i;
          EXPECT_NEAR(channels[0], (sales - mean) / std, 1e-4) << window << ' ' << i;
          EXPECT_EQ(channels[1], missing ? 1 : 0);
          EXPECT_EQ(channels[2], holiday);
          EXPECT_NEAR(channels[3], (table.number(row, 4) - price) / price_std, 1e-4);
          EXPECT_NEAR(channels[4], std::sin(day), 1e-6);
          EXPECT_NEAR(channels[5], std::cos(day), 1e-6);
        } else {
          EXPECT_EQ(known[static_cast<std::size_t>(5 * (i - past))], holiday);
          EXPECT_NEAR(known[static_cast<std::size_t>(5 * (i - past) + 1)], std::sin(day), 1e-6);
          EXPECT_EQ(y[static_cast<std::size_t>(i - past)], static_cast<float>(sales));
        }
      }
      EXPECT_EQ(data.column("entity").data.as<std::int32_t>()[static_cast<std::size_t>(window)],
                shop + 1);
      ++window;
    }
  }
  EXPECT_EQ(data.size(), window);
  EXPECT_EQ(window, 2 * (17 - 3));
}

TEST(SeriesWindows, SimpleForecastsByHand) {
  std::string text = "y\n";
  for (int i = 0; i < 12; ++i) text += fmt::format("{}\n", i * i);
  const Table table = parse_table(text);
  const SeriesTransform transform =
      fitted(table, {.targets = {"y"}, .past = 4, .future = 3, .season = 2});
  const SeriesWindows windows = transform.windows(table);
  ASSERT_EQ(windows.size(), 6);
  EXPECT_EQ(windows.actual(1, 0, 0), 25);
  EXPECT_EQ(windows.persistence(1, 0), 16);
  // Steps 5, 6 and 7 repeat the season of steps 3 and 4.
  EXPECT_EQ(windows.seasonal_naive(1, 0, 0), 9);
  EXPECT_EQ(windows.seasonal_naive(1, 1, 0), 16);
  EXPECT_EQ(windows.seasonal_naive(1, 2, 0), 9);
  EXPECT_EQ(windows.place(1, 0).time, "5");
  const SeriesWindows long_season =
      fitted(table, {.targets = {"y"}, .past = 4, .future = 3, .season = 5}).windows(table);
  EXPECT_TRUE(std::isnan(long_season.seasonal_naive(0, 0, 0)));
  EXPECT_EQ(long_season.seasonal_naive(1, 0, 0), 0);
}

TEST(SeriesWindows, NeverCrossTwoSeries) {
  std::string text = "s,y\n";
  for (int i = 0; i < 8; ++i) text += fmt::format("a,{}\n", 100 + i);
  for (int i = 0; i < 6; ++i) text += fmt::format("b,{}\n", 200 + i);
  const Table table = parse_table(text);
  const SeriesWindows windows =
      fitted(table, {.targets = {"y"}, .entity = "s", .past = 3, .future = 2, .season = 1})
          .windows(table);
  EXPECT_EQ(windows.size(), (8 - 4) + (6 - 4));
  for (std::int64_t i = 0; i < windows.size(); ++i) {
    const double last = windows.persistence(i, 0);
    EXPECT_EQ(windows.actual(i, 0, 0), last + 1);
    EXPECT_EQ(windows.actual(i, 1, 0), last + 2);
    EXPECT_EQ(windows.place(i, 0).entity, last < 200 ? "a" : "b");
  }
}

TEST(SeriesTimes, GapsAndOrder) {
  const SeriesFit options{.targets = {"y"}, .past = 2, .future = 1, .season = 1};
  const Table table =
      parse_table("d,y\n2024-03-02,2\n2024-03-01,1.5\n2024-03-03,3\n2024-03-05,5\n2024-03-06,6\n");
  const SeriesTransform transform = fitted(table, options);
  const SeriesWindows windows = transform.windows(table);
  EXPECT_EQ(windows.notes()[0], "the rows are sorted by time");
  EXPECT_EQ(
      windows.notes()[1],
      "1 times are missing between steps of 1 day, the first 2024-03-04: their values are the "
      "last ones before");
  ASSERT_EQ(windows.size(), 3);  // the forecasts of days 3, 5 and 6
  EXPECT_EQ(windows.actual(1, 0, 0), 5);
  EXPECT_EQ(windows.persistence(1, 0), 3);
  EXPECT_EQ(windows.place(1, 0).time, "2024-03-05");
  const auto refusal = [&](const char* text) {
    return message_of([&] { fitted(parse_table(text), options); });
  };
  EXPECT_EQ(
      refusal("d,y\n2024-03-01,1\n2024-03-02,2\n2024-03-02,3\n2024-03-04,4\n"),
      "'table', row 3 (line 4), column 'd': the time 2024-03-02 occurs twice (also in row 2); "
      "expected one row for each time; --same-time says what becomes of them, --entity names a "
      "column that tells several series apart");
  EXPECT_EQ(refusal("d,y\n2024-03-01 00:00,1\n2024-03-01 01:00,2\n2024-03-01 02:00,3\n2024-03-01 "
                    "03:20,4\n"),
            "'table', row 4 (line 5), column 'd': the time 2024-03-01 03:20 lies between two steps "
            "of 1 hour, counted from 2024-03-01 00:00; expected equal steps; --off-step nearest "
            "moves such times, --step gives another step, and with --time none rows follow each "
            "other as they stand");
  EXPECT_EQ(
      refusal("d,y\n2024-03-01,1\n2024-03-02,2\n2024-03-03,3\n2034-03-04,4\n"),
      "'table' lacks more times than it has at steps of 1 day, the first 2024-03-04; expected "
      "equal steps; --step gives another step, and with --time none rows follow each other as "
      "they stand");
}

TEST(SeriesTimes, MonthsAndEightDigits) {
  std::string months = "month,y\n";
  for (int i = 0; i < 24; ++i)
    months += fmt::format("{}-{:02}-01,{}\n", 2020 + i / 12, i % 12 + 1, i * i % 7);
  const Table table = parse_table(months);
  const SeriesTransform transform =
      fitted(table, {.targets = {"y"}, .past = 3, .future = 2, .season = 12});
  EXPECT_EQ(transform.channels(), (std::vector<std::string>{"y", "year sine", "year cosine"}));
  const SeriesWindows windows = transform.windows(table);
  EXPECT_EQ(windows.size(), 20);
  EXPECT_EQ(windows.place(0, 0).time, "2020-04-01");
  EXPECT_EQ(windows.place(19, 1).time, "2021-12-01");
  const Table weeks = parse_table("t,y\n20240228,1.5\n20240306,2.5\n20240313,3.5\n20240320,1\n");
  const SeriesWindows weekly =
      fitted(weeks, {.targets = {"y"}, .past = 2, .future = 1, .season = 1}).windows(weeks);
  EXPECT_EQ(weekly.place(1, 0).time, "20240320");
}

TEST(SeriesTimes, EndsOfMonths) {
  const auto times_of = [](const std::vector<std::string>& days) {
    std::string text = "d,y\n";
    for (std::size_t i = 0; i < days.size(); ++i) text += fmt::format("{},{}.5\n", days[i], i * i);
    const Table table = parse_table(text);
    const SeriesTransform transform =
        fitted(table, {.targets = {"y"}, .past = 1, .future = 1, .season = 1});
    // The model goes on from any month.
    const Table later = parse_table("d,y\n2023-02-28,1\n2023-03-31,2\n2023-04-30,3\n");
    const SeriesWindows after = SeriesTransform::from_json(transform.to_json()).windows(later);
    return step_text(*transform.record()) + " " + transform.windows(table).place(0, 0).time + " " +
           after.place(1, 0).time;
  };
  EXPECT_EQ(times_of({"2024-01-31", "2024-02-29", "2024-03-31", "2024-04-30", "2024-05-31"}),
            "1 month 2024-02-29 2023-04-30");
  EXPECT_EQ(times_of({"2023-02-28", "2023-03-31", "2023-04-30", "2023-05-31"}),
            "1 month 2023-03-31 2023-04-30");
  // A month that is missing is a row without values.
  const Table gap = parse_table("d,y\n2023-01-30,1\n2023-02-28,2\n2023-04-30,3\n2023-05-30,4\n");
  const SeriesTransform monthly =
      fitted(gap, {.targets = {"y"}, .past = 1, .future = 1, .season = 1});
  EXPECT_EQ(step_text(*monthly.record()), "1 month");
  EXPECT_EQ(monthly.record()->month_day, 30);
  // Neither ends of months nor a day of them.
  const Table neither =
      parse_table("d,y\n2023-01-31,1\n2023-02-28,2\n2023-03-30,3\n2023-04-30,4\n");
  EXPECT_NE(message_of([&] { fitted(neither, {.targets = {"y"}}); }), "");
  // An older file does not know the day.
  json first = json::parse(monthly.to_json());
  first["version"] = 1;
  first["separator"] = "-";
  first["times"] = false;
  first.erase("month_day");
  EXPECT_EQ(SeriesTransform::from_json(first.dump()).record()->month_day, 0);
}

TEST(SeriesTransform, TypesAreThoseOfTheTrainingRows) {
  std::string text = "d,x,y\n";
  for (int i = 0; i < 40; ++i) {
    text += fmt::format("2024-{:02}-{:02},{},{}\n", i / 28 + 1, i % 28 + 1, i * 7 % 11, i * i % 13);
  }
  const SeriesFit options{
      .targets = {"y"}, .time = "none", .past = 3, .future = 1, .validation = 0.1, .test = 0.2};
  const SeriesTransform plain = fitted(parse_table(text), options);
  EXPECT_EQ(plain.channels(), (std::vector<std::string>{"y", "x"}));
  const std::size_t last = text.rfind(",", text.rfind(",") - 1);
  const std::string stray = text.substr(0, last) + ",broken" + text.substr(text.rfind(","));
  const Table broken = parse_table(stray);
  const SeriesTransform same = fitted(broken, options);
  EXPECT_EQ(same.to_json(), plain.to_json());
  EXPECT_EQ(message_of([&] { same.windows(broken); }),
            "'table', row 40 (line 41), column 'x': expected a finite number; got 'broken'");
  const Table given = parse_table(text, "table", {.types = {{"x", ColumnType::category}}});
  EXPECT_EQ(fitted(given, options).channels().size(), 13U) << "y, eleven values, the unknown";
}

TEST(Season, IsFoundAndTakenFromTheCalendar) {
  std::vector<double> week;
  std::vector<double> none;
  for (int i = 0; i < 400; ++i) {
    none.push_back(static_cast<double>(mix_bits(static_cast<std::uint64_t>(i)) % 1000) / 500 - 1);
    week.push_back(0.1 * i + 3 * std::cos(2 * 3.141592653589793 * i / 7) + none.back());
  }
  EXPECT_EQ(find_season(std::vector<std::vector<double>>{week}), 7);
  EXPECT_EQ(find_season(std::vector<std::vector<double>>{none}), 1);
  std::vector<double> wave;  // neighbours are more alike than seasons
  for (int i = 0; i < 600; ++i) {
    wave.push_back(std::cos(2 * 3.141592653589793 * i / 60) + 0.2 * none[i % none.size()]);
  }
  EXPECT_NEAR(static_cast<double>(find_season(std::vector<std::vector<double>>{wave})), 60, 2);
  std::vector<double> years;  // every fourth is a little more alike
  for (int i = 0; i < 1200; ++i) {
    years.push_back(std::cos(2 * 3.141592653589793 * i / 12) +
                    0.4 * std::cos(2 * 3.141592653589793 * i / 48) + 0.3 * none[i % none.size()]);
  }
  EXPECT_EQ(find_season(std::vector<std::vector<double>>{years}), 12);
  SeriesRecord days{.time_kind = TimeKind::date, .step = 86400};
  EXPECT_EQ(calendar_season(351, days), 365);
  EXPECT_EQ(calendar_season(30, days), 30);
  days.months = true;
  days.step = 1;
  EXPECT_EQ(calendar_season(12, days), 12);
}

TEST(SeriesTransform, IsTheSameFromJsonAndRefusesDamage) {
  const Table table = parse_table(two_series(24));
  const SeriesTransform transform = fitted(
      table,
      {.targets = {"sales"}, .entity = "shop", .past = 5, .future = 3, .known = {"holiday"}});
  const std::string text = transform.to_json();
  EXPECT_EQ(SeriesTransform::from_json(text).to_json(), text);
  const auto refusal = [&](const char* key, const json& value) {
    json changed = json::parse(text);
    changed[json::json_pointer(key)] = value;
    return message_of([&] { SeriesTransform::from_json(changed.dump()); });
  };
  const std::string what = "its series transform";
  EXPECT_EQ(refusal("/past", -1), what + ": 'past' is a whole number from 1 to 1048576; got -1");
  EXPECT_EQ(refusal("/future", 0), what + ": 'future' is a whole number from 1 to 1048576; got 0");
  EXPECT_EQ(refusal("/past", std::uint64_t{1} << 63),
            what + ": 'past' is a whole number from 1 to 1048576; got 9223372036854775808");
  EXPECT_EQ(refusal("/season", 1.5),
            what + ": 'season' is a whole number from 1 to 1048576; got 1.5");
  EXPECT_EQ(refusal("/step", 0),
            what + ": 'step' is a whole number from 1 to 1099511627776; got 0");
  EXPECT_EQ(refusal("/time_range", {0, 1e300}),
            what + ": 'time_range' holds times from -2^62 to 2^62; got 1e+300");
  EXPECT_EQ(refusal("/inputs/0/std", 0.0).substr(0, 49), what + ": 'std' is a finite number of");
  EXPECT_EQ(refusal("/inputs/0/mean", "x").substr(0, 30), what + ": 'mean' i");
  EXPECT_EQ(refusal("/inputs/0/column", "nowhere"), what + " has no column 'nowhere'");
  EXPECT_EQ(refusal("/inputs/0/column", "price"), what + " reads the column 'price' twice");
  EXPECT_EQ(refusal("/inputs/0/known", true),
            what + ": the target 'sales' is a number that is not known ahead");
  EXPECT_EQ(refusal("/targets", json::array()), what + " has 0 targets of 3 columns");
  EXPECT_EQ(refusal("/time", ""), what + ": a column of the time has a kind, and no other has");
  EXPECT_EQ(refusal("/form", std::string(65, '-')), what + ": 'form' has more than 64 bytes");
  for (const char* open :
       {"[[5,4]]", "[[0,604800]]", "[[0,1],[1,2]]", "[[-1,2]]", "[[0.5,2]]", "[[0]]", "[\"x\"]"}) {
    EXPECT_EQ(refusal("/open", json::parse(open)),
              what + ": 'open' holds parts of a week, in order, of steps of at most a day")
        << open;
  }
  json older = json::parse(text);
  older["version"] = 2;
  older["separator"] = "%";
  EXPECT_EQ(message_of([&] { SeriesTransform::from_json(older.dump()); }),
            what + ": 'separator' is '-', '/' or '.'; got '%'");
  EXPECT_EQ(refusal("/order", "x"), what + ": 'order' is none of its kinds: 'x'");
  EXPECT_EQ(refusal("/entities", json::array({"a", "a"})), what + ": expected series that differ");
  EXPECT_EQ(refusal("/version", 4),
            what + " is of another version than 1 to 3; a newer Linnet wrote it");
  json large = json::parse(text);
  large["past"] = large["future"] = 1 << 20;
  for (int i = 0; i < 32; ++i) large["inputs"][1]["categories"].push_back(fmt::format("{}", i));
  large["inputs"][1]["kind"] = "category";
  EXPECT_EQ(message_of([&] { SeriesTransform::from_json(large.dump()); }),
            what +
                ": a window of 1048576 + 1048576 steps of 42 channels has more than 67108864 "
                "numbers");
  EXPECT_EQ(message_of([&] { SeriesTransform::from_json("[]"); }), what + " is damaged");
}

}  // namespace
}  // namespace linnet::test
