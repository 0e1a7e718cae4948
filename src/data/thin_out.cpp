// SPDX-License-Identifier: Apache-2.0
#include "data/thin_out.h"

#include <algorithm>

#include "base/check.h"

namespace linnet {
namespace {

template <class T>
void keep_records(std::vector<T>& values, std::int64_t records, std::int64_t kept) {
  if (records == 0) return;
  const std::size_t each = values.size() / static_cast<std::size_t>(records);
  for (std::int64_t i = 0; i < kept; ++i) {
    const auto from = static_cast<std::ptrdiff_t>(each) * kept_record(i, records, kept);
    std::copy_n(values.begin() + from, each,
                values.begin() + static_cast<std::ptrdiff_t>(each) * i);
  }
  values.resize(each * static_cast<std::size_t>(kept));
  values.shrink_to_fit();
}

}  // namespace

void thin_out(Dataset& data, std::int64_t samples) {
  const std::int64_t records = data.size();
  if (samples == 0 || samples >= records) return;
  require(data.source == nullptr,
          "a part of the samples is taken of data in memory; '{}' is read from files", data.name);
  data.samples_file.clear();  // its rows are other ones now
  data.targets_file.clear();
  keep_records(data.bytes, records, samples);
  keep_records(data.floats, records, samples);
  keep_records(data.ids, records, samples);
  keep_records(data.labels, records, samples);
  keep_records(data.values, records, samples);
}

}  // namespace linnet
