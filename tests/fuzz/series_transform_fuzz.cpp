// SPDX-License-Identifier: Apache-2.0
#include <linnet/series_transform.h>

#include <string>

#include "fuzz/fuzz_input.h"

// The transform of series in the metadata of a model file, and a table that it reads.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  SeriesTransform transform;
  const std::string text(fuzz::text_of(data, size));
  if (!fuzz::accepts([&] { transform = SeriesTransform::from_json(text); })) return 0;
  fuzz::expect(SeriesTransform::from_json(transform.to_json()).to_json() == transform.to_json(),
               "what is accepted is written the same again");
  const Table rows = parse_table(
      "d,s,x,y\n2024-01-01,a,1,1.5\n2024-01-02,a,2,2.5\n2024-01-03,a,,3.5\n2024-01-04,a,1,1\n");
  SeriesWindows windows;
  if (!fuzz::accepts([&] { windows = transform.windows(rows); })) return 0;
  fuzz::expect(windows.size() > 0, "there are windows");
  fuzz::expect(std::ssize(transform.channels()) == windows.data().column("past").record()[1],
               "channels have names");
  fuzz::expect(!windows.place(0, 0).time.empty(), "steps have times");
  return 0;
}
