// SPDX-License-Identifier: Apache-2.0
#include "serve/access_log.h"

#include <fmt/format.h>

#include <array>
#include <ctime>

#include "base/utf8.h"
#include "report/json.h"
#include "report/print.h"

namespace linnet::command {
namespace {

constexpr std::size_t kMostPath = 500;  // bytes: a line holds 4,000 at most

std::string time_text() {
  const std::time_t now = std::time(nullptr);
  std::tm parts{};
  std::array<char, 32> text{};
  ::gmtime_r(&now, &parts);
  return {text.data(), std::strftime(text.data(), text.size(), "%FT%TZ", &parts)};
}

void write_text(const HttpLogEntry& entry) {
  print_line(fmt::format("{} {} {} {} {} {} bytes {:.1f} ms", time_text(), entry.peer,
                         entry.method.empty() ? "-" : escaped(entry.method),
                         entry.path.empty() ? "-" : escaped(entry.path.substr(0, kMostPath)),
                         entry.status, entry.bytes, 1000 * entry.seconds));
}

void write_json(const HttpLogEntry& entry) {
  const Json json{{"time", time_text()},     {"peer", entry.peer},
                  {"method", entry.method},  {"path", entry.path.substr(0, kMostPath)},
                  {"status", entry.status},  {"bytes", entry.bytes},
                  {"seconds", entry.seconds}};
  print_line(json.dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace

std::vector<std::string> access_log_names() { return {"off", "text", "json"}; }

HttpLog access_log(const std::string& name) {
  if (name == "text") return write_text;
  if (name == "json") return write_json;
  return {};
}

}  // namespace linnet::command
