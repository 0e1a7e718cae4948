// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/table_transform.h>

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "table/transform_record.h"

namespace linnet {

/// Where a column of the raw table lies in the samples that a transform makes.
struct RawColumn {
  std::string name = {};
  TableInput input = {};
  std::size_t first = 0;               ///< its first feature in "numbers"
  std::size_t width = 0;               ///< features; 0 of ids
  std::optional<std::size_t> id = {};  ///< its place in "categories"
};

/// The columns that a transform reads, in its order.
std::vector<RawColumn> raw_columns(const TableTransform& transform);

/// The place of a column of `rows` as the transform finds it: by name, or where either table has no
/// header by place.
std::size_t place_in(const TableTransform& transform, const Table& rows, const std::string& column);

/// The table of rows of texts; `names`: of the columns, empty: none. Numbers have a decimal point.
/// Other `options` count as given. Throws DataError as parse_table() does.
Table table_of_texts(const std::vector<std::string>& names,
                     const std::vector<std::vector<std::string>>& rows, const std::string& name,
                     TableOptions options);

/// The samples of rows of texts, one text for each of raw_columns(); "" is a missing value. Numbers
/// have a decimal point. Throws as TableTransform::inputs() does; messages call the table `name`.
Dataset inputs_of_texts(const TableTransform& transform,
                        const std::vector<std::vector<std::string>>& rows, const std::string& name);

}  // namespace linnet
