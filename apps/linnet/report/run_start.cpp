// SPDX-License-Identifier: Apache-2.0
#include "report/run_start.h"

#include <cstddef>

#include "base/check.h"
#include "base/files.h"
#include "base/json.h"
#include "report/json.h"

namespace linnet::command {
namespace {

constexpr int kFormat = 1;
constexpr std::size_t kMostBytes = std::size_t{64} << 20;

}  // namespace

void write_run_start(const std::filesystem::path& file, const RunStart& start) {
  const Json json{{"format", kFormat},
                  {"options", start.options},
                  {"configuration", start.configuration}};
  write_file_atomically(file, json.dump(2, ' ', false, Json::error_handler_t::replace) + "\n");
}

RunStart read_run_start(const std::filesystem::path& file) {
  const std::string what = fmt::format("'{}'", file.string());
  const Json json = parse_json<Json>(read_text(file, kMostBytes), 3, what);
  const auto damaged = [&] { fail<DataError>("{} does not hold the arguments of a run", what); };
  if (!json.is_object() || !json.contains("format") || !json["format"].is_number_integer()) {
    damaged();
  }
  require<DataError>(json["format"] == kFormat, "{} has format {}; this version reads format {}",
                     what, json["format"].get<std::int64_t>(), kFormat);
  try {
    return {.options = json.at("options"), .configuration = json.at("configuration")};
  } catch (const Json::exception&) {
    damaged();
  }
  return {};
}

}  // namespace linnet::command
