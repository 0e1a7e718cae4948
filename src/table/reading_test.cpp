// SPDX-License-Identifier: Apache-2.0
// Files as other programs write them.
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/tables.h>

#include "message_of.h"
#include "table/contents.h"
#include "table/given_reading.h"
#include "temporary_folder.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;
using linnet::testing::TemporaryFolder;
using linnet::testing::write_quickly;

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const TableColumn& column : table.columns()) names.push_back(column.name);
  return names;
}
using Names = std::vector<std::string>;

/// ASCII in UTF-16.
std::string utf16(std::string_view text, bool little) {
  std::string wide;
  for (const char c : text) wide += little ? std::string{c, '\0'} : std::string{'\0', c};
  return wide;
}

class Reading : public ::testing::Test {
 protected:
  Table read(const std::string& bytes, const TableOptions& options = {}) {
    write_quickly(folder_ / "t.csv", bytes);
    return read_table(folder_ / "t.csv", options);
  }
  std::string error(const std::string& bytes, const TableOptions& options = {}) {
    const std::string message = message_of([&] { read(bytes, options); });
    return message.substr(message.rfind('/') + 1);
  }
  const TemporaryFolder folder_;
};

TEST_F(Reading, EncodingsAreFound) {
  const std::string text = "name,x\nabc,1\ndef,2\n";
  for (const bool little : {true, false}) {
    for (const std::string mark : {"", little ? "\xFF\xFE" : "\xFE\xFF"}) {
      const Table table = read(mark + utf16(text, little));
      EXPECT_EQ(names_of(table), (Names{"name", "x"}));
      EXPECT_EQ(table.text(1, 0), "def");
      ASSERT_EQ(table.notes().size(), 1U);
      EXPECT_NE(table.notes()[0].find(little ? "read as UTF-16LE" : "read as UTF-16BE"),
                std::string::npos);
    }
  }
  const Table western = read("place,x\nM\xFCnchen,1\n\x80 5,2\n");
  EXPECT_EQ(western.text(0, 0), "M\xC3\xBCnchen");
  EXPECT_EQ(western.text(1, 0), "\xE2\x82\xAC 5");
  EXPECT_NE(western.notes()[0].find("read as WINDOWS-1252 (--encoding"), std::string::npos);
  EXPECT_TRUE(read("place,x\nM\xC3\xBCnchen,1\nb,2\n").notes().empty());
}

TEST_F(Reading, EncodingsThatAreNotFoundAreGiven) {
  const std::string cyrillic = "a,x\n\xEF\xF0\xE8\xE2\xE5\xF2,1\n\xEC\xE8\xF0,2\n";
  EXPECT_EQ(error(cyrillic),
            "t.csv' is not UTF-8, and its encoding was not recognised; --encoding says it, e.g. "
            "cp1251, gbk or shift_jis");
  // Shift JIS, whose bytes Windows-1252 has too.
  EXPECT_NE(error("\x96\xBC\x91O,n\n\x93\x8C\x8B\x9E,1\n\x93\x8C\x8B\x9E,2\n"), "");
  const Table table = read(cyrillic, {.encoding = "cp1251"});
  EXPECT_EQ(table.text(1, 0), "\xD0\xBC\xD0\xB8\xD1\x80");
  EXPECT_EQ(table.contents()->given.text(), "encoding=cp1251");
  EXPECT_TRUE(error(cyrillic, {.encoding = "klingon"}).starts_with("the encoding 'klingon'"));
  EXPECT_EQ(error("a,x\nb,1\n\x81,2\n", {.encoding = "cp1252"}),
            "t.csv' is not cp1252; --encoding says another one, e.g. cp1251, gbk or shift_jis");
}

TEST_F(Reading, FieldsBetweenBlanks) {
  const Table table = read("  x   y  name\n 1.5  2 \"a b\"\n 2.5\t3 c  \n10    4 d\n");
  EXPECT_EQ(table.separator(), ' ');
  EXPECT_EQ(names_of(table), (Names{"x", "y", "name"}));
  EXPECT_EQ(table.number(2, 0), 10);
  EXPECT_EQ(table.text(0, 2), "a b");
  // A tab before the last column alone, as in auto-mpg.data of UCI.
  const Table cars = read(
      "18.0 8 307.0\t\"chevrolet malibu\"\n15.0 8 350.0\t\"buick\"\n"
      "17.0 6 302.0\t\"ford torino\"\n");
  EXPECT_EQ(cars.columns().size(), 4U);
  EXPECT_EQ(cars.text(2, 3), "ford torino");
  // Sentences are not columns.
  EXPECT_EQ(read("text\nthis is one\nthat is two\nhere be three\n").columns().size(), 1U);
  EXPECT_EQ(read("a b,c\n1 2,3\n4 5,6\n7 8,9\n").columns().size(), 2U);
  EXPECT_EQ(read("1 2\n3 4\n", {.separator = ' '}).columns().size(), 2U);
}

