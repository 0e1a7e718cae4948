// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/tables.h>
#include <zlib.h>

#include <cmath>
#include <functional>
#include <map>

#include "message_of.h"
#include "table/dates.h"
#include "table/number_format.h"
#include "table/survey_table.h"
#include "table/values.h"
#include "temporary_folder.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;
using linnet::testing::TemporaryFolder;
using linnet::testing::write_quickly;

std::vector<ColumnType> types_of(const Table& table) {
  std::vector<ColumnType> types;
  for (const TableColumn& column : table.columns()) types.push_back(column.type);
  return types;
}

std::vector<std::string> names_of(const Table& table) {
  std::vector<std::string> names;
  for (const TableColumn& column : table.columns()) names.push_back(column.name);
  return names;
}

TEST(Table, ReadsQuotesByteOrderMarkAndLineEndings) {
  const Table table = parse_table(
      "\xEF\xBB\xBFname,age\r\n\"a, \"\"b\"\"\",1\r\n\"two\nlines\" , 2\r\n\r\n c d ,3\rlast,4");
  EXPECT_EQ(names_of(table), (std::vector<std::string>{"name", "age"}));
  ASSERT_EQ(table.rows(), 4);
  EXPECT_EQ(table.text(0, 0), "a, \"b\"");
  EXPECT_EQ(table.text(1, 0), "two\nlines");
  EXPECT_EQ(table.text(2, 0), "c d");
  EXPECT_EQ(table.number(3, 1), 4);
  EXPECT_EQ(table.place(2, 1), "'table', row 3 (line 6), column 'age'");
}

TEST(Table, FindsTheSeparator) {
  for (const char separator : {',', ';', '|', '\t'}) {
    const std::string s(1, separator);
    const Table table = parse_table("x" + s + "y\n1" + s + "a\n2" + s + "b\n");
    EXPECT_EQ(table.separator(), separator);
    EXPECT_EQ(table.columns().size(), 2U);
  }
  EXPECT_EQ(parse_table("x\n1\n2\n").columns().size(), 1U);
  EXPECT_EQ(parse_table("a;b\n\"1;2\";3\n").columns().size(), 2U);
  for (const std::string mark : {"", "\xEF\xBB\xBF"}) {
    const Table table = parse_table(mark + "sep=;\r\nx;y\r\n1;a\r\n2;b\r\n");
    EXPECT_EQ(table.columns()[1].name, "y");
    EXPECT_EQ(table.place(1, 0), "'table', row 2 (line 4), column 'x'");
  }
}

TEST(Table, FindsDecimalCommas) {
  const Table table = parse_table("x;y\n1,5;a\n-2,25e1;b\n");
  EXPECT_EQ(table.decimal(), ',');
  EXPECT_EQ(table.columns()[0].type, ColumnType::number);
  EXPECT_EQ(table.number(0, 0), 1.5);
  EXPECT_EQ(table.number(1, 0), -22.5);
  EXPECT_EQ(parse_table("x;y\n1.5;a\n2;b\n").number(0, 0), 1.5);
}

TEST(Table, FindsTheHeader) {
  EXPECT_TRUE(parse_table("a,b\n1,2\n3,4\n").has_header());
  EXPECT_FALSE(parse_table("1,2\n3,4\n").has_header());
  EXPECT_FALSE(parse_table("M,1\nF,2\nM,3\n").has_header());
  EXPECT_TRUE(parse_table("sex,colour\nM,red\nF,blue\n").has_header());
  EXPECT_FALSE(parse_table("M,red\nF,blue\nM,red\n").has_header());
  EXPECT_FALSE(parse_table("M,red\nM,blue\n").has_header()) << "one column says so, one not";
  EXPECT_EQ(names_of(parse_table("1,2\n3,4\n")),
            (std::vector<std::string>{"column_1", "column_2"}));
  EXPECT_EQ(parse_table("a,b\n1,2\n", "t", {.header = false}).rows(), 2);
}

