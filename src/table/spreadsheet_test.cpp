// SPDX-License-Identifier: Apache-2.0
#include "table/spreadsheet.h"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <linnet/tables.h>

#include <map>

#include "message_of.h"
#include "temporary_folder.h"
#include "workbook.h"

namespace linnet::test {
namespace {

using linnet::testing::message_of;
using linnet::testing::TemporaryFolder;
using linnet::testing::workbook;
using linnet::testing::write_workbook;

class Spreadsheet : public ::testing::Test {
 protected:
  std::filesystem::path write(const std::map<std::string, std::string>& files) {
    write_workbook(folder_ / "t.xlsx", files);
    return folder_ / "t.xlsx";
  }
  std::string text_of(const std::string& rows) {
    return read_sheet(write(workbook(rows)), "").text;
  }
  std::string error(const std::map<std::string, std::string>& files,
                    const std::string& sheet = "") {
    const std::string message = message_of([&] { read_sheet(write(files), sheet); });
    return message.substr(std::min(message.find("': ") + 3, message.size()));
  }
  const TemporaryFolder folder_;
};

TEST_F(Spreadsheet, CellsOfAllKinds) {
  EXPECT_EQ(
      text_of(
          R"(<row r="1"><c r="A1" t="s"><v>0</v></c><c r="B1" t="s"><v>1</v></c></row>)"
          R"(<row r="2"><c r="A2"><v>0.10000000000000001</v></c><c r="B2" s="1"><v>45382</v></c></row>)"
          R"(<row r="3"><c r="A3" t="b"><v>1</v></c><c r="B3" s="2"><v>45382.5</v></c></row>)"
          R"(<row r="5"><c r="A5" t="e"><v>#N/A</v></c><c r="B5" t="inlineStr"><is><t>x</t></is></c></row>)"
          R"(<row r="6"><c r="A6" t="str"><f>A1</f><v>y</v></c><c r="B6" s="3"><v>1</v></c><c r="C6" s="1"/></row>)"
          R"(<row r="7"><c r="A7" s="4"><v>1.5</v></c><c r="B7" t="s"><v>2</v></c></row>)"),
      "\"name\",\"a, \"\"b\"\"\"\n0.1,2024-03-31\nTRUE,2024-03-31 12:00:00\n\n,\"x\"\n"
      "\"y\",1900-01-01\n1.5,\"<\xC3\xBC>\"");
}

TEST_F(Spreadsheet, IsATable) {
  std::string rows =
      R"(<row r="3"><c r="B3" t="inlineStr"><is><t>day</t></is></c><c r="C3" t="inlineStr"><is><t>x</t></is></c><c r="D3" t="inlineStr"><is><t>y</t></is></c></row>)";
  rows = R"(<row r="1"><c r="B1" t="inlineStr"><is><t>A title</t></is></c></row>)" + rows;
  for (int i = 0; i < 20; ++i) {
    rows += fmt::format(
        R"(<row r="{0}"><c r="B{0}" s="1"><v>{1}</v></c><c r="C{0}"><v>{2}.5</v></c><c r="D{0}"><v>{2}</v></c></row>)",
        i + 5, 45382 + i, i % 7);
  }
  auto files = workbook(rows);
  const Table table = read_table(write(files));
  ASSERT_EQ(table.columns().size(), 3U);
  EXPECT_EQ(table.columns()[0].name, "day");
  EXPECT_EQ(table.columns()[0].type, ColumnType::date_time);
  EXPECT_EQ(table.columns()[1].type, ColumnType::number);
  EXPECT_EQ(table.rows(), 20);
  EXPECT_NE(table.place(0, 0).find("(line 5)"), std::string::npos) << "the sheet's row";
  EXPECT_NE(table.notes()[0].find("has 2 sheets; the table is 'data' (--sheet takes another)"),
            std::string::npos);
  EXPECT_TRUE(is_table_name("a/b.xlsx"));
  files["xl/workbook.xml"].replace(10, 0, "<workbookPr date1904=\"1\"/>");
  EXPECT_EQ(read_table(write(files)).text(0, 0), "2028-04-01");
}

TEST_F(Spreadsheet, FormulasWithoutResultsAreSaid) {
  const std::string head = R"(<row r="1"><c r="A1" t="inlineStr"><is><t>x</t></is></c></row>)";
  const std::string formula = R"(<row r="2"><c r="A2"><f>1+1</f></c></row>)";
  const std::string text = R"(<row r="3"><c r="A3" t="str"><f>""</f><v></v></c></row>)";
  const std::string number = R"(<row r="4"><c r="A4"><f>2+1</f><v>3</v></c></row>)";
  const auto note = [&](const std::string& rows) {
    return read_sheet(write(workbook(rows)), "2").note;
  };
  const std::string advice = "a spreadsheet program computes them: open the file there and save it";
  EXPECT_TRUE(note(head + formula).ends_with("t.xlsx' without a result is empty; " + advice));
  EXPECT_NE(note(head + formula).find("; 1 formula of '"), std::string::npos);
  EXPECT_EQ(note(head + text + number).find("formula"), std::string::npos) << "computed ones";
  EXPECT_EQ(error(workbook(formula)),
            "its sheet 'data' holds formulas without their results alone; " + advice);
}

TEST_F(Spreadsheet, MergedCellsHaveTheValueOfTheFirst) {
  std::string rows = R"(<row r="1"><c r="A1" t="inlineStr"><is><t>shop</t></is></c>)"
                     R"(<c r="B1" t="inlineStr"><is><t>y</t></is></c></row>)";
  for (int i = 2; i < 10; ++i) {
    rows += fmt::format(R"(<row r="{}">)", i);
    if (i % 4 == 2)
      rows += fmt::format(R"(<c r="A{}" t="inlineStr"><is><t>s{}</t></is></c>)", i, i);
    rows += fmt::format(R"(<c r="B{0}"><v>{0}.5</v></c></row>)", i);
  }
  auto files = workbook(rows);
  std::string& sheet = files["xl/worksheets/sheet2.xml"];
  EXPECT_EQ(read_table(write(files)).columns()[0].missing, 6);
  // Ranges may overlap, lead beyond the last row, or be of other columns and damaged.
  sheet.replace(
      sheet.find("</worksheet>"), 0,
      R"(<mergeCells><mergeCell ref="A2:A5"/><mergeCell ref="A2:C3"/>)"
      R"(<mergeCell ref="A6:A1048576"/><mergeCell ref="D1:E1"/><mergeCell ref="F3:F9"/>)"
      R"(<mergeCell ref="B2:B4"/><mergeCell ref="A"/><mergeCell ref="ZZZZ1:B9"/></mergeCells>)");
  const Table table = read_table(write(files));
  EXPECT_EQ(table.rows(), 8);
  for (std::int64_t row = 0; row < 8; ++row) {
    EXPECT_EQ(table.text(row, 0), row < 4 ? "s2" : "s6");
    EXPECT_EQ(table.number(row, 1), static_cast<double>(row) + 2.5);
  }
  EXPECT_NE(table.notes()[0].find("; 6 cells of '"), std::string::npos) << table.notes()[0];
}

TEST_F(Spreadsheet, RefusesWhatIsNone) {
  EXPECT_EQ(error(workbook(""), "sales"), "it has no sheet 'sales'; it has notes or data");
  EXPECT_EQ(error(workbook("")), "its sheet 'data' is empty");
  EXPECT_EQ(error({{"a.txt", "x"}}),
            "it is an archive without a workbook of .xlsx; save the table as .xlsx or CSV");
  auto files = workbook(R"(<row r="1"><c r="A1" t="s"><v>7</v></c></row>)");
  EXPECT_EQ(error(files), "its cell in row 1 has no text '7'");
  files = workbook(R"(<row r="2"/><row r="2"/>)");
  EXPECT_EQ(error(files), "its row after row 2 has the number '2'");
  files = workbook(R"(<row r="1"><c r="XFE1"><v>1</v></c></row>)");
  EXPECT_EQ(error(files), "its cell 'XFE1' is out of place");
  files = workbook("<row r=\"1\"><c r=\"A1\">");
  EXPECT_NE(error(files).find("mismatched tag"), std::string::npos);
  files = workbook("");
  files["xl/sharedStrings.xml"] =
      "<!DOCTYPE sst [<!ENTITY a \"aaaaaaaaaa\"><!ENTITY b \"&a;&a;&a;\">]><sst>&b;</sst>";
  EXPECT_EQ(error(files), "it has a document type declaration, which spreadsheets do not need");
  files = workbook("");
  for (int i = 0; i < 100; ++i) files["xl/styles.xml"].insert(0, "<a>");
  EXPECT_EQ(error(files), "its elements are more than 64 deep");
  // A text of 1 MiB in 2,000 cells would be 2 GiB.
  std::string rows;
  for (int i = 1; i <= 2000; ++i)
    rows += fmt::format(R"(<row r="{0}"><c r="A{0}" t="s"><v>0</v></c></row>)", i);
  files = workbook(rows);
  files["xl/sharedStrings.xml"] = "<sst><si><t>" + std::string(1 << 20, 'a') + "</t></si></sst>";
  EXPECT_NE(error(files).find("bytes of text"), std::string::npos);
}

}  // namespace
}  // namespace linnet::test
