// SPDX-License-Identifier: Apache-2.0
#include "report/memory.h"

#include <fmt/format.h>

#include <array>
#include <cstddef>

#include "base/bytes_text.h"

namespace linnet::command {
namespace {

struct Line {
  const char* name;
  std::size_t bytes;
};

std::array<Line, 8> lines_of(const MemoryPlan& m) {
  return {{{"parameters", m.parameters},
           {"gradients", m.gradients},
           {"optimizer", m.optimizer},
           {"statistics", m.statistics},
           {"activations", m.activations},
           {"workspace", m.workspace},
           {"data", m.data},
           {"total", m.total()}}};
}

}  // namespace

Json memory_json(const MemoryPlan& memory) {
  Json json;
  for (const Line& line : lines_of(memory)) json[line.name] = line.bytes;
  json["shards"] = memory.shards;
  json["recompute"] = memory.recompute;
  return json;
}

std::string memory_text(const std::vector<std::pair<std::string, MemoryPlan>>& plans) {
  std::string text = fmt::format("{:<12}", "");
  for (const auto& [name, memory] : plans) text += fmt::format("  {:>28}", name);
  text += "\n";
  for (std::size_t row = 0; row < lines_of({}).size(); ++row) {
    text += fmt::format("{:<12}", lines_of({})[row].name);
    for (const auto& [name, memory] : plans) {
      const std::size_t bytes = lines_of(memory)[row].bytes;
      text += fmt::format("  {:>28}", fmt::format("{} ({} bytes)", bytes_text(bytes), bytes));
    }
    text += "\n";
  }
  return text;
}

}  // namespace linnet::command
