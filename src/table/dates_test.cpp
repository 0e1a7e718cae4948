// SPDX-License-Identifier: Apache-2.0
#include "table/dates.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/tables.h>

#include "table/contents.h"

namespace linnet::test {
namespace {

/// The text in the form that it has, after a day or an hour more.
std::string next(std::string_view text, DateOrder order = DateOrder::day_first) {
  std::string form;
  const auto date = date_of(text, {order}, &form);
  if (!date) return "none";
  const auto seconds = static_cast<std::int64_t>(date->seconds);
  return date_text(form, date->day + 1, seconds) + "|" +
         date_text("%Y-%m-%d %H:%M:%S", date->day, seconds);
}

TEST(Dates, AreReadAndWrittenInTheirForm) {
  const std::string midnight = " 00:00:00";
  for (const auto& [text, expected] : std::vector<std::pair<const char*, std::string>>{
           {"2024-03-31", "2024-04-01|2024-03-31" + midnight},
           {"2024.03.31", "2024.04.01|2024-03-31" + midnight},
           {"2024-03", "2024-03|2024-03-01" + midnight},
           {"1949-01", "1949-01|1949-01-01" + midnight},
           {"03/2024", "03/2024|2024-03-01" + midnight},
           {"2024M03", "2024M03|2024-03-01" + midnight},
           {"2024Q2", "2024Q2|2024-04-01" + midnight},
           {"2024-Q2", "2024-Q2|2024-04-01" + midnight},
           {"Q4 2024", "Q4 2024|2024-10-01" + midnight},
           {"1Q24", "1Q24|2024-01-01" + midnight},
           {"2024-W05", "2024-W05|2024-01-29" + midnight},
           {"2020-W53-7", "2021-W01-1|2021-01-03" + midnight},
           {"31-Mar-2024", "01-Apr-2024|2024-03-31" + midnight},
           {"31-MAR-24", "01-APR-24|2024-03-31" + midnight},
           {"31MAR2024", "01APR2024|2024-03-31" + midnight},
           {"1 March 2024", "2 March 2024|2024-03-01" + midnight},
           {"31. March 2024", "01. April 2024|2024-03-31" + midnight},
           {"March 31, 2024", "April 01, 2024|2024-03-31" + midnight},
           {"Mar 2024", "Mar 2024|2024-03-01" + midnight},
           {"Mar-24", "Mar-24|2024-03-01" + midnight},
           {"2024 Sept", "2024 Sep|2024-09-01" + midnight},
           {"Sunday, March 31, 2024", "Monday, April 01, 2024|2024-03-31" + midnight},
           {"31/03/24", "01/04/24|2024-03-31" + midnight},
           {"1/2/2024 3:05 PM", "2/2/2024 3:05 PM|2024-02-01 15:05:00"},
           {"1/2/2024 12:00:07 am", "2/2/2024 12:00:07 am|2024-02-01 00:00:07"},
           {"2024-03-31T14", "2024-04-01T14|2024-03-31 14:00:00"},
           {"2024-03-31 24:00", "2024-04-02 00:00|2024-04-01 00:00:00"},
           {"31/Mar/2024:14:05:30 +0000", "01/Apr/2024:14:05:30Z|2024-03-31 14:05:30"},
           {"Sun, 31 Mar 2024 14:05:30 GMT", "Mon, 01 Apr 2024 14:05:30 GMT|2024-03-31 14:05:30"},
       }) {
    EXPECT_EQ(next(text), expected) << text;
  }
  EXPECT_EQ(next("24-03-31", DateOrder::year_first), "24-04-01|2024-03-31" + midnight);
  EXPECT_EQ(next("3/31/2024", DateOrder::month_first), "4/01/2024|2024-03-31" + midnight);
  for (const char* text :
       {"2024-13", "2024Q5", "2023-W53", "2024-W00", "March", "Mayor 2024", "31-Mar-123", "1/4",
        "2024-03 14:05", "2024-03-31 13:05 PM", "2024-03-31 24:01", "2024-03-31 1", "30/02/2024",
        "12 31 2024", "Q0 2024", "2024-", "Mar ", "Monday", "2024-03-31x"}) {
    EXPECT_EQ(next(text), "none") << text;
  }
}

TEST(Dates, OfEightAndSixDigits) {
  EXPECT_EQ(compact_date_of("19700102")->day, 1);
  EXPECT_EQ(compact_date_of("197002")->day, 31);
  EXPECT_FALSE(compact_date_of("197013"));
  EXPECT_FALSE(compact_date_of("123401"));
}

TEST(Dates, CommonForms) {
  EXPECT_EQ(common_form("%d/%m/%Y", "%e/%m/%Y"), "%e/%m/%Y");
  EXPECT_EQ(common_form("%b %Y", "%B %Y"), "%B %Y") << "May is March's May";
  EXPECT_EQ(common_form("%d/%m/%Y", "%d.%m.%Y"), "%d/%m/%Y");
}

DateReading reading_of(const std::vector<std::string>& texts, std::string* note = nullptr) {
  std::string all = "d,y\n";
  for (std::size_t i = 0; i < texts.size(); ++i) all += fmt::format("\"{}\",{}\n", texts[i], i % 3);
  const Table table = parse_table(all, "t");
  EXPECT_EQ(table.columns()[0].type, ColumnType::date_time) << texts[0];
  if (note != nullptr) *note = table.notes().empty() ? "" : table.notes()[0];
  return table.contents()->dates[0];
}

TEST(Dates, OrdersThatAreBothPossible) {
  std::string note;
  std::vector<std::string> days;
  for (int i = 1; i <= 12; ++i) days.push_back(fmt::format("{}/02/2024", i));
  EXPECT_EQ(reading_of(days).order, DateOrder::day_first) << "days, not months";
  std::vector<std::string> months;
  for (int i = 0; i < 24; ++i) months.push_back(fmt::format("{}/1/{}", i % 12 + 1, 2020 + i / 12));
  EXPECT_EQ(reading_of(months, &note).order, DateOrder::month_first) << "months, not days";
  EXPECT_EQ(note,
            "the dates of 'd' are read as month/day/year (--date-order reads them otherwise)");
  EXPECT_EQ(reading_of({"1/2/2024 3:05 PM", "5/7/2024 1:00 AM", "2/2/2024 9:05 PM"}).order,
            DateOrder::month_first);
  EXPECT_EQ(reading_of({"1/2/2024", "5/7/2024", "2/3/2024"}).order, DateOrder::day_first);
  EXPECT_EQ(reading_of({"24-01-05", "24-01-06", "24-01-07", "24-01-08", "24-01-09"}).order,
            DateOrder::year_first);
}

TEST(Dates, YearsOfTwoDigitsLieTogether) {
  std::string note;
  std::vector<std::string> texts;
  for (int i = 0; i < 144; ++i) {
    texts.push_back(fmt::format("{:02}.{:02}.{:02}", 1, i % 12 + 1, 49 + i / 12));
  }
  EXPECT_EQ(reading_of(texts, &note).first_year, 1905) << "1949 to 1960, 44 years before";
  texts.clear();
  for (int i = 0; i < 40; ++i) texts.push_back(fmt::format("Jan-{:02}", (85 + i) % 100));
  const DateReading reading = reading_of(texts, &note);
  EXPECT_EQ(date_text("%Y", date_of("Jan-85", reading)->day, 0), "1985");
  EXPECT_EQ(date_text("%Y", date_of("Jan-24", reading)->day, 0), "2024");
  EXPECT_EQ(note, "the years of 'd', of two digits, are read as 1955 to 2054");
}

TEST(Dates, OneThatIsNoneIsNamed) {
  std::string text = "d,y\n";
  for (int i = 0; i < 100; ++i) {
    text += i == 3 ? std::string("0000-00-00,1\n")
                   : fmt::format("2024-{:02}-{:02},{}\n", i / 28 + 1, i % 28 + 1, i % 3);
  }
  const Table table = parse_table(text, "t");
  EXPECT_EQ(table.notes(),
            std::vector<std::string>{"the values of 'd' are read as texts, since line 5 holds "
                                     "'0000-00-00': 99 of its 100 values are dates "
                                     "(--missing-text reads a text as a missing value)"});
  const Table given = parse_table(text, "t", {.missing = {"0000-00-00"}});
  EXPECT_EQ(given.columns()[0].type, ColumnType::date_time);
  EXPECT_EQ(given.columns()[0].missing, 1);
}

}  // namespace
}  // namespace linnet::test
