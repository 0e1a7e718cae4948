// SPDX-License-Identifier: Apache-2.0
#include <linnet/table_transform.h>

#include <string>

#include "formats/encoding.h"
#include "fuzz/fuzz_input.h"
#include "table/survey_table.h"

// A table of any bytes: its encoding, reading, the survey, and a transform to its last column and
// back from JSON.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  DecodedText decoded;
  const std::string bytes(fuzz::text_of(data, size));
  if (!fuzz::accepts([&] { decoded = decode_text(bytes, "", "t"); })) return 0;
  Table table;
  if (!fuzz::accepts([&] { table = parse_table(decoded.text, "t"); })) return 0;
  fuzz::expect(table.rows() > 0 && !table.columns().empty(), "a table has rows and columns");
  fuzz::expect(survey_table(table, table.columns().size() - 1).size() == table.columns().size(),
               "every column is surveyed");
  TableTransform transform;
  const std::string target = std::to_string(table.columns().size());
  const bool fitted = fuzz::accepts([&] { transform = TableTransform::fit(table, target); });
  if (!fitted) return 0;
  const TableTransform read = TableTransform::from_json(transform.to_json());
  fuzz::expect(read.to_json() == transform.to_json(), "a transform survives its JSON");
  fuzz::accepts(
      [&] { fuzz::expect(read.inputs(table).size() == table.rows(), "every row is a sample"); });
  return 0;
}