TEST(Table, CountsDifferentValues) {
  // Texts whose hashes, of 32 bits, and first 16 bytes are equal are told apart too.
  std::map<std::uint32_t, std::string> seen;
  std::string text = "number,text\n";
  for (int i = 0; i < 300000; ++i) {
    const std::string value = fmt::format("sixteen bytes...{}", i);
    const auto hash = static_cast<std::uint32_t>(std::hash<std::string>()(value));
    const auto [other, first] = seen.emplace(hash, value);
    if (!first) text += fmt::format("{},{}\n{},{}\n", i % 7, value, i % 7, other->second);
  }
  const Table table = parse_table(text + text.substr(text.find('\n') + 1));
  EXPECT_GE(table.rows(), 4);
  EXPECT_EQ(table.columns()[1].distinct, table.rows() / 2);
  std::string numbers = "a,b\n";
  for (int i = 0; i < 3000; ++i) numbers += fmt::format("{},{}\n", i * 7 % 1000, i % 2);
  EXPECT_EQ(parse_table(numbers).columns()[0].distinct, 1000);
}

TEST(Table, MissingTextsOfAnyLength) {
  const TableOptions options{.missing = {"", "not measured today", "-"}};
  const Table table = parse_table("a,b\n1,2\nnot measured today,-\n,-3\n", "t", options);
  EXPECT_EQ(table.columns()[0].missing, 2);
  EXPECT_EQ(table.columns()[1].missing, 1);
  EXPECT_EQ(table.columns()[1].type, ColumnType::integer);
}

TEST(Table, InfersTypes) {
  std::string text = "n,i,c,b,d,k,id,m\n";
  for (int i = 0; i < 30; ++i) {
    text +=
        fmt::format("{}.5,{},{},{},2024-01-{:02},same,x{},{}\n", i, i % 7, i % 3 == 0 ? "u" : "v",
                    i % 2 == 0 ? "Yes" : "no", i + 1, i, i % 5 == 0 ? "NA" : "1.5");
  }
  const Table table = parse_table(text);
  EXPECT_EQ(types_of(table), (std::vector<ColumnType>{ColumnType::number, ColumnType::integer,
                                                      ColumnType::category, ColumnType::boolean,
                                                      ColumnType::date_time, ColumnType::constant,
                                                      ColumnType::identifier, ColumnType::number}))
      << "of the last one, blank or not is information";
  EXPECT_EQ(table.columns()[7].missing, 6);
  EXPECT_EQ(table.columns()[1].distinct, 7);
  EXPECT_TRUE(std::isnan(table.number(0, 7)));
  EXPECT_EQ(parse_table(text, "t",
                        {.types = {{"i", ColumnType::category}, {"2", ColumnType::category}}})
                .columns()[1]
                .type,
            ColumnType::category);
}

TEST(Table, KnowsDates) {
  const auto day = [](std::string_view text, DateOrder order) {
    const auto date = date_of(text, {order});
    return date ? date->day : -1;
  };
  EXPECT_EQ(day("1970-01-02", DateOrder::year_first), 1);
  EXPECT_EQ(day("02/01/1970", DateOrder::day_first), 1);
  EXPECT_EQ(day("1/2/1970", DateOrder::month_first), 1);
  EXPECT_EQ(day("02.01.1970", DateOrder::day_first), 1);
  EXPECT_EQ(day("1970-02-30", DateOrder::year_first), -1);
  EXPECT_EQ(day("1970-01-02 25:00", DateOrder::year_first), -1);
  EXPECT_EQ(date_of("2024-02-29T06:30:15.5Z", {DateOrder::year_first})->seconds, 23415.5);
  EXPECT_EQ(date_of("2024-02-29", {DateOrder::year_first})->weekday(), 3);
  EXPECT_EQ(parse_table("d,x\n13/01/2020,1\n01/02/2020,2\n").columns()[0].type,
            ColumnType::date_time);
}

