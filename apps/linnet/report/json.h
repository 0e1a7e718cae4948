// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tensor.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

#include "report/print.h"

namespace linnet::command {

/// JSON whose keys keep the order in which they are set.
using Json = nlohmann::ordered_json;

/// Returns the dims as an array.
Json to_json(const Shape& shape);
/// Returns the number, or null where it is not finite, which JSON cannot hold.
Json number_json(double value);

/// Returns the object that a file of a run holds; null where the file holds anything else. Throws
/// Error for a file that cannot be read or has more than 256 MiB.
Json read_object(const std::filesystem::path& path);
/// Returns the object that a line or a text holds; null where it holds anything else.
Json object_of(std::string_view text);

/// Prints one line on standard output.
void print_json(const Json& json);

}  // namespace linnet::command
