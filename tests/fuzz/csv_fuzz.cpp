// SPDX-License-Identifier: Apache-2.0
#include "formats/csv.h"

#include "datasets/chest_xray.h"
#include "fuzz/fuzz_input.h"

// The tables beside X-ray images. The images themselves are empty: they are listed, not opened.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  static const bool made = [] {
    std::filesystem::create_directories(fuzz::folder() / "xray/images");
    for (const char* name : {"xray/a.png", "xray/b.png", "xray/images/c.png"}) fuzz::put(name, "");
    return true;
  }();
  fuzz::expect(made, "there are images");
  const char* name =
      fuzz::text_of(data, size).starts_with("Image") ? "Data_Entry_2017.csv" : "labels.csv";
  const auto path = fuzz::put(std::string("xray/") + name, std::span(data, size));
  const bool table = fuzz::accepts([&] {
    const CsvTable csv = read_csv(path);
    fuzz::expect(csv.rows.size() == csv.lines.size(), "every row has a line");
    for (const auto& row : csv.rows) {
      fuzz::expect(row.size() == csv.columns.size(), "every row has a field a column");
    }
  });
  const bool index = fuzz::accepts([&] { index_chest_xray(path.parent_path()); });
  fuzz::expect(table || !index, "an index needs a table");
  std::filesystem::remove(path);
  return 0;
}