TEST(Table, TimesWithOffsetsAreReadAsUtc) {
  const auto seconds = [](std::string_view text) {
    const auto date = date_of(text, {DateOrder::year_first});
    return date ? static_cast<double>(date->day) * 86400 + date->seconds : -1;
  };
  EXPECT_EQ(seconds("1970-01-02T01:00:00+01:00"), 86400);
  EXPECT_EQ(seconds("1970-01-02 01:00:00+0100"), 86400);
  EXPECT_EQ(seconds("1970-01-02 00:30+01"), 86400 - 1800);
  EXPECT_EQ(seconds("1970-01-02 22:00:00.5-03:30"), 2 * 86400 + 5400.5);
  EXPECT_EQ(seconds("1970-01-02 01:00:00+15:00"), -1);
  EXPECT_EQ(seconds("1970-01-02 01:00:00+01:00x"), -1);
  EXPECT_EQ(seconds("1970-01-02 01:00:00+1"), -1);
  const Table table =
      parse_table("t,y\n2024-03-31T01:00:00+01:00,1\n2024-03-31T03:00:00+02:00,2\n");
  EXPECT_EQ(table.columns()[0].type, ColumnType::date_time);
  EXPECT_EQ(table.notes(),
            std::vector<std::string>{"the times of 't' have offsets from UTC and are read as UTC"});
}

TEST(Table, NotesTextsThatAreLikelyMeantAsNumbers) {
  const auto notes = [](const std::string& third, std::string_view end = "") {
    std::string text = "x,y\n";
    for (int i = 0; i < 30; ++i) text += (i == 2 ? third : fmt::format("{}.5{}", i, end)) + ",1\n";
    return parse_table(text, "t").notes();
  };
  EXPECT_EQ(notes("oops"),
            std::vector<std::string>{"the values of 'x' are read as texts, since line 4 holds "
                                     "'oops': 29 of its 30 different values are numbers "
                                     "(--missing-text reads a text as a missing value)"});
  for (const char* missing : {"NA", "n/a", "#N/A", "<NA>"}) {
    EXPECT_EQ(notes(missing),
              std::vector<std::string>{
                  fmt::format("'{}' is read as a missing value: 1 row in 'x'", missing)});
  }
  EXPECT_EQ(notes("7", " %"),
            std::vector<std::string>{
                "the values of 'x' are read as texts, since '0.5 %' and '7' are not written in one "
                "way: numbers of a column have the same separators and the same unit (--decimal, "
                "--thousands)"});
  EXPECT_EQ(parse_table("x,y\na1,1\na2,2\n").notes(), std::vector<std::string>{});
}

/// A table of a column "x" and its note, or "".
std::string note_of(const Table& table) {
  EXPECT_LE(table.notes().size(), 1U);
  return table.notes().empty() ? "" : table.notes()[0];
}

TEST(Table, TwoTextsAreNeverOneTruthValue) {
  const auto type = [](const std::string& first, const std::string& second) {
    std::string text = "x,y\n";
    for (int i = 0; i < 30; ++i) text += fmt::format("{},1.5\n", i % 3 == 0 ? first : second);
    return parse_table(text).columns()[0].type;
  };
  EXPECT_EQ(type("F", "N"), ColumnType::category);
  EXPECT_EQ(type("T", "Y"), ColumnType::category);
  EXPECT_EQ(type("1", "Y"), ColumnType::category);
  EXPECT_EQ(type("0", "N"), ColumnType::category);
  EXPECT_EQ(type("yes", "Yes"), ColumnType::category);
  EXPECT_EQ(type("F", "T"), ColumnType::boolean);
  EXPECT_EQ(type("1.0", "0.0"), ColumnType::boolean);
  EXPECT_EQ(message_of([] {
              parse_table("x,y\nF,1\nN,2\n", "t", {.types = {{"x", ColumnType::boolean}}});
            }),
            "'t', column 'x': all of its 2 different values mean false, so a boolean would not "
            "tell them apart; --type 'x=category' does");
}

