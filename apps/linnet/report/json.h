// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <linnet/tensor.h>

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace linnet::command {

/// JSON whose keys keep the order in which they are set.
using Json = nlohmann::ordered_json;

/// Returns the dims as an array.
Json to_json(const Shape& shape);
/// Returns the number, or null where it is not finite, which JSON cannot hold.
Json number_json(double value);

/// Prints text on standard output. Throws Error if it cannot be written, e.g. on a full disk.
void print_out(std::string_view text);
/// Prints one line on standard output.
void print_json(const Json& json);

}  // namespace linnet::command
