// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <cmath>

#include "base/files.h"
#include "base/json.h"
#include "core/dims.h"

namespace linnet::command {
namespace {

constexpr std::size_t kMostBytes = std::size_t{256} << 20;
constexpr std::size_t kMostDepth = 32;  // of what a run writes down

}  // namespace

Json to_json(const Shape& shape) { return Json(dims_of(shape)); }

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json object_of(std::string_view text) {
  Json json = json_or_null<Json>(text, kMostDepth);
  return json.is_object() ? json : Json();
}

Json read_object(const std::filesystem::path& path) {
  return object_of(read_text(path, kMostBytes));
}

void print_json(const Json& json) {
  // A file name need not be UTF-8; what is not is replaced.
  print_out(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace linnet::command