TEST(Table, WordsAreMissingAmongNumbersDatesAndTruthValuesAlone) {
  const auto missing = [](const std::vector<std::string>& values,
                          const TableOptions& options = {}) {
    std::string text = "x,y\n";
    for (const std::string& value : values) text += value + ",1.5\n";
    return parse_table(text, "t", options).columns()[0].missing;
  };
  EXPECT_EQ(missing({"-", "+", "-", "+"}), 0);
  EXPECT_EQ(missing({"None", "A", "B", "None"}), 0);
  EXPECT_EQ(missing({"NA", "ZA", "DE", ""}), 1);
  EXPECT_EQ(missing({"-", "-5", "NA", "7"}), 2);
  EXPECT_EQ(missing({"2024-01-01", "null", "2024-01-02"}), 1);
  EXPECT_EQ(missing({"yes", "no", "N/A"}), 1);
  EXPECT_EQ(missing({"None", "A", "B"}, {.missing = {"None"}}), 1);
  EXPECT_EQ(missing({"NA", "4", "5"}, {.missing_words = {}}), 0);
  EXPECT_EQ(note_of(parse_table("x,y\nNone,1\nA,2\nA,3\n")),
            "'None' is read as a text: 1 row in 'x'; --missing-text 'None' reads it as a missing "
            "value");
  EXPECT_EQ(note_of(parse_table("x,y\n-,1\n4,-\n5,3\n")),
            "'-' is read as a missing value: 2 rows in 2 columns, 'x' first");
}

TEST(Table, ReadsGroupsOfDigits) {
  const auto read = [](const std::string& text, double wanted, const TableOptions& options = {}) {
    const Table table = parse_table(text, "t", options);
    EXPECT_EQ(table.number(0, 0), wanted) << text;
    return table;
  };
  // Between numbers below 1000 without a separator, it parts thousands; said where unsure.
  EXPECT_EQ(
      note_of(read("x;y\n1,105;3315\n555;1665\n521;1563\n", 1105)),
      "'1,105' in 'x' is read as a whole number with the thousands separator ','; --decimal , "
      "reads it as a fraction");
  read("x;y\n1.717;5151\n674;2022\n", 1717);
  EXPECT_EQ(note_of(read("x;y\n1,105;3315\n5,553;1665\n", 1.105)),
            "'1,105' in 'x' is read as a fraction with the decimal separator ','; --thousands , "
            "reads it as a whole number");
  // Sure: by the column itself, by its neighbour, by the separator of fields.
  EXPECT_EQ(note_of(read("x;y\n1.105;1\n5.5;2\n", 1.105)), "");
  EXPECT_EQ(note_of(read("x;y\n1.105;1\n1.105.222;2\n", 1105)), "");
  EXPECT_EQ(note_of(read("x;y\n1.234,5;1\n22,5;2\n", 1234.5)), "");
  EXPECT_EQ(note_of(read("x;y\n1.105;0,5\n555;2,5\n", 1105)), "");
  EXPECT_EQ(note_of(read("x;y\n1,105;0,5\n555;2,5\n", 1.105)), "");
  EXPECT_EQ(note_of(read("x,y\n1.105,1\n555,2\n", 1.105)), "");
  read("x,y\n\"1,105\",1\n555,2\n", 1105);
  read("x\ty\n1 234,5\t1\n7,5\t2\n", 1234.5);
  read("x\ty\n1\u00A0234\t1\n7\t2\n", 1234);
  read("x,y\n1'234.5,1\n7.5,2\n", 1234.5);
  // As it was said.
  read("x;y\n1,105;3315\n555;1665\n", 1.105, {.decimal = ','});
  read("x;y\n1,105;3315\n5,553;1665\n", 1105, {.thousands = ','});
  read("x;y\n1.717;1\n674;2\n", 1.717, {.thousands = '\0'});
  EXPECT_EQ(parse_table("x,y\n0.123,1\n1.105,2\n").columns()[0].type, ColumnType::number);
  EXPECT_EQ(parse_table("x;y\n1.717;1\n674;2\n").columns()[0].type, ColumnType::integer);
}

