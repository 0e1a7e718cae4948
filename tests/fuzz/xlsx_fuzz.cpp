// SPDX-License-Identifier: Apache-2.0
#include <linnet/tables.h>

#include "fuzz/fuzz_input.h"
#include "table/spreadsheet.h"

// A spreadsheet of any bytes: its first sheet as text, and that as a table.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  const auto path = fuzz::put("x.xlsx", std::span(data, size));
  SheetText sheet;
  if (!fuzz::accepts([&] { sheet = read_sheet(path, ""); })) return 0;
  fuzz::expect(!sheet.text.empty(), "a sheet that is read holds something");
  fuzz::accepts([&] {
    const Table table = parse_table(sheet.text, "t", {.separator = ',', .comment = '\0'});
    fuzz::expect(table.rows() > 0, "a table has rows");
  });
  return 0;
}
