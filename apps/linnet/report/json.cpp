// SPDX-License-Identifier: Apache-2.0
#include "report/json.h"

#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>

#include "base/check.h"
#include "core/dims.h"

namespace linnet::command {

Json to_json(const Shape& shape) { return Json(dims_of(shape)); }

Json number_json(double value) { return std::isfinite(value) ? Json(value) : Json(); }

void print_out(std::string_view text) {
  const bool whole = std::fwrite(text.data(), 1, text.size(), stdout) == text.size();
  const bool written = whole && std::fflush(stdout) == 0;
  const int reason = errno;  // read before anything else can change it
  require(written, "cannot write to standard output: {}", std::strerror(reason));
}

void print_json(const Json& json) {
  // A file name need not be UTF-8; what is not is replaced.
  print_out(json.dump(-1, ' ', false, Json::error_handler_t::replace) + "\n");
}

}  // namespace linnet::command