TEST_F(Reading, Comments) {
  const Table table = read("# made by a sensor\n#\na,b\n1,2\n# paused\n3,4\n");
  EXPECT_EQ(names_of(table), (Names{"a", "b"}));
  EXPECT_EQ(table.rows(), 2);
  EXPECT_EQ(table.place(1, 0), fmt::format("'{}', row 2 (line 6), column 'a'", table.name()));
  EXPECT_NE(table.notes()[0].find("lines that begin with '#' are comments: 3"), std::string::npos);
  // The last comment names the columns.
  EXPECT_EQ(names_of(read("## version 1\n#time,value\n1,2.5\n2,3.5\n")), (Names{"time", "value"}));
  EXPECT_EQ(names_of(read("# x y\n1 2.5\n2 3.5\n4 5.5\n")), (Names{"x", "y"}));
  // Not at the beginning: values.
  EXPECT_EQ(read("colour,x\n#ff0000,1\n#00ff00,2\n").rows(), 2);
  EXPECT_EQ(read("#id,x\n#1,1\n#2,2\n").rows(), 2) << "all lines begin so";
  EXPECT_EQ(read("% a\nx,y\n1,2\n3,4\n", {.comment = '%'}).rows(), 2);
  EXPECT_EQ(read("#,y\n1,2\n3,4\n", {.comment = '\0'}).columns()[0].name, "#");
}

TEST_F(Reading, SeparatorsAtTheEnd) {
  for (const char* text : {"a,b,\n1,2,\n3,4,\n", "a,b\n1,2,\n3,4,\n", "a,b,\n1,2\n3,4\n"}) {
    EXPECT_EQ(names_of(read(text)), (Names{"a", "b"})) << text;
  }
  EXPECT_EQ(names_of(read("a,b,\n1,2,x\n3,4,\n")), (Names{"a", "b", "column_3"}));
  EXPECT_EQ(error("a,b\n1,2,\n3,4,5\n"),
            "t.csv' has 3 fields; its first record has 2 (fields are parted by ',')");
}

TEST_F(Reading, TimesOfDayAndDurationsAreHours) {
  const Table table = read(
      "start,end,length\n8:30,2:05 PM,36:15:00\n22:00,12:30 am,0:00:36.5\n07:06,11:00pm,100:00\n");
  ASSERT_EQ(table.columns().size(), 3U);
  EXPECT_EQ(table.columns()[0].type, ColumnType::number);
  EXPECT_EQ(table.number(0, 0), 8.5);
  EXPECT_NEAR(table.number(0, 1), 14 + 5 / 60.0, 1e-12);
  EXPECT_EQ(table.number(1, 1), 0.5);
  EXPECT_EQ(table.number(2, 1), 23);
  EXPECT_EQ(table.number(0, 2), 36.25);
  EXPECT_NEAR(table.number(1, 2), 36.5 / 3600, 1e-12);
  EXPECT_EQ(table.number(2, 2), 100);
  EXPECT_EQ(table.notes()[0], "the values of 'start', such as '8:30', are read as hours");
  // Other texts make texts, and a column may be called by a time.
  EXPECT_EQ(read("x,y\n8:30,1\n8:3,2\n8:30,3\n").columns()[0].type, ColumnType::category);
  EXPECT_EQ(read("x,y\n8:60,1\n8:30,2\n8:30,3\n").columns()[0].type, ColumnType::category);
  EXPECT_EQ(read("x,y\n13:30 PM,1\n1:30 PM,2\n1:30 PM,3\n").columns()[0].type,
            ColumnType::category);
  EXPECT_EQ(names_of(read("08:00,09:00\n1,2\n3,4\n")), (Names{"08:00", "09:00"}));
}

TEST_F(Reading, NumbersWithUnitsInLettersAndSignsOfOtherPrograms) {
  const Table table = read(
      "weight,speed,saldo,wide\n"
      "1.5 kg,3 km/h,12.50-,\uFF11\uFF12\uFF0E\uFF15\n"
      "12 kg,44\u00A0km/h,7.25,\uFF17\n");
  for (const TableColumn& column : table.columns()) {
    EXPECT_TRUE(column.type == ColumnType::number || column.type == ColumnType::integer)
        << column.name;
  }
  EXPECT_EQ(table.number(0, 0), 1.5);
  EXPECT_EQ(table.number(1, 1), 44);
  EXPECT_EQ(table.number(0, 2), -12.5);
  EXPECT_EQ(table.number(0, 3), 12.5);
  EXPECT_EQ(table.notes()[0], "the values of 'weight', such as '1.5 kg', are read as numbers");
  const auto type_of = [&](const std::string& first, const std::string& second) {
    return read("x,y\n" + first + ",1\n" + second + ",2\n" + first + ",3\n").columns()[0].type;
  };
  EXPECT_EQ(type_of("1 kg", "500 g"), ColumnType::category) << "other units";
  EXPECT_EQ(type_of("2024 March", "2025 March"), ColumnType::date_time);
  EXPECT_EQ(type_of("3A", "4A"), ColumnType::category) << "no blank";
  EXPECT_EQ(type_of("5 - 10 years", "10 years"), ColumnType::category);
  EXPECT_EQ(names_of(read("100 m,200 m\n10.5,21\n11,22\n")), (Names{"100 m", "200 m"}));
  const NumberFormat format{.unit = "km/h"};
  EXPECT_EQ(NumberFormat::from(format.text(), "t"), format);
  for (const char* text :
       {"decimal=. unit=kg kg", "decimal=. unit=4", "decimal=. unit=averyverylongunit"}) {
    EXPECT_THROW(NumberFormat::from(text, "t"), Error) << text;
  }
}