TEST(Table, ReadsNumbersWithUnits) {
  for (const auto& [text, wanted] : std::map<std::string, double>{{"9.360,00 €", 9360},
                                                                  {"12 %", 12},
                                                                  {"12%", 12},
                                                                  {"$1200", 1200},
                                                                  {"-$1200", -1200},
                                                                  {"£ 3.50", 3.5},
                                                                  {"(7.50 $)", -7.5},
                                                                  {"−4 %", -4}}) {
    const Table table = parse_table("x;y\n" + text + ";1\n" + text + ";2\n");
    EXPECT_EQ(table.number(0, 0), wanted) << text;
    EXPECT_EQ(note_of(table), "the values of 'x', such as '" + text + "', are read as numbers");
  }
  EXPECT_EQ(parse_table("x;y\n$1,200;1\n$3;2\n").number(0, 0), 1200);
  EXPECT_EQ(parse_table("x;y\n12 %;1\n$3;2\n").columns()[0].type, ColumnType::category);
}

TEST(Table, LeadingZerosTellTextsApart) {
  const Table table = parse_table("zip,y\n2116,1\n02116,2\n2116,3\n", "t");
  EXPECT_EQ(table.columns()[0].type, ColumnType::category);
  EXPECT_EQ(table.columns()[0].distinct, 2);
  EXPECT_EQ(note_of(table),
            "the values of 'zip', such as '02116', begin with zeros and are read as texts; --type "
            "'zip=integer' reads numbers");
  EXPECT_EQ(parse_table("x,y\n0,1\n0.5,2\n-0.25,3\n").columns()[0].type, ColumnType::number);
}

TEST(Table, WholeNumbersAreOneValue) {
  const Table table = parse_table("x,y\n1,5\n1.0,6\n2.00,7\n2,8\n3,9\n");
  EXPECT_EQ(table.columns()[0].type, ColumnType::integer);
  EXPECT_EQ(table.columns()[0].distinct, 3);
  for (const auto& [text, whole] : std::map<std::string, std::string>{{"1.0", "1"},
                                                                      {"-10,00", "-10"},
                                                                      {"-0.0", "0"},
                                                                      {"1.10", "1.10"},
                                                                      {"02.0", "02.0"},
                                                                      {"1,000", "1,000"},
                                                                      {"100", "100"},
                                                                      {"v1.0", "v1.0"},
                                                                      {".0", ".0"}}) {
    EXPECT_EQ(whole_text(text), whole);
  }
}

TEST(Table, NumberFormatsSurviveTheirText) {
  for (const NumberFormat& format :
       {NumberFormat{}, NumberFormat{.decimal = ',', .thousands = '.', .unit = "€"},
        NumberFormat{.thousands = ' '}, NumberFormat{.thousands = '\'', .unit = "%"}}) {
    EXPECT_EQ(NumberFormat::from(format.text(), "t"), format);
  }
  for (const char* wrong : {"", "decimal=;", "decimal=, thousands=,", "decimal=. unit=4kg",
                            "decimal=.  unit=%", "thousands=,"}) {
    EXPECT_NE(message_of([&] { NumberFormat::from(wrong, "t"); }), "") << wrong;
  }
}

TEST(Table, KnowsNumbers) {
  EXPECT_EQ(number_of("+1e3", '.'), 1000);
  EXPECT_EQ(number_of("1e-999", '.'), 0);
  EXPECT_TRUE(std::isinf(*number_of("1e999", '.')));
  EXPECT_TRUE(std::isinf(*number_of("-inf", '.')));
  for (const char* text : {"", "-", "1,5", "0x10", "nan", "1.5.2", "+-1", "1 "}) {
    EXPECT_FALSE(number_of(text, '.')) << text;
  }
  EXPECT_FALSE(number_of("1.5", ','));
}

TEST(Table, ReadsPackedFiles) {
  const TemporaryFolder folder;
  const std::string path = folder / "t.csv.gz";
  gzFile file = gzopen(path.c_str(), "wb");
  gzputs(file, "x,y\n1,2\n");
  gzclose(file);
  EXPECT_EQ(read_table(path).number(0, 1), 2);
  EXPECT_TRUE(is_table_name(path));
  EXPECT_FALSE(is_table_name("net.toml"));
}

