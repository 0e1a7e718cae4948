// SPDX-License-Identifier: Apache-2.0
#include "tasks/table/read_rows.h"

#include <linnet/table_transform.h>

#include <algorithm>
#include <cstring>
#include <utility>
#include <vector>

#include "base/check.h"
#include "core/tensor_memory.h"
#include "table/contents.h"

namespace linnet {
namespace {

/// The rows of all parts, one part after the other.
Tensor joined(const std::vector<Dataset>& parts, std::size_t column, std::int64_t rows) {
  const Tensor& first = parts[0].inputs()[column].data;
  Tensor all = uninitialized_tensor(first.dtype(), first.shape().with_batch(rows));
  std::byte* to = all.writable_bytes().data();
  for (const Dataset& part : parts) {
    const std::span<const std::byte> bytes = part.inputs()[column].data.bytes();
    to = std::ranges::copy(bytes, to).out;
  }
  return all;
}

}  // namespace

Samples read_rows(std::span<const std::filesystem::path> paths, const Model& model,
                  const std::string& sheet) {
  std::vector<Dataset> parts;
  Samples samples;
  DatasetInfo info;
  TableOptions reading = model.table().reading();
  reading.sheet = sheet;
  std::int64_t rows = 0;
  for (const std::filesystem::path& path : paths) {
    const Table table = read_table(path, reading);
    const std::string& source = table.contents()->source_note;
    if (!source.empty()) info.notes.push_back(source);
    for (std::int64_t row = 0; row < table.rows(); ++row) {
      samples.names.push_back(fmt::format("{}[{}]", path.string(), row));
    }
    rows += table.rows();
    parts.push_back(model.table().inputs(table));
  }
  require(rows > 0, "there are no rows to predict");
  std::vector<Column> columns;
  for (std::size_t i = 0; i < parts[0].inputs().size(); ++i) {
    columns.push_back(
        {.name = parts[0].inputs()[i].name,
         .data = parts.size() == 1 ? parts[0].inputs()[i].data : joined(parts, i, rows)});
  }
  for (const Dataset& part : parts) {
    info.notes.insert(info.notes.end(), part.info().notes.begin(), part.info().notes.end());
  }
  samples.data = Dataset(std::move(columns), {}, std::move(info));
  return samples;
}

}  // namespace linnet
