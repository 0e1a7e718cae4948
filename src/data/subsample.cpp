// SPDX-License-Identifier: Apache-2.0
#include "data/subsample.h"

#include <algorithm>
#include <vector>

#include "base/check.h"

namespace linnet {

void subsample(Dataset& data, std::int64_t samples) {
  const std::int64_t records = data.size();
  if (samples == 0 || samples >= records) return;
  for (const Column& column : data.inputs()) {
    require(column.source == nullptr,
            "only data in memory are subsampled; '{}' is read from files",
            data.info().name);
  }
  std::vector<std::int64_t> rows;
  for (std::int64_t i = 0; i < samples; ++i) rows.push_back(kept_record(i, records, samples));
  data = data.take(rows);
}

}  // namespace linnet