TEST(Table, ErrorsNameThePlace) {
  const auto error = [](const std::string& text, const TableOptions& options = {}) {
    return message_of([&] { parse_table(text, "t.csv", options); });
  };
  EXPECT_EQ(error("a,b\n1,2\n3\n"),
            "line 3 of 't.csv' has 1 fields; its first record has 2 (fields are parted by ',')");
  EXPECT_EQ(error("a,b\n1,\"2\n"), "line 2 of 't.csv' has a quote that does not end");
  EXPECT_EQ(error("a,b\n1,\"2\"3\n"), "line 2 of 't.csv' has text after a closing quote");
  EXPECT_EQ(error(""), "'t.csv' is empty; expected a table");
  EXPECT_EQ(error("a,b\n", {.header = true}), "'t.csv' holds a header and no rows");
  EXPECT_EQ(error("a,b\n1,\xE9t\xE9\n"),
            "line 2 of 't.csv', column 2: '\\xE9t\\xE9' is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(error(std::string("a,b\n1,\0\n", 8)),
            "line 2 of 't.csv' holds a NUL byte; expected UTF-8 text");
  EXPECT_EQ(error("\xFF\xFE a"), "'t.csv' is UTF-16; save it as UTF-8");
  EXPECT_EQ(error("a,b\n1,x\n", {.types = {{"b", ColumnType::number}}}),
            "'t.csv', row 1 (line 2), column 'b': expected number; got 'x'");
  EXPECT_EQ(error("a,size\n1,x\n", {.types = {{"siz", ColumnType::number}}}),
            "'t.csv' has no column 'siz'; did you mean 'size'?");
  EXPECT_EQ(error("a,b\n1,x\n", {.types = {{"zebra", ColumnType::number}}}),
            "'t.csv' has no column 'zebra'; it has a or b");
  const Table table = parse_table("a,b\n1,inf\n", "t.csv");
  EXPECT_EQ(message_of([&] { static_cast<void>(table.number(0, 1)); }),
            "'t.csv', row 1 (line 2), column 'b': expected a finite number; got 'inf'");
  const Table years = parse_table("2019,2020\n1,2\n3,4\n", "t.csv");
  EXPECT_EQ(message_of([&] { static_cast<void>(years.find("2020")); }),
            "'t.csv' has no column '2020': its first record, which holds it, is read as a row; "
            "--header reads it as names");
  EXPECT_EQ(message_of([&] { static_cast<void>(table.find("3")); }),
            "'t.csv' has 2 columns, numbered from 1; got 3");
}

TEST(Table, OtherFormatsAreNamed) {
  const TemporaryFolder folder;
  const auto error = [&](const std::string& content) {
    write_quickly(folder / "t.csv", content);
    return message_of([&] { read_table(folder / "t.csv"); });
  };
  EXPECT_TRUE(error("PAR1...").ends_with(
      "is a Parquet file, which linnet.table_task() in Python reads; save it as CSV"));
  EXPECT_TRUE(error("\xD0\xCF\x11\xE0...").ends_with("save it as .xlsx or CSV"));
  EXPECT_TRUE(error("PK\x03\x04...").ends_with("its end record is missing"));
}

// By the definitions in NumPy.
TEST(TableSurvey, Correlations) {
  const std::vector<double> x{1, 2, 2, 4, 5};
  const std::vector<double> y{2, 1, 3, 8, 9};
  EXPECT_NEAR(pearson(x, y), 0.942846, 1e-6);
  EXPECT_NEAR(pearson(mid_ranks(x), mid_ranks(y)), 0.820783, 1e-6);
  EXPECT_NEAR(cramers_v({0, 0, 1, 1, 2, 2}, {0, 0, 1, 0, 1, 1}), 0.816497, 1e-6);
  EXPECT_TRUE(std::isnan(pearson({1, 1}, {1, 2})));
}