TEST_F(Reading, ErrorsOfSpreadsheetsAndDashesAreMissing) {
  const Table table = read("x,y\n1.5,2\n#DIV/0!,3\n\u2014,4\n#VALUE!,5\n..,6\n2.5,7\n");
  EXPECT_EQ(table.columns()[0].type, ColumnType::number);
  EXPECT_EQ(table.columns()[0].missing, 4);
  EXPECT_EQ(table.notes()[0], "'#DIV/0!' is read as a missing value: 1 row in 'x'");
}

TEST_F(Reading, ARowOfTotalsIsSaid) {
  std::string text = "region,y\n";
  for (int i = 0; i < 12; ++i) text += fmt::format("{},{}\n", "ab"[i % 2], i % 5);
  const auto notes_of = [&](const std::string& of) { return read(of).notes(); };
  const std::string end = "remove it from the file";
  EXPECT_TRUE(std::string(notes_of(text + "Total:,22\n").at(0))
                  .starts_with("warning: the last row (line 14) of '"));
  EXPECT_TRUE(notes_of(text + "Total:,22\n")
                  .at(0)
                  .ends_with("' begins with 'Total:' and seems to hold totals, no sample; " + end));
  EXPECT_TRUE(read(text + "total,22\na,1\ntotal,22\n").notes().empty()) << "a category";
  EXPECT_TRUE(read(text).notes().empty());
  // It makes texts of dates and of numbers: one sentence says so.
  std::string dates =
      "\xEF\xBB\xBF"
      "day;t\xC3\xB6n;y\r\n";
  for (int i = 1; i < 20; ++i) dates += fmt::format("2024-01-{:02};{},5;{}\r\n", i, i * 3, i % 5);
  const Names found = notes_of(dates + "Summe;alle;22\r\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_TRUE(found[0].ends_with(
      "and seems to hold totals, no sample: because of it the values of 'day', 't\xC3\xB6n' are "
      "read as texts; " +
      end))
      << found[0];
  // Totals in the middle are one more reason.
  const Names other = notes_of(dates + "Summe;1,5;22\r\n2024-02-01;x;2\r\n");
  ASSERT_EQ(other.size(), 2U);
  EXPECT_TRUE(other[0].starts_with("the values of 'day' are read as texts")) << other[0];
  EXPECT_TRUE(other[1].starts_with("the values of 't\xC3\xB6n' are read as texts")) << other[1];
}

TEST_F(Reading, MessagesHaveTheBeginningOfALongText) {
  std::string many;
  for (int i = 0; i < 5000; ++i) many += "\xC3\xBC";
  const Table table = read("a,b\n\"1" + many + "\",2\n3,4\n", {.header = true});
  const std::string error = message_of([&] { table.number(0, 0); });
  EXPECT_LT(error.size(), 400U);
  const std::string name = message_of([&] { read("a" + many + ",b\n3,4\n", {.header = true}); });
  EXPECT_TRUE(name.ends_with("...'; expected at most 4096")) << name;
  EXPECT_LT(name.size(), 400U);
  EXPECT_TRUE(error.ends_with("expected a finite number; got '1" + many.substr(0, 98) + "'"))
      << error;
}

TEST_F(Reading, EqualNames) {
  const Table table = read("x,x,y,x_2,x\n1,2,3,4,5\n6,7,8,9,0\n", {.header = true});
  EXPECT_EQ(names_of(table), (Names{"x", "x_3", "y", "x_2", "x_4"}));
  EXPECT_EQ(table.notes()[0], "columns with the name of another one are called 'x_3', 'x_4'");
  EXPECT_EQ(names_of(read("column_2,,\n1,2,3\n4,5,6\n", {.header = true})),
            (Names{"column_2", "column_2_2", "column_3"}));
}

TEST(GivenReading, IsWrittenAndReadAgain) {
  for (const std::string text :
       {"", "separator=  decimal=, header", "comment=%", "header no-comments encoding=cp1251"}) {
    EXPECT_EQ(GivenReading::from(text, "x").text(), text);
  }
  EXPECT_FALSE(message_of([] { GivenReading::from("separator=x", "x"); }).empty());
}

}  // namespace
}  // namespace linnet::test
