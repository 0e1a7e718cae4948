// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "formats/zip.h"

namespace linnet::testing {

inline constexpr std::string_view kRelationTypes =
    "http://schemas.openxmlformats.org/officeDocument/2006/relationships/";

/// Returns a workbook as programs write it, as files by name: the rows of its sheet "data".
inline std::map<std::string, std::string> workbook(const std::string& rows) {
  const auto relation = [](std::string_view id, std::string_view type, std::string_view target) {
    return fmt::format(R"(<Relationship Id="{}" Type="{}{}" Target="{}"/>)", id, kRelationTypes,
                       type, target);
  };
  return {
      {"_rels/.rels", "<Relationships>" + relation("r1", "officeDocument", "xl/workbook.xml") +
                          "</Relationships>"},
      {"xl/workbook.xml",
       R"(<workbook><sheets><sheet name="notes" sheetId="1" state="hidden" r:id="r1"/>)"
       R"(<sheet name="data" sheetId="2" r:id="r2"/></sheets></workbook>)"},
      {"xl/_rels/workbook.xml.rels",
       "<Relationships>" + relation("r1", "worksheet", "worksheets/sheet1.xml") +
           relation("r2", "worksheet", "/xl/worksheets/sheet2.xml") +
           relation("r3", "sharedStrings", "sharedStrings.xml") +
           relation("r4", "styles", "styles.xml") + "</Relationships>"},
      {"xl/sharedStrings.xml",
       "<sst><si><t>name</t></si><si><r><t>a, </t></r><r><t>\"b\"</t></r><rPh><t>x</t></rPh></si>"
       "<si><t>&lt;&#252;&gt;</t></si></sst>"},
      {"xl/styles.xml",
       R"(<styleSheet><numFmts><numFmt numFmtId="164" formatCode="[Red]yyyy\-mm&quot;d&quot;;@"/>)"
       R"(<numFmt numFmtId="165" formatCode="[h]:mm"/></numFmts><cellStyleXfs><xf numFmtId="14"/>)"
       R"(</cellStyleXfs><cellXfs><xf numFmtId="0"/><xf numFmtId="14"/><xf numFmtId="22"/>)"
       R"(<xf numFmtId="164"/><xf numFmtId="165"/></cellXfs></styleSheet>)"},
      {"xl/worksheets/sheet1.xml", "<worksheet/>"},
      {"xl/worksheets/sheet2.xml", "<worksheet><sheetData>" + rows + "</sheetData></worksheet>"}};
}

/// Writes the files of a workbook as an archive.
inline void write_workbook(const std::filesystem::path& path,
                           const std::map<std::string, std::string>& files) {
  std::vector<ZipSource> sources;
  for (const auto& [name, text] : files) sources.push_back({.name = name, .pieces = {text}});
  write_zip(path, sources);
}

}  // namespace linnet::testing
