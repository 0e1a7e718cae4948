// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/table_transform.h>
#include <linnet/tables.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace linnet {

/// Returns what a page must know to ask for rows: of each column {"name", "kind"}, with the
/// "categories" that the model knows, or the "range" of numbers in its training.
nlohmann::ordered_json fields_json(const TableTransform& table);

/// Returns sentences on each row: categories that the model does not know, and numbers beyond those
/// of its training.
std::vector<std::vector<std::string>> row_notes(const TableTransform& transform, const Table& rows);

}  // namespace linnet