TEST(TableSurvey, CorrelationsOfAllForms) {
  std::vector<double> x;
  std::vector<double> y;
  for (int i = 1; i <= 20; ++i) {
    x.push_back(i);
    y.push_back(3 * std::pow(i, 2.5) * (1 + 0.1 * std::sin(5 * i)));
  }
  const std::vector<Correlation> all = correlations_of_numbers(x, y);
  ASSERT_EQ(all.size(), 4);
  // NumPy's corrcoef of the numbers or their logarithms, and SciPy's
  // pearsonr().confidence_interval().
  const double wanted[][3] = {{0.942753946832, 0.858309966674, 0.977481124503},
                              {0.779196084367, 0.513859397965, 0.908467700258},
                              {0.928718163907, 0.825430339109, 0.971836436919},
                              {0.999387971153, 0.998417096822, 0.999763429797}};
  const std::string_view forms[] = {"linear", "logarithmic", "exponential", "power"};
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_EQ(all[k].form, forms[k]);
    EXPECT_NEAR(all[k].r, wanted[k][0], 1e-9);
    EXPECT_NEAR(all[k].lower, wanted[k][1], 1e-9);
    EXPECT_NEAR(all[k].upper, wanted[k][2], 1e-9);
  }
  y[3] = -1;
  EXPECT_EQ(correlations_of_numbers(x, y).size(), 2);
  x[3] = 0;
  EXPECT_EQ(correlations_of_numbers(x, y).size(), 1);
  EXPECT_TRUE(std::isnan(correlation_of("linear", {1, 2, 3}, {1, 2, 4}).lower));
}

TEST(TableSurvey, LogisticCorrelation) {
  const std::vector<double> x{1, 2, 3, 4, 5, 6, 7, 8, 9, 30};
  const std::vector<double> one{1, 1, 1, 0, 1, 0, 1, 0, 0, 0};
  const Correlation of = logistic_correlation(x, one);  // the regression is scikit-learn's
  EXPECT_NEAR(of.r, -0.640080, 1e-3);
  EXPECT_LT(of.lower, of.r);
  EXPECT_GT(of.upper, of.r);
  // A threshold parts the classes.
  EXPECT_GT(logistic_correlation(x, {0, 0, 0, 0, 0, 1, 1, 1, 1, 1}).r, 0.99);
  EXPECT_TRUE(std::isnan(logistic_correlation(x, std::vector<double>(10, 1)).r));
}

TEST(TableSurvey, BoxPlotsNameTheRowsOfOutliers) {
  const double none = std::numeric_limits<double>::quiet_NaN();
  const Box box = box_of({5, none, 1, 2, 3, 4, 100, -50});
  EXPECT_EQ(box.first_quartile, 1.5);
  EXPECT_EQ(box.median, 3);
  EXPECT_EQ(box.third_quartile, 4.5);
  EXPECT_EQ(box.low, 1);
  EXPECT_EQ(box.high, 5);
  EXPECT_EQ(box.outliers, (std::vector<std::int64_t>{6, 7}));
  EXPECT_TRUE(box_of({7}).outliers.empty());
}

TEST(TableSurvey, ColumnsWithTheirTarget) {
  const Table table = parse_table("x,c,y\n1,a,2\n2,b,4\n3,a,NA\n4,b,8\n");
  const std::vector<ColumnSurvey> all = survey_table(table, 2);
  EXPECT_EQ(all[0].least, 1);
  EXPECT_EQ(all[0].most, 4);
  EXPECT_EQ(all[0].mean, 2.5);
  EXPECT_NEAR(all[0].pearson, 1, 1e-12);
  EXPECT_EQ(all[2].missing, 1);
  EXPECT_TRUE(std::isnan(all[2].pearson));
  EXPECT_EQ(all[1].frequent[0], (std::pair<std::string, std::int64_t>("a", 2)));
  EXPECT_TRUE(std::isfinite(all[1].cramers_v));
}

TEST(TableSurvey, NumbersWhoseRangeOverflows) {
  const Table table = parse_table("x\n-1.5e308\n1.5e308\n1.6e308\n0\n");
  const ColumnSurvey x = survey_table(table, std::string::npos)[0];
  EXPECT_EQ(x.histogram[0], 1);
  EXPECT_EQ(x.histogram[4], 1);
  EXPECT_EQ(x.histogram[9], 2);
  EXPECT_TRUE(std::isfinite(x.mean));
}

}  // namespace
}  // namespace linnet::test
