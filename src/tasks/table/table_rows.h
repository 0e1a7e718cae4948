// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tables.h>

#include <filesystem>

#include "tasks/data_settings.h"

namespace linnet {

/// Returns how settings say that a table is read. Throws Error for what can't be read so.
TableOptions reading_of(const DataSettings& settings);
/// Returns whether a file is a table to learn from.
bool is_table(const std::filesystem::path& path, const DataSettings& settings);
/// Returns whether a column holds sentences.
bool holds_sentences(const Table& table, std::size_t column);

}  // namespace linnet
