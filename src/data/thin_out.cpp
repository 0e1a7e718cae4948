// SPDX-License-Identifier: Apache-2.0
#include "data/thin_out.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace linnet {

void thin_out(Dataset& data, std::int64_t samples) {
  const std::int64_t records = data.size();
  if (samples == 0 || samples >= records) return;
  for (const Column& column : data.inputs()) {
    require(column.source == nullptr,
            "a part of the samples is taken of data in memory; '{}' is read from files",
            data.info().name);
  }
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < samples; ++i) rows.push_back(kept_record(i, records, samples));
  data = data.take(rows);
}

}  // namespace linnet
