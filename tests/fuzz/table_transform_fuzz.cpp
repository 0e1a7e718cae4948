// SPDX-License-Identifier: Apache-2.0
#include <linnet/table_transform.h>

#include <string>

#include "fuzz/fuzz_input.h"

// The transform in the metadata of a model file.
extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace linnet;
  TableTransform transform;
  const std::string text(fuzz::text_of(data, size));
  if (!fuzz::accepts([&] { transform = TableTransform::from_json(text); })) return 0;
  fuzz::expect(TableTransform::from_json(transform.to_json()).to_json() == transform.to_json(),
               "what is accepted is written the same again");
  fuzz::expect(transform.id_columns() +
                       static_cast<std::int64_t>(transform.feature_names().size()) >
                   0,
               "there are inputs");
  return 0;
}
